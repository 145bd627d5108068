// The kernels that count CABAC's bits, for streams with the 8x8 transform.
#define CU264_COUNTS_CABAC
#define CU264_SEARCHES_P
#include "encoder/cuda/inter/inter_kernels.cuh"

namespace cu264::encoder::cuda {

void launch_cabac_code_with_8x8(const InterLaunch& job) {
  code_inter<true>(job);
}

void launch_cabac_search_with_8x8(const InterLaunch& job, void* scratch) {
  search_intra<true>(job, scratch);
}

}  // namespace cu264::encoder::cuda
