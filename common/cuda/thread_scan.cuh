// Prefix sums within a warp and a thread block, of any associative operation: what the scans over tiles begin
// with, and all that the packer needs, whose slices have few enough groups for one block.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/cuda/warp.cuh"

namespace cu264 {

struct Plus {
  template <class T>
  __device__ __forceinline__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

// A value of whole words, word by word through `shuffle`.
template <class T, class Shuffle>
__device__ __forceinline__ T shuffled(const T& value, Shuffle shuffle) {
  static_assert(sizeof(T) % 4 == 0);
  std::uint32_t words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (std::uint32_t& word : words) word = shuffle(word);
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
}

// What lane - distance has.
template <class T>
__device__ __forceinline__ T shuffle_up(const T& value, int distance) {
  return shuffled(value,
                  [distance](std::uint32_t word) { return __shfl_up_sync(kAllLanes, word, distance); });
}

template <class T>
__device__ __forceinline__ T from_lane(const T& value, int lane) {
  return shuffled(value, [lane](std::uint32_t word) { return __shfl_sync(kAllLanes, word, lane); });
}

// Of lanes 0 to the own one.
template <class T, class Operation>
__device__ __forceinline__ T scan_lanes(T value, Operation operation) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T other = shuffle_up(value, distance);
    if (lane >= distance) value = operation(other, value);
  }
  return value;
}

// Of the warps before the own one, and of all: total_of(i) is warp i's. `identity` is that of the operation.
template <int kWarps, class T, class TotalOf, class Operation>
__device__ __forceinline__ T scan_warps(const T& identity, T& all, TotalOf total_of, Operation operation) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  T before = identity;
  all = identity;
#pragma unroll
  for (int other = 0; other < kWarps; ++other) {
    if (other == warp) before = all;
    all = operation(all, total_of(other));
  }
  return before;
}

// A block's warps' totals in shared memory, as words: T may have a constructor.
template <class T, int kWarps>
struct WarpTotals {
  std::uint32_t words[kWarps][sizeof(T) / 4];

  __device__ __forceinline__ void set(int warp, const T& total) { memcpy(words[warp], &total, sizeof(T)); }
  __device__ __forceinline__ T get(int warp) const {
    T total;
    memcpy(&total, words[warp], sizeof(T));
    return total;
  }
};

// Of the threads before the own one, and of all; every warp scans the warps' totals again. Between two calls
// with the same shared memory there is another barrier.
template <int kWarps, class T, class Operation>
__device__ __forceinline__ T scan_threads(const T& value, const T& identity, T& all,
                                          WarpTotals<T, kWarps>& s_totals, Operation operation) {
  static_assert(kWarps <= 32);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const T up_to = scan_lanes(value, operation);
  if (lane == 31) s_totals.set(warp, up_to);
  __syncthreads();
  const T totals = scan_lanes(lane < kWarps ? s_totals.get(lane) : identity, operation);
  all = from_lane(totals, kWarps - 1);
  const T warps = from_lane(totals, max(warp - 1, 0)), lanes = shuffle_up(up_to, 1);
  if (warp == 0) return lane == 0 ? identity : lanes;
  return lane == 0 ? warps : operation(warps, lanes);
}

}  // namespace cu264
