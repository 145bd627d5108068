// GVLE's scan with step 5 of its section 3.4.1 as printed: the last item of a segment stores the total with
// flag P in the last element. Nothing in the paper orders that store after the additions of the items before,
// which would spoil it; here it waits until all 32 have been counted.
#pragma once

#include "entropy/scan/gvle_scan.cuh"

namespace cu264::scan {

struct StoredTotal {
  __device__ static void put(std::uint64_t& element, std::uint64_t before, std::uint64_t of_segment) {
    while (read(element) >> kGvleCounter != 32) {
    }
    publish(element, (before + of_segment) | kFlagP);
  }
};

using PrintedGvleScan = SegmentScan<StoredTotal>;

}  // namespace cu264::scan
