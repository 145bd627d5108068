// Takes the luma of the source pictures of a step into their chains, at full, half and quarter size, with
// padding: GopChain's source (encoder/cpu/gop_chain.h).
#pragma once

#include <cuda_runtime_api.h>

#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// Fills ChainView::source from batch.sources. Call it for all pictures of a stream with P pictures, in order.
// A key picture (batch.params) has no motion, so that its whole[1] is cleared for the next picture.
void launch_take_source(const StepView& step, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
