// The kernels that count CABAC's bits, for streams without Intra_8x8.
#define CU264_COUNTS_CABAC
#include "encoder/cuda/search/reconstruct_kernels.cuh"

namespace cu264::encoder::cuda {

void launch_cabac_without_intra8x8(const ReconstructLaunch& job) {
  job.qp_varies ? launch<true, false>(job) : launch<false, false>(job);
}

}  // namespace cu264::encoder::cuda
