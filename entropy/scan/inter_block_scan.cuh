// How the blocks of the production kernels learn the sums before their own: GVLE's segmented scan (thesis
// 2.3, section 3.4.1). Item j of a segment of 32 adds its sum to elements j to
// 31 of the segment, so that element j holds the sum of items 0 to j once it has been added to j + 1 times:
// bits 57 to 63 count. The segments' totals are looked back for; the last item of a segment turns its element
// into the sum of all items so far: counter 64, which is flag P.
//
// Published with a store there. That one could overtake the other items' additions, so here it is an addition
// like them: 32 more on the counter, and the sum of all segments before.
#pragma once

#include "entropy/scan/scan_state.cuh"

namespace cu264::scan {

struct InterBlockScan {
  using State = std::uint64_t;
  static std::size_t state_count(std::uint64_t items) { return (items + 31) / 32 * 32; }

  State* d_state;

  __device__ std::uint64_t operator()(std::uint32_t index, std::uint64_t sum) {
    constexpr int kCounter = 57;
    constexpr std::uint64_t kOne = std::uint64_t{1} << kCounter, kSum = kOne - 1;
    const unsigned lane = threadIdx.x & 31, j = index % 32;
    const std::uint32_t segment = index / 32;
    State* const d_segment = d_state + index - j;
    if (lane >= j) StateElement(d_segment[lane]).fetch_add(sum + kOne, cuda::memory_order_relaxed);
    std::uint64_t in_segment = 0, segments = 0, element;
    if (lane == 0) {
      if (j > 0) {
        while ((element = read(d_segment[j - 1])) >> kCounter != j) {
        }
        in_segment = element & kSum;
      }
      for (std::uint32_t i = segment; i > 0; --i) {
        do {
          element = read(d_state[static_cast<std::uint64_t>(i) * 32 - 1]);
        } while (element >> kCounter != 32 && element >> kCounter != 64);
        segments += element & kSum;
        if ((element & kFlagP) != 0) break;
      }
      if (j == 31) StateElement(d_segment[31]).fetch_add(segments + 32 * kOne, cuda::memory_order_relaxed);
    }
    // A barrier of the block may follow: the warp arrives there as one.
    __syncwarp();
    return in_segment + segments;
  }
};

}  // namespace cu264::scan
