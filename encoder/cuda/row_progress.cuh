// How warps that each hold a row of macroblocks wait for the row above: a counter for each row says how many
// of its macroblocks are finished.
#pragma once

#include <cuda/atomic>

namespace cu264::encoder::cuda {

// Waits until `needed` macroblocks of the row above are published, and returns how many are. The warp of that
// row holds an earlier ticket, so it is already running: no warp waits for a block that has not started.
__device__ inline unsigned wait_for_row(unsigned* progress, unsigned needed) {
  ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device> row(*progress);
  unsigned done = row.load(::cuda::memory_order_acquire);
  if (done >= needed) return done;  // the usual case
  // Polling is relaxed, so that it does not invalidate the L1 cache each time.
  for (unsigned pause = 20; done < needed; done = row.load(::cuda::memory_order_relaxed)) {
    __nanosleep(pause);
    pause = min(2 * pause, 200u);
  }
  ::cuda::atomic_thread_fence(::cuda::memory_order_acquire, ::cuda::thread_scope_device);
  return done;
}

// Publishes `done` macroblocks of a row, with what the warp has written before its last __syncwarp(). One
// lane calls it.
__device__ inline void publish_in_row(unsigned* progress, unsigned done) {
  ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device>(*progress).store(done,
                                                                             ::cuda::memory_order_release);
}

}  // namespace cu264::encoder::cuda
