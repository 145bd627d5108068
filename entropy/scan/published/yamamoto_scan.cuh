// Look-back over 32 items at a time (Yamamoto et al. 2020; thesis 2.3, algorithm 2). An item's element holds
// its own sum (flag A) until its block knows the sum of all up to it (flag P).
#pragma once

#include "common/cuda/warp.cuh"
#include "entropy/scan/scan_state.cuh"

namespace cu264::scan {

struct YamamotoScan {
  using State = std::uint64_t;
  static std::size_t state_count(std::uint64_t items) { return items; }

  State* d_state;

  __device__ std::uint64_t operator()(std::uint32_t index, std::uint64_t sum) {
    constexpr std::uint64_t kFlagA = std::uint64_t{1} << 56, kSum = kFlagA - 1;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    if (index == 0) {
      if (lane == 0) publish(d_state[0], sum | kFlagP);
      return 0;
    }
    if (lane == 0) publish(d_state[index], sum | kFlagA);
    std::uint64_t before = 0;
    for (std::int64_t j = static_cast<std::int64_t>(index) - 1 - lane;; j -= 32) {
      std::uint64_t element = kFlagP;  // before the first item
      if (j >= 0) {
        while ((element = read(d_state[j])) == 0) {
        }
      }
      // Items count up to the nearest one that has flag P.
      const unsigned totals = __ballot_sync(kAllLanes, (element & kFlagP) != 0);
      const int last = totals == 0 ? 31 : __ffs(static_cast<int>(totals)) - 1;
      std::uint64_t part = lane <= last ? element & kSum : 0;
      before += warp_sum(part);
      if (totals != 0) break;
    }
    if (lane == 0) publish(d_state[index], (before + sum) | kFlagP);
    return before;
  }
};

}  // namespace cu264::scan
