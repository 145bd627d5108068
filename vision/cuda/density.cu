// A block a picture: it counts the busy pixels, then scales the thresholds of all sub-images.
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "vision/cuda/bit_planes.cuh"
#include "vision/cuda/density.h"

namespace cu264::vision::cuda {
namespace {

constexpr int kThreads = 1024;

// `busy` is this thread's count. A thread sees 2^28 / 1024 pixels at most, a warp 2^23: 32 bits do.
__device__ void scale_all(unsigned busy, std::int64_t pixels, int sub_images, Thresholds* d_thresholds) {
  __shared__ unsigned s_busy;
  if (threadIdx.x == 0) s_busy = 0;
  __syncthreads();
  busy = warp_sum(busy);
  if ((threadIdx.x & 31) == 0) atomicAdd(&s_busy, busy);
  __syncthreads();
  const int scale = density_scale(s_busy, pixels);
  for (int s = static_cast<int>(threadIdx.x); s < sub_images; s += kThreads) {
    d_thresholds[s] = scaled_to_density(d_thresholds[s], scale);
  }
}

__global__ void __launch_bounds__(kThreads)
    scale_from_planes(const __grid_constant__ WordGrid grid, const std::uint32_t* d_levels,
                      Thresholds* d_thresholds) {
  const int picture = static_cast<int>(blockIdx.x);
  const std::uint32_t* const d_planes = d_levels + plane_words(grid, picture, kLevelPlanes);
  unsigned busy = 0;
  for (std::uint32_t word = threadIdx.x; word < grid.words(); word += kThreads) {
    BitPlanes<kLevelPlanes> levels;
    levels.load(d_planes + word, grid.words());
    busy += static_cast<unsigned>(__popc(levels.at_least(kBusyLevel)));
  }
  scale_all(busy, static_cast<std::int64_t>(grid.all.width) * grid.all.height, grid.all.count,
            d_thresholds + static_cast<std::size_t>(picture) * grid.all.count);
}

__global__ void __launch_bounds__(kThreads)
    scale_from_bytes(int sub_images, std::int64_t pixels, const std::uint8_t* d_level,
                     Thresholds* d_thresholds) {
  unsigned busy = 0;
  for (std::int64_t i = threadIdx.x; i < pixels; i += kThreads) busy += d_level[i] >= kBusyLevel ? 1u : 0u;
  scale_all(busy, pixels, sub_images, d_thresholds);
}

}  // namespace

void launch_density_scaling(const WordGrid& grid, int pictures, const std::uint32_t* levels,
                            Thresholds* thresholds, cudaStream_t stream) {
  scale_from_planes<<<pictures, kThreads, 0, stream>>>(grid, levels, thresholds);
  check_launch("scale_from_planes");
}

void launch_density_scaling(const WordGrid& grid, const std::uint8_t* level, Thresholds* thresholds,
                            cudaStream_t stream) {
  const std::int64_t pixels = static_cast<std::int64_t>(grid.all.width) * grid.all.height;
  scale_from_bytes<<<1, kThreads, 0, stream>>>(grid.all.count, pixels, level, thresholds);
  check_launch("scale_from_bytes");
}

}  // namespace cu264::vision::cuda
