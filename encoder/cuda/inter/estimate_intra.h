// Which macroblocks of P pictures may be better as I macroblocks, as far as the source tells.
#pragma once

#include <cuda_runtime_api.h>

#include "cu264/encoder.h"
#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// Sets InterChoice::intra_is_likely of the step's macroblocks, from the other members of their choices, the
// pictures' sources in their chains and the QPs: what encoder/cpu/intra_estimate_inl.h does. Asynchronous on
// `stream`. Throws cu264::Error if the launch is refused.
void launch_estimate_intra(const StepView& step, Preset preset, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
