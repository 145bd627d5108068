// The kernels that count CABAC's bits, for streams with 4x4 transforms alone.
#define CU264_COUNTS_CABAC
#define CU264_SEARCHES_P
#include "encoder/cuda/inter/inter_kernels.cuh"

namespace cu264::encoder::cuda {

void launch_cabac_code_with_4x4(const InterLaunch& job) {
  code_inter<false>(job);
}

void launch_cabac_search_with_4x4(const InterLaunch& job, void* scratch) {
  search_intra<false>(job, scratch);
}

}  // namespace cu264::encoder::cuda
