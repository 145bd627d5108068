// A launch of `reconstruct`, as the files that compile its kernels take it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/arena.h"
#include "cu264/scaling_lists.h"
#include "encoder/cuda/batch.h"
#include "encoder/presets.h"

namespace cu264::encoder::cuda {

struct ReconstructLaunch {
  const BatchView& batch;
  SearchParams search;
  int qp;
  bool qp_varies;  // between pictures or macroblocks; otherwise `qp` is that of all
  void* d_scratch;
  int pictures_on_device;      // with those of other batches
  const std::uint32_t* marks;  // null, or [picture][mb]
  bool mark_parity;
  cudaStream_t stream;
  const ScalingLists& lists;
};

// The flags come first in the scratch memory, so that one memset clears them.
inline std::size_t flag_bytes(int pictures, int mb_height) {
  return aligned(sizeof(unsigned) * (static_cast<std::size_t>(pictures) * mb_height + 1), Arena::kAlignment);
}

// By the rate model, and by whether the stream may have Intra_8x8. Those that count CABAC's bits are for
// presets where rate and distortion decide.
void launch_without_intra8x8(const ReconstructLaunch& job);
void launch_with_intra8x8(const ReconstructLaunch& job);
void launch_with_weights(const ReconstructLaunch& job);
void launch_cabac_without_intra8x8(const ReconstructLaunch& job);
void launch_cabac_with_intra8x8(const ReconstructLaunch& job);

}  // namespace cu264::encoder::cuda
