// The warps of a thread block run the same code at nearly the same time, so that what one of them fetches of
// it serves all.
//
// The code that a macroblock runs through does not fit the instruction caches. Warps that have drifted apart
// wait for fetches most of the time, and they drift apart within a macroblock if their pictures differ. So
// they meet behind each macroblock and, where the preset compares by rate and distortion, between the steps
// of the search (search_macroblock). That all warps of the block meet is faster than that those of a
// scheduler do, although one waits for the slowest of more.
#pragma once

#include <cstdint>

#include "encoder/cuda/search/warp_block.cuh"

namespace cu264::encoder::cuda {

// The warps of a thread block, which take their tickets together. No row may wait for one that the same block
// has taken.
class WarpsInStep {
 public:
  // In the shared memory of the block.
  struct Memory {
    unsigned ticket;  // the first of the block's
    int threads;      // of the warps that have a row
  };

  __device__ explicit WarpsInStep(Memory& s_memory) : s_memory_(s_memory) {}

  // Takes a ticket for each warp of the block and returns this warp's. A ticket from `rows` on means that the
  // warp has no row; then there are none for any warp the next time.
  __device__ unsigned take_ticket(unsigned* d_ticket, unsigned rows) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const unsigned first = atomicAdd(d_ticket, blockDim.x / 32);
      s_memory_.ticket = first;
      s_memory_.threads = static_cast<int>(32 * min(blockDim.x / 32, rows - min(first, rows)));
    }
    __syncthreads();
    return uniform(s_memory_.ticket) + (threadIdx.x >> 5);
  }
  // Tells whether the rows that the block has are the last ones.
  __device__ bool is_last() const { return uniform(s_memory_.threads) < static_cast<int>(blockDim.x); }

  // Waits for all warps that have a row. They must call it equally often in a row.
  __device__ void meet() const {
    const int barrier = 1, threads = s_memory_.threads;
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
  }

 private:
  Memory& s_memory_;
};

struct WarpsThatNeverMeet {
  __device__ void meet() const {}
};

// Warps that go their own ways, for code that fits the caches.
class WarpsApart : public WarpsThatNeverMeet {
 public:
  struct Memory {};

  __device__ explicit WarpsApart(Memory&) {}
  __device__ unsigned take_ticket(unsigned* d_ticket, unsigned) {
    unsigned ticket = 0;
    if ((threadIdx.x & 31) == 0) ticket = atomicAdd(d_ticket, 1u);
    return uniform(ticket);
  }
  __device__ bool is_last() const { return false; }
};

}  // namespace cu264::encoder::cuda
