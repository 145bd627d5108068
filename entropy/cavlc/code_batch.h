// Stage `code` on the GPU: CAVLC of every block and the header of every macroblock of a batch.
#pragma once

#include <cuda_runtime_api.h>

#include "core/device_batch.h"
#include "entropy/cavlc/coded_bits.h"

namespace cu264::entropy {

// Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_code(const core::BatchView& batch, const CodedBits& bits, cudaStream_t stream);

}  // namespace cu264::entropy
