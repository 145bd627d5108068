// What the inter-block scans share. Each of them is a function object for the blocks of one kernel:
//
//   using State;                          an element of its state in global memory, all zeros before a run
//   static state_count(items)             how many elements so many items need
//   operator()(index, sum) -> before      by all lanes of one warp of the block that has item `index`: takes
//   its
//                                         sum, gives the sum of all items before to lane 0
//
// Sums of up to 2^56. Items must be taken in order, by a ticket from a global counter: a block waits for the
// items before its own, so that their blocks must have begun.
#pragma once

#include <cuda/atomic>

#include <cstddef>
#include <cstdint>

namespace cu264::scan {

// An element holds all there is to know, so that no other access needs ordering.
using StateElement = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;

__device__ __forceinline__ std::uint64_t read(std::uint64_t& element) {
  return StateElement(element).load(cuda::memory_order_relaxed);
}
__device__ __forceinline__ void publish(std::uint64_t& element, std::uint64_t value) {
  StateElement(element).store(value, cuda::memory_order_relaxed);
}

// Flag P of all three: the element holds the sum of all items up to its own.
inline constexpr std::uint64_t kFlagP = std::uint64_t{1} << 63;

}  // namespace cu264::scan
