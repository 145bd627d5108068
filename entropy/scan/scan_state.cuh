// State of the inter-block scans. Each of them is a function object for the blocks of one kernel:
//
// - State is an element of its state in global memory, which is zeroed before a run.
// - static state_count(items) returns the number of elements for this many items.
// - operator()(index, sum) is called by all lanes of one warp of the block that has item `index`. It takes
//   the sum of that item and returns the sum of all items before to lane 0.
//
// Sums may be as large as 2^56. Items must be taken in order, by a ticket from a global counter: a block
// waits for the blocks of earlier items, which must therefore have begun.
#pragma once

#include <cuda/atomic>

#include <cstddef>
#include <cstdint>

namespace cu264::scan {

// An element holds all the information, so that no other access needs to be ordered.
using StateElement = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;

__device__ __forceinline__ std::uint64_t read(std::uint64_t& element) {
  return StateElement(element).load(cuda::memory_order_relaxed);
}
__device__ __forceinline__ void publish(std::uint64_t& element, std::uint64_t value) {
  StateElement(element).store(value, cuda::memory_order_relaxed);
}

// Flag P of all three scans: the element holds the sum of all items up to its own.
inline constexpr std::uint64_t kFlagP = std::uint64_t{1} << 63;

}  // namespace cu264::scan
