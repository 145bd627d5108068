// Finds where the run that is open at the beginning of a tile began. Each tile notes its last head (the
// first symbol of a run). The first later tile that has a head walks back to it over the tiles without one,
// so that each tile is visited once.
#pragma once

#include "common/cuda/warp.cuh"
#include "entropy/scan/scan_state.cuh"

namespace cu264::rle {

struct LastHeads {
  std::uint64_t* d_heads;  // one element for each tile; zeros before the kernel

  // Called by one thread of each tile: notes the position of its last head, if there is `any`.
  __device__ void note(std::uint32_t tile, bool any, std::uint64_t position) const {
    scan::publish(d_heads[tile], any ? position + 2 : 1);
  }

  // Returns the last head before tile `tile`. There always is one: the array's first symbol. All lanes of a
  // warp must call this.
  __device__ std::uint64_t before(std::uint32_t tile) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (std::int64_t last = static_cast<std::int64_t>(tile) - 1;; last -= 32) {
      std::uint64_t element = 2;  // for lanes before the first tile, which always holds a head
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
