// The slice headers of a batch, for the stage `pack`.
#pragma once

#include <cuda_runtime_api.h>

#include "core/slice_header.h"
#include "encoder/cuda/batch.h"

namespace cu264::encoder::cuda {

// Fills d_headers [picture][slice] from the pictures' parameters. Asynchronous on `stream`. Throws
// cu264::Error if the launch is refused.
void launch_slice_headers(const BatchView& batch, core::SliceHeaderBits* d_headers, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
