// The inter-block scans as the encoders call them.
#pragma once

#include <cuda/atomic>

#include <cstdint>

namespace cu264::vle {

using ScanElement = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;
inline constexpr std::uint64_t kFlagP = 1ull << 63;

__device__ __forceinline__ std::uint64_t warp_sum64(std::uint64_t v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

// Each has State, all zeros before a run; state_count of `items`; and a call by a whole warp that returns the
// sum of all items before `index`, at least to lane 0.
struct YanScan {
  using State = std::uint64_t;
  static std::size_t state_count(std::uint64_t items) { return items; }
  State* d_state;
  __device__ std::uint64_t operator()(std::uint32_t index, std::uint64_t sum) {
    std::uint64_t before = 0;
    if ((threadIdx.x & 31) == 0) {
      if (index > 0) {
        std::uint64_t v;
        while ((v = ScanElement(d_state[index - 1]).load(cuda::memory_order_relaxed)) == 0) {
        }
        before = v & ~kFlagP;
      }
      ScanElement(d_state[index]).store((before + sum) | kFlagP, cuda::memory_order_relaxed);
    }
    return before;
  }
};

struct YamamotoScan {
  using State = std::uint64_t;
  static constexpr std::uint64_t kFlagA = 1ull << 62;
  static std::size_t state_count(std::uint64_t items) { return items; }
  State* d_state;
  __device__ std::uint64_t operator()(std::uint32_t index, std::uint64_t sum) {
    const int lane = threadIdx.x & 31;
    if (lane == 0)
      ScanElement(d_state[index]).store(sum | (index == 0 ? kFlagP : kFlagA), cuda::memory_order_relaxed);
    std::uint64_t before = 0;
    if (index == 0) return 0;
    for (std::int64_t j = static_cast<std::int64_t>(index) - 1 - lane;; j -= 32) {
      std::uint64_t v = j < 0 ? kFlagP : 0;
      while (j >= 0 && (v = ScanElement(d_state[j]).load(cuda::memory_order_relaxed)) == 0) {
      }
      const unsigned total = __ballot_sync(0xffffffffu, (v & kFlagP) != 0);
      const int last = total == 0 ? 31 : __ffs(static_cast<int>(total)) - 1;
      before += warp_sum64(lane <= last ? v & ~(kFlagP | kFlagA) : 0);
      if (total != 0) break;
    }
    if (lane == 0) ScanElement(d_state[index]).store((before + sum) | kFlagP, cuda::memory_order_relaxed);
    return before;
  }
};

struct GvleScan {
  using State = std::uint64_t;
  static constexpr std::uint64_t kOne = 1ull << 57, kValue = kOne - 1;
  static std::size_t state_count(std::uint64_t items) { return (items + 31) / 32 * 32; }
  State* d_state;
  __device__ std::uint64_t operator()(std::uint32_t index, std::uint64_t sum) {
    const int lane = threadIdx.x & 31, j = static_cast<int>(index & 31);
    State* const d_sub = d_state + index - j;
    if (lane >= j) ScanElement(d_sub[lane]).fetch_add(sum + kOne, cuda::memory_order_relaxed);
    std::uint64_t in_sub = 0, sub = 0;
    if (lane == 0) {
      if (j > 0) {
        std::uint64_t v;
        while ((v = ScanElement(d_sub[j - 1]).load(cuda::memory_order_relaxed)) >> 57 !=
               static_cast<unsigned>(j)) {
        }
        in_sub = v & kValue;
      }
      for (State* d_last = d_sub - 1; d_last > d_state; d_last -= 32) {
        std::uint64_t v;
        do v = ScanElement(*d_last).load(cuda::memory_order_relaxed);
        while (v >> 57 != 32 && v >> 57 != 64);
        sub += v & kValue;
        if (v & kFlagP) break;
      }
      if (j == 31) ScanElement(d_sub[31]).fetch_add(32 * kOne + sub, cuda::memory_order_relaxed);
    }
    return in_sub + sub;
  }
};

}  // namespace cu264::vle
