// After `reconstruct`, where macroblocks differ in QP: what the bitstream tells of it.
#pragma once

#include <cuda_runtime_api.h>

#include "encoder/cuda/batch.h"

namespace cu264::encoder::cuda {

// Sets qp and mb_qp_delta of the batch's macroblocks by core::chain_qp. Asynchronous on `stream`.
void launch_qp_chain(const BatchView& batch, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
