// Reductions over a warp, all 32 lanes; every lane gets the result.
#pragma once

namespace cu264::vision::cuda {

constexpr unsigned kAllLanes = 0xffffffffu;

__device__ __forceinline__ int warp_max(int value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = max(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}

__device__ __forceinline__ unsigned warp_sum(unsigned value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

}  // namespace cu264::vision::cuda
