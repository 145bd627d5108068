// Reductions over the 32 lanes of a warp. All lanes take part, and every lane gets the result.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cu264 {

inline constexpr unsigned kAllLanes = 0xffffffffu;

// Combines the values of all lanes by shuffles. The operation must be associative and commutative.
template <class T, class Operation>
__device__ __forceinline__ T reduce_lanes(T value, Operation operation) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = operation(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}

// Values of 32 bits take one instruction from compute capability 8.0 on.
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ int warp_sum(int value) {
  return __reduce_add_sync(kAllLanes, value);
}
__device__ __forceinline__ unsigned warp_sum(unsigned value) {
  return __reduce_add_sync(kAllLanes, value);
}
__device__ __forceinline__ unsigned warp_or(unsigned value) {
  return __reduce_or_sync(kAllLanes, value);
}
__device__ __forceinline__ unsigned warp_min(unsigned value) {
  return __reduce_min_sync(kAllLanes, value);
}
__device__ __forceinline__ int warp_max(int value) {
  return __reduce_max_sync(kAllLanes, value);
}
#else
__device__ __forceinline__ int warp_sum(int value) {
  return reduce_lanes(value, [](int a, int b) { return a + b; });
}
__device__ __forceinline__ unsigned warp_sum(unsigned value) {
  return reduce_lanes(value, [](unsigned a, unsigned b) { return a + b; });
}
__device__ __forceinline__ unsigned warp_or(unsigned value) {
  return reduce_lanes(value, [](unsigned a, unsigned b) { return a | b; });
}
__device__ __forceinline__ unsigned warp_min(unsigned value) {
  return reduce_lanes(value, [](unsigned a, unsigned b) { return b < a ? b : a; });
}
__device__ __forceinline__ int warp_max(int value) {
  return reduce_lanes(value, [](int a, int b) { return b > a ? b : a; });
}
#endif

__device__ __forceinline__ long long warp_sum(long long value) {
  return reduce_lanes(value, [](long long a, long long b) { return a + b; });
}
__device__ __forceinline__ std::uint64_t warp_sum(std::uint64_t value) {
  return reduce_lanes(value, [](std::uint64_t a, std::uint64_t b) { return a + b; });
}
// The loop is not forced to unroll, because the search, which calls this, has to fit the instruction cache.
__device__ inline std::int64_t warp_min(std::int64_t value) {
  for (int step = 1; step < 32; step *= 2) {
    const std::int64_t other = __shfl_xor_sync(kAllLanes, value, step);
    value = other < value ? other : value;
  }
  return value;
}

}  // namespace cu264
