// Stage `code` on the GPU: CAVLC of every block and the header of every macroblock of a batch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/device_batch.h"
#include "entropy/cavlc/block_codes.h"
#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

// Scratch of launch_code, whatever the batch; aligned to 256.
std::size_t code_scratch_bytes(const GroupLayout& layout);

// Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_code(const core::BatchView& batch, void* scratch, const GroupBits& bits, cudaStream_t stream);

// The same from codes that another coder made of the blocks.
void launch_join(const core::BatchView& batch, const BlockCodes& codes, const GroupBits& bits,
                 cudaStream_t stream);

}  // namespace cu264::entropy
