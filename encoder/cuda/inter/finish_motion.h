// What follows from the kinds, vectors and levels of P pictures once they are final: mvd_l0, P_Skip, and the
// QPs as decoders derive them.
#pragma once

#include <cuda_runtime_api.h>

#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// Sets mvd of the batch's motion, whose vectors of intra macroblocks become zero, and makes P_L0_16x16
// without levels P_Skip where it may be. Where macroblocks have QP offsets, it sets qp and mb_qp_delta too
// (core/mb_qp_delta.h). InterChoice::skips of the chains says afterwards which macroblocks are P_Skip.
// Asynchronous on `stream`. Throws cu264::Error if a launch is refused.
void launch_finish_motion(const StepView& step, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
