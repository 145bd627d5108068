// Where the run that is open at the beginning of a tile began: each tile notes its last head (the first
// symbol of a run), and the first later tile that has one walks back to it over those that have none. Each
// tile is walked over once.
#pragma once

#include "common/cuda/warp.cuh"
#include "entropy/scan/scan_state.cuh"

namespace cu264::rle {

struct LastHeads {
  std::uint64_t* d_heads;  // of each tile; zeros before a run

  // By one thread of each tile: position of its last head, or none.
  __device__ void note(std::uint32_t tile, bool any, std::uint64_t position) const {
    scan::publish(d_heads[tile], any ? position + 2 : 1);
  }

  // By all lanes of a warp: the last head before tile `tile`. There is one: the array's first symbol.
  __device__ std::uint64_t before(std::uint32_t tile) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (std::int64_t last = static_cast<std::int64_t>(tile) - 1;; last -= 32) {
      std::uint64_t element = 2;  // before the first tile; the first one holds a head
      if (last - lane >= 0) {
        while ((element = scan::read(d_heads[last - lane])) == 0) {
        }
      }
      const unsigned found = __ballot_sync(kAllLanes, element > 1);
      if (found != 0) return __shfl_sync(kAllLanes, element, __ffs(static_cast<int>(found)) - 1) - 2;
    }
  }
};

}  // namespace cu264::rle
