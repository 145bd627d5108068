// The warps of a thread block run the same code at nearly the same time, so that what one of them fetches of
// it serves all.
//
// The code that a macroblock runs through does not fit the instruction caches. Warps that have drifted apart
// wait for fetches most of the time; but they drift apart slowly, so it is enough that they begin their rows
// together and that those of a scheduler meet every few macroblocks.
#pragma once

#include <cstdint>

#include "encoder/cuda/warp_block.cuh"

namespace cu264::encoder::cuda {

// A multiprocessor has four schedulers, each with an instruction cache of its own, and gives the warps of a
// thread block to them in turn. Nothing but speed depends on that.
inline constexpr int kSchedulers = 4;

// After so many macroblocks the warps of a scheduler meet again. It makes no difference in time whether that
// is one, two or four; that all warps of the block meet so often costs a tenth.
inline constexpr int kMacroblocksInStep = 4;

// The warps of a thread block, which take their tickets together. There are equally many for each scheduler.
// Where there are more than kSchedulers, no row may wait for one that the same block has taken.
class WarpsInStep {
 public:
  // `s_ticket`: the block's memory for its first ticket, in shared memory.
  __device__ explicit WarpsInStep(unsigned& s_ticket) : s_ticket_(s_ticket) {}

  // Takes a ticket for each warp of the block and returns this warp's. A ticket from `rows` on means that the
  // warp has no row; then there are none for any warp the next time.
  __device__ unsigned take_ticket(unsigned* d_ticket, unsigned rows) {
    __syncthreads();
    if (threadIdx.x == 0) s_ticket_ = atomicAdd(d_ticket, blockDim.x / 32);
    __syncthreads();
    const unsigned first = uniform(s_ticket_);
    const int with_row = static_cast<int>(min(blockDim.x / 32, rows - min(first, rows)));
    is_last_ = with_row < static_cast<int>(blockDim.x / 32);
    threads_ = 32 * ((with_row + kSchedulers - 1 - warp() % kSchedulers) / kSchedulers);
    return first + static_cast<unsigned>(warp());
  }
  // Tells whether the rows that the block has are the last ones.
  __device__ bool is_last() const { return is_last_; }

  // The warps with a row call this after each of its macroblocks.
  __device__ void meet(int mb_x) const {
    if (mb_x % kMacroblocksInStep != kMacroblocksInStep - 1) return;
    const int barrier = 1 + warp() % kSchedulers, threads = threads_;
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
  }

 private:
  static __device__ int warp() { return static_cast<int>(threadIdx.x >> 5); }

  unsigned& s_ticket_;
  int threads_ = 0;  // of those of the warp's scheduler that have a row
  bool is_last_ = false;
};

// Warps that go their own ways, for code that fits the caches.
class WarpsApart {
 public:
  __device__ explicit WarpsApart(unsigned&) {}
  __device__ unsigned take_ticket(unsigned* d_ticket, unsigned) {
    unsigned ticket = 0;
    if ((threadIdx.x & 31) == 0) ticket = atomicAdd(d_ticket, 1u);
    return uniform(ticket);
  }
  __device__ bool is_last() const { return false; }
  __device__ void meet(int) const {}
};

}  // namespace cu264::encoder::cuda
