// mb_qp_delta after `reconstruct`, for batches whose macroblocks differ in QP.
#pragma once

#include <cuda_runtime_api.h>

#include "encoder/cuda/batch.h"

namespace cu264::encoder::cuda {

// Sets qp and mb_qp_delta of the batch's macroblocks by core::set_mb_qp_delta. Asynchronous on `stream`.
// Throws cu264::Error if the launch is refused.
void launch_mb_qp_delta_chain(const BatchView& batch, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
