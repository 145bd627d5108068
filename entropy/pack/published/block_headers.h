// The codes for what CAVLCU leaves out: the headers of macroblocks, and the samples of I_PCM.
#pragma once

#include <cuda_runtime_api.h>

#include "core/device_batch.h"

namespace cu264::entropy {

struct BlockItems;

// Writes the items' headers, whose memory is zero, and the samples in the place of blocks. The codes of the
// blocks must be there. Asynchronous on `stream`; throws cu264::Error if the launch is refused.
void launch_block_headers(const core::BatchView& batch, const BlockItems& items, cudaStream_t stream);

}  // namespace cu264::entropy
