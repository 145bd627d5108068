// The loop filter on the GPU (H.264 8.7): what encoder/deblock_picture.h does on the CPU, for a batch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "encoder/cuda/batch.h"

namespace cu264::encoder::cuda {

// The bytes of scratch memory that launch_deblock needs for batches of up to `pictures` pictures. The memory
// must be aligned to 256 bytes.
std::size_t deblock_scratch_bytes(int pictures, int mb_width, int mb_height);

// Filters the batch's reconstruction in place, across slice edges too: of I and P pictures, as their
// parameters say, and not those whose parameters switch the filter off. Reads macroblocks, with the QPs that
// decoders derive, and motion, which must not be null. Slices take the samples of I_PCM from the source and
// need no copy of the reconstruction as it was. Asynchronous on `stream`; the scratch memory belongs to the
// launch until it ends. Throws cu264::Error if the launch is refused.
void launch_deblock(const BatchView& batch, void* scratch, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
