// Prefix sums within a warp and a thread block, of any associative operation. The scans over tiles build on
// them. The packer needs no other scan, because one thread block is enough for the groups of a slice.
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

// Passes a value of whole words through `shuffle` word by word.
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

// The value of lane - distance.
template <class T>
__device__ __forceinline__ T shuffle_up(const T& value, int distance) {
  return shuffled(value,
                  [distance](std::uint32_t word) { return __shfl_up_sync(kAllLanes, word, distance); });
}

template <class T>
__device__ __forceinline__ T from_lane(const T& value, int lane) {
  return shuffled(value, [lane](std::uint32_t word) { return __shfl_sync(kAllLanes, word, lane); });
}

// The inclusive prefix sum over the lanes of a warp.
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

// Returns the sum over the warps before this one and stores the sum over all warps in `all`. total_of(i) is
// the total of warp i, and `identity` is the operation's.
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

// The totals of a block's warps in shared memory, stored as words because T may have a constructor.
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

// Returns the sum over the threads before this one and stores the sum over all threads in `all`. Every warp
// scans the warps' totals for itself. Two calls with the same shared memory need another barrier between
// them.
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
