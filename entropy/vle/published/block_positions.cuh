// Where the codes of a thread block go: a scan over its threads (Sengupta et al. 2008: warps first, then
// their sums), and one over all thread blocks, by its first warp, with one of the methods of entropy/scan.
#pragma once

#include <cstdint>

#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"

namespace cu264::vle {

struct BlockPositions {
  std::uint32_t in_warp;      // of the thread's code in its warp's
  std::uint32_t warp_length;  // of the codes of its warp
  std::uint64_t warp;         // of its warp's code in the output
  std::uint64_t block_end;    // of the whole block's code in the output
};

struct BlockPositionsScratch {
  std::uint32_t warp_before[33];  // exclusive sums; at [32] the block's
  std::uint64_t block;
};

// By all threads of a block, a multiple of 32. `scan(index, sum)`, called by the first warp with the block's
// sum, returns to its first lane the sum of all blocks before `index`. Bits; a block has fewer than 2^32.
template <class Scan>
__device__ __forceinline__ BlockPositions block_positions(std::uint32_t length, std::uint32_t index,
                                                          Scan& scan, BlockPositionsScratch& s) {
  const int warp = static_cast<int>(threadIdx.x) >> 5, lane = static_cast<int>(threadIdx.x) & 31;
  const std::uint32_t inclusive = scan_lanes(length, Plus());
  if (lane == 31) s.warp_before[warp] = inclusive;
  __syncthreads();
  if (warp == 0) {
    const std::uint32_t sum = lane < static_cast<int>(blockDim.x >> 5) ? s.warp_before[lane] : 0;
    const std::uint32_t sums = scan_lanes(sum, Plus());
    s.warp_before[lane] = sums - sum;
    if (lane == 31) s.warp_before[32] = sums;
    const std::uint64_t before = scan(index, __shfl_sync(kAllLanes, sums, 31));
    if (lane == 0) s.block = before;
  }
  __syncthreads();
  return {inclusive - length, __shfl_sync(kAllLanes, inclusive, 31), s.block + s.warp_before[warp],
          s.block + s.warp_before[32]};
}

}  // namespace cu264::vle
