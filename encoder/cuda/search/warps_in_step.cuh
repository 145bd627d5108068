// Makes the warps of a thread block run the same code at nearly the same time, so that the instructions that
// one of them fetches serve all.
//
// The code for a macroblock does not fit the instruction caches. Warps that have drifted apart spend most of
// their time waiting for fetches, and if their pictures differ they drift apart within one macroblock. So
// they meet after each macroblock and, where the preset compares by rate and distortion, between the steps of
// the search (search_macroblock). It is faster for all warps of the block to meet than only for those of one
// scheduler, although then each waits for the slowest of more warps.
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

  // Takes a ticket for each warp of the block and returns this warp's. A ticket of `rows` or more means that
  // the warp has no row; the next time no warp of the block will have one.
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
  // Returns whether the block's present rows are its last ones.
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

// Warps that run independently, for code that fits the caches.
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
