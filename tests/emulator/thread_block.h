// A block of threads on one processor: every thread is a fiber, which yields where a thread of a GPU would
// wait.
//
// The blocks of a launch run one after another, and one launch runs at a time, even if several host threads
// launch.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace cu264::emulator {

struct ThreadIndices {
  uint3 thread, block;
  dim3 block_size, grid_size;
};

extern const ThreadIndices* here;  // the indices of the running thread

// Lets the other threads run.
void give_way();

// Waits for all threads of the block that have not ended, and returns how many of them passed a true
// `predicate`.
int wait_for_block(bool predicate = false);
// Does what PTX's barrier.sync does for that many threads.
void wait_at_barrier(int barrier, int threads);

// The values that the lanes of a warp in `mask` have passed. Every one of these lanes must call exchange().
// Memory is in order for them if `with_memory`: __syncwarp does that, a shuffle or a vote does not.
struct LaneValues {
  std::uint64_t of[32];
};
LaneValues exchange(unsigned mask, std::uint64_t value, bool with_memory = false);
int lane();

void* dynamic_shared_memory();

// Runs `body` as every thread of every block.
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
            const std::function<void()>& body);

}  // namespace cu264::emulator
