#include "tests/parity/canny_kernels.h"

#include "support/device_array.cuh"
#include "vision/cuda/magnitude.cuh"
#include "vision/cuda/search.cuh"

namespace cu264::parity {
namespace {

using test::DeviceArray;

__global__ void try_roots(int last, unsigned* d_wrong) {
  for (int value = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); value <= last;
       value += static_cast<int>(gridDim.x * blockDim.x)) {
    const int root = vision::cuda::device_sqrt(value);
    if (root < 0 || root * root > value || (root + 1) * (root + 1) <= value) atomicAdd(d_wrong, 1u);
  }
}

__global__ void vote(const vision::LevelCounts* d_counts, int highest, VotedThresholds* d_found) {
  const vision::Thresholds own = vision::cuda::voted_own(d_counts[blockIdx.x], highest);
  const vision::Thresholds fallback = vision::cuda::voted_fallback(d_counts[blockIdx.x], highest);
  if (threadIdx.x == 0) d_found[blockIdx.x] = {own, fallback};
}

}  // namespace

unsigned wrong_device_roots(int last) {
  const DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
  try_roots<<<1024, 256>>>(last, wrong.data());
  check_launch("try_roots");
  return wrong.download()[0];
}

std::vector<VotedThresholds> voted_thresholds(const std::vector<vision::LevelCounts>& counts, int highest) {
  const DeviceArray<vision::LevelCounts> d_counts(counts);
  const DeviceArray<VotedThresholds> found(counts.size());
  vote<<<static_cast<unsigned>(counts.size()), 32>>>(d_counts.data(), highest, found.data());
  check_launch("vote");
  return found.download();
}

}  // namespace cu264::parity
