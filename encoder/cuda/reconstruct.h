// Stage 3 on the GPU: a macroblock wavefront over a batch of pictures.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cu264/encoder.h"
#include "encoder/cuda/batch.h"

namespace cu264::encoder::cuda {

// Bytes of scratch that launch_reconstruct needs for batches of up to `pictures` pictures; aligned to 256.
std::size_t reconstruct_scratch_bytes(int pictures, int mb_width, int mb_height);

// `common_qp`: the QP of all the batch's pictures, if they have one; then the search does not look QPs up,
// which is some percent faster. `marks`: null, or [picture][mb] of a watermark (protect/watermark.h), in
// device memory.
// Fills the batch's macroblocks, levels, total_coeff and, if wanted, reconstruction. Asynchronous on
// `stream`; the scratch belongs to the launch until it ends. Throws cu264::Error if the launch is refused.
void launch_reconstruct(const BatchView& batch, std::optional<int> common_qp, Preset preset, void* scratch,
                        cudaStream_t stream, const std::uint32_t* marks = nullptr, bool mark_parity = false);

}  // namespace cu264::encoder::cuda
