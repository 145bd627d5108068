// Sums over the lanes of groups of a warp, kLanes each. A shuffle also tells whether its source lies in the
// group, which the intrinsics do not return.
#pragma once

#include <climits>

#include "encoder/cuda/search/warp_block.cuh"

namespace cu264::encoder::cuda {

// Returns a + b, or INT_MAX if that is less. Neither is negative.
__device__ inline int limited_sum(int a, int b) {
  return static_cast<int>(min(static_cast<unsigned>(a) + static_cast<unsigned>(b), unsigned{INT_MAX}));
}

// The sum of the values of the lane and of those below it. Every lane of the warp must call it.
template <int kLanes>
__device__ inline int sum_from_below(int value) {
#pragma unroll
  for (int step = 1; step < kLanes; step *= 2) {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "{ .reg .pred inside; .reg .b32 other;\n"
        "  shfl.sync.up.b32 other|inside, %0, %1, %2, 0xffffffff;\n"
        "  @inside add.s32 %0, %0, other; }"
        : "+r"(value)
        : "r"(step), "n"((32 - kLanes) << 8));
#else
    const int other = __shfl_up_sync(kWarp, value, step, kLanes);
    if ((static_cast<int>(threadIdx.x) & (kLanes - 1)) >= step) value += other;
#endif
  }
  return value;
}

// The limited_sum of the values of the lane and of those above it. Every lane of the warp must call it.
template <int kLanes>
__device__ inline int limited_sum_from_above(int value) {
#pragma unroll
  for (int step = 1; step < kLanes; step *= 2) {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "{ .reg .pred inside; .reg .b32 other;\n"
        "  shfl.sync.down.b32 other|inside, %0, %1, %2, 0xffffffff;\n"
        "  @inside add.u32 %0, %0, other;\n"
        "  @inside min.u32 %0, %0, 0x7fffffff; }"
        : "+r"(value)
        : "r"(step), "n"((32 - kLanes) << 8 | 31));
#else
    const int other = __shfl_down_sync(kWarp, value, step, kLanes);
    if ((static_cast<int>(threadIdx.x) & (kLanes - 1)) + step < kLanes) value = limited_sum(value, other);
#endif
  }
  return value;
}

}  // namespace cu264::encoder::cuda
