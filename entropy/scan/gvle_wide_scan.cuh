// GVLE's scan (gvle_scan.cuh) with a look-back over segments that reads the totals of 32 of them at a time,
// as Yamamoto's does with blocks, while lane 0 also waits for its own segment. Same state, same result.
#pragma once

#include "entropy/scan/gvle_scan.cuh"

namespace cu264::scan {

struct GvleWideScan {
  using State = GvleScan::State;
  static std::size_t state_count(std::uint64_t items) { return GvleScan::state_count(items); }

  State* d_state;

  __device__ std::uint64_t operator()(std::uint32_t index, std::uint64_t sum) {
    constexpr int kCounter = 57;
    constexpr std::uint64_t kOne = std::uint64_t{1} << kCounter, kSum = kOne - 1;
    constexpr unsigned kAll = 0xffffffffu;
    const unsigned lane = threadIdx.x & 31, j = index % 32;
    State* const d_segment = d_state + index - j;
    if (lane >= j) StateElement(d_segment[lane]).fetch_add(sum + kOne, cuda::memory_order_relaxed);
    __syncwarp();
    std::uint64_t segments = 0;
    for (std::int64_t i = static_cast<std::int64_t>(index / 32) - 1 - lane;; i -= 32) {
      std::uint64_t element = kFlagP;  // before the first segment
      if (i >= 0) {
        do {
          element = read(d_state[i * 32 + 31]);
        } while (element >> kCounter != 32 && element >> kCounter != 64);
      }
      // Segments count up to the nearest one that has flag P.
      const unsigned totals = __ballot_sync(kAll, (element & kFlagP) != 0);
      const unsigned last = totals == 0 ? 31 : static_cast<unsigned>(__ffs(static_cast<int>(totals))) - 1;
      std::uint64_t part = lane <= last ? element & kSum : 0;
      for (int distance = 16; distance > 0; distance /= 2) part += __shfl_xor_sync(kAll, part, distance);
      segments += part;
      if (totals != 0) break;
    }
    if (j == 31 && lane == 0)
      StateElement(d_segment[31]).fetch_add(segments + 32 * kOne, cuda::memory_order_relaxed);
    std::uint64_t in_segment = 0;
    if (lane == 0 && j > 0) {
      while ((in_segment = read(d_segment[j - 1])) >> kCounter != j) {
      }
      in_segment &= kSum;
    }
    __syncwarp();
    return in_segment + segments;
  }
};

}  // namespace cu264::scan
