// Adjacent synchronisation (Yan, Long, Zhang: StreamScan, 2013; CUVLE III.D): a block waits for the sum of
// the one before it, adds its own and hands the result on.
//
// Published with "not zero" for "written"; here by flag P, since a sum may be zero.
#pragma once

#include "entropy/scan/scan_state.cuh"

namespace cu264::scan {

struct YanScan {
  using State = std::uint64_t;
  static std::size_t state_count(std::uint64_t items) { return items; }

  State* d_state;

  __device__ std::uint64_t operator()(std::uint32_t index, std::uint64_t sum) {
    std::uint64_t before = 0;
    if ((threadIdx.x & 31) == 0) {
      if (index > 0) {
        while ((before = read(d_state[index - 1])) == 0) {
        }
        before &= ~kFlagP;
      }
      publish(d_state[index], (before + sum) | kFlagP);
    }
    // A barrier of the block may follow: the warp arrives there as one.
    __syncwarp();
    return before;
  }
};

}  // namespace cu264::scan
