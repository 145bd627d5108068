// The kernels that count CABAC's bits, for streams that may have Intra_8x8.
#define CU264_COUNTS_CABAC
#include "encoder/cuda/search/reconstruct_kernels.cuh"

namespace cu264::encoder::cuda {

void launch_cabac_with_intra8x8(const ReconstructLaunch& job) {
  job.qp_varies ? launch<true, true>(job) : launch<false, true>(job);
}

}  // namespace cu264::encoder::cuda
