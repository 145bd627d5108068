// Warps that run the same code at nearly the same time, so that what one of them fetches of it serves all.
//
// The code that a macroblock runs through does not fit the instruction caches. Warps that have drifted apart
// wait for fetches most of the time; they drift apart slowly, so a barrier every few macroblocks is enough.
#pragma once

#include <cstdint>

#include "encoder/cuda/warp_block.cuh"

namespace cu264::encoder::cuda {

// A multiprocessor has four schedulers, each with an instruction cache of its own, and gives the warps of a
// thread block to them in turn. Nothing but speed depends on that.
inline constexpr int kSchedulers = 4;

// The macroblocks after which the warps meet again. With one, two or four there is no difference in time.
inline constexpr int kMacroblocksInStep = 4;

// The warps of a thread block that one scheduler runs. They take their tickets together. A block has the same
// number of warps for each scheduler.
class WarpsInStep {
 public:
  // `s_tickets`: memory for as many tickets as there are schedulers, in shared memory.
  __device__ explicit WarpsInStep(unsigned* s_tickets)
      : barrier_(1 + warp() % kSchedulers),
        warps_(static_cast<int>(blockDim.x) / (32 * kSchedulers)),
        met_(32 * warps_),
        s_ticket_(s_tickets + warp() % kSchedulers) {}

  // Takes a ticket for each of the warps and returns this warp's. Every warp must have met the others since
  // the last time.
  __device__ unsigned take_ticket(unsigned* d_ticket, unsigned rows) {
    if (threadIdx.x < 32 * kSchedulers && (threadIdx.x & 31) == 0) {
      *s_ticket_ = atomicAdd(d_ticket, static_cast<unsigned>(warps_));
    }
    meet();
    const unsigned first = uniform(*s_ticket_);
    // Warps that find no row end, and are not waited for.
    met_ = 32 * static_cast<int>(min(static_cast<unsigned>(warps_), rows - min(first, rows)));
    return first + static_cast<unsigned>(warp() / kSchedulers);
  }
  // Whether no row is left for any of the warps, as far as they know.
  __device__ bool found_the_end() const { return met_ < 32 * warps_; }

  __device__ void meet() const {
    const int barrier = barrier_, threads = met_;
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
  }

 private:
  static __device__ int warp() { return static_cast<int>(threadIdx.x >> 5); }

  int barrier_;
  int warps_;
  int met_;  // the number of threads that meet
  unsigned* s_ticket_;
};

// Warps that go their own ways, for code that fits the caches.
class WarpsApart {
 public:
  __device__ explicit WarpsApart(unsigned*) {}
  __device__ unsigned take_ticket(unsigned* d_ticket, unsigned) {
    unsigned ticket = 0;
    if ((threadIdx.x & 31) == 0) ticket = atomicAdd(d_ticket, 1u);
    return uniform(ticket);
  }
  __device__ bool found_the_end() const { return false; }
  __device__ void meet() const {}
};

}  // namespace cu264::encoder::cuda
