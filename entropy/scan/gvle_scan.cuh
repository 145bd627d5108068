// GVLE's segmented scan (thesis 2.3, section 3.4.1), by which the blocks of the production kernels learn the
// sums before their own. Item j of a segment of 32 adds its sum to elements j to 31 of the segment. Element
// j therefore holds the sum of items 0 to j once j + 1 additions have been made to it; bits 57 to 63 count
// them. The look-back visits the totals of segments only: the last item of a segment turns its element into
// the sum of all items so far, with the counter 64, which is flag P.
//
// The paper has a store there (published/printed_gvle_scan.cuh), which could overtake the additions of other
// items. Here it is an addition like the others: 32 more on the counter, plus the sum of all segments before.
#pragma once

#include "entropy/scan/scan_state.cuh"

namespace cu264::scan {

inline constexpr int kGvleCounter = 57;

struct AddedTotal {
  // Called by the last item of a segment, with its last element and the sums before the segment and of it.
  __device__ static void put(std::uint64_t& element, std::uint64_t before, std::uint64_t) {
    StateElement(element).fetch_add(before + (std::uint64_t{32} << kGvleCounter), cuda::memory_order_relaxed);
  }
};

template <class Total>
struct SegmentScan {
  using State = std::uint64_t;
  static std::size_t state_count(std::uint64_t items) { return (items + 31) / 32 * 32; }

  State* d_state;

  __device__ std::uint64_t operator()(std::uint32_t index, std::uint64_t sum) {
    constexpr int kCounter = kGvleCounter;
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
      if (j == 31) Total::put(d_segment[31], segments, in_segment + sum);
    }
    // The caller may have a barrier of the block next, at which the warp must arrive as one.
    __syncwarp();
    return in_segment + segments;
  }
};

using GvleScan = SegmentScan<AddedTotal>;

}  // namespace cu264::scan
