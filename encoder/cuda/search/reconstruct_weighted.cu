// The kernels for streams whose scaling lists are not flat. They look up the constants of every macroblock's
// QP, so that batches with one QP and with several take the same kernels.
#include <algorithm>

#include "encoder/cuda/search/reconstruct_kernels.cuh"

namespace cu264::encoder::cuda {

void launch_with_weights(const ReconstructLaunch& job) {
  WeightedLists lists;
  std::copy(job.lists.luma4x4.begin(), job.lists.luma4x4.end(), lists.luma4x4);
  std::copy(job.lists.cb4x4.begin(), job.lists.cb4x4.end(), lists.cb4x4);
  std::copy(job.lists.cr4x4.begin(), job.lists.cr4x4.end(), lists.cr4x4);
  std::copy(job.lists.luma8x8.begin(), job.lists.luma8x8.end(), lists.luma8x8);
  launch<true, true>(job, lists);
}

}  // namespace cu264::encoder::cuda
