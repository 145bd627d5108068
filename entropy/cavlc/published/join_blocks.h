// Joins the codes of blocks, as the published coders leave them, to the groups that the packer takes.
#pragma once

#include <cuda_runtime_api.h>

#include "core/device_batch.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/published/block_codes.h"

namespace cu264::entropy {

// Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_join(const core::BatchView& batch, const BlockCodes& codes, const GroupBits& bits,
                 cudaStream_t stream);
void launch_join(const core::BatchView& batch, const ShortCodes& codes, const GroupBits& bits,
                 cudaStream_t stream);

}  // namespace cu264::entropy
