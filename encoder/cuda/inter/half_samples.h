// The planes of half samples of the reference pictures of a step (core/inter_pred.h).
#pragma once

#include <cuda_runtime_api.h>

#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// Fills ChainView::next_luma[1..3], core::kHalfSamplePad samples beyond each edge, from next_luma[0] and its
// padding. What lies further outside is undefined.
void launch_half_samples(const StepView& step, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
