// A block of threads on one processor: every thread is a fiber, and gives way where a GPU's would wait.
//
// Blocks of a launch run one after another, and launches one at a time, whatever thread they come from.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace cu264::emulator {

struct Place {
  uint3 thread, block;
  dim3 block_size, grid_size;
};

extern const Place* here;  // of the fiber that runs

// The others get their turn.
void give_way();

// All threads of the block that have not ended; returns how many came with `predicate`.
int wait_for_block(bool predicate = false);
// As PTX's barrier.sync: of so many threads.
void wait_at_barrier(int barrier, int threads);

// What each lane of a warp brought, in the lanes of `mask`; every one of them must come.
struct LaneValues {
  std::uint64_t of[32];
};
LaneValues exchange(unsigned mask, std::uint64_t value);
int lane();

void* dynamic_shared_memory();

// Runs `body` as every thread of every block.
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
            const std::function<void()>& body);

}  // namespace cu264::emulator
