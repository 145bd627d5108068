// A launch of `reconstruct`, as the files that compile its kernels take it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/arena.h"
#include "cu264/scaling_lists.h"
#include "encoder/cuda/batch.h"
#include "encoder/cuda/candidates.cuh"

namespace cu264::encoder::cuda {

struct ReconstructLaunch {
  const BatchView& batch;
  SearchConstants constants;
  bool qp_varies;  // between pictures or macroblocks; otherwise the constants are those of all
  void* d_scratch;
  bool few;                    // pictures: pairs of warps share a macroblock
  const std::uint32_t* marks;  // null, or [picture][mb]
  bool mark_parity;
  cudaStream_t stream;
  const ScalingLists& lists;
};

// The flags come first in the scratch memory, so that one memset clears them.
inline std::size_t flag_bytes(int pictures, int mb_height) {
  return aligned(sizeof(unsigned) * (static_cast<std::size_t>(pictures) * mb_height + 1), Arena::kAlignment);
}

void launch_without_intra8x8(const ReconstructLaunch& job);
void launch_with_intra8x8(const ReconstructLaunch& job);
void launch_with_weights(const ReconstructLaunch& job);

}  // namespace cu264::encoder::cuda
