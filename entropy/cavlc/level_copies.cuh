// Levels of the blocks that a lane will code next, on their way to shared memory while others are coded. They
// go past the registers and the L1 cache, whose lines loads under way would take from tables.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "entropy/cavlc/block_levels.cuh"

namespace cu264::entropy {

// Sixteen bytes from global to shared memory. Done at once before Ampere, which began to copy in the
// background.
__device__ __forceinline__ void begin_copy(SharedAddress to, const void* d_from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(d_from) : "memory");
#else
  object_at<uint4>(to) = *static_cast<const uint4*>(d_from);
#endif
}
// What the thread has begun to copy since the end_copies() before.
__device__ __forceinline__ void end_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// For all but what came before the last end_copies().
__device__ __forceinline__ void wait_for_older_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

// A lane's three places: two for blocks on their way, one for the block that is coded.
class LevelCopies {
 public:
  static constexpr int kAhead = 2;  // blocks
  static constexpr int kWarpBytes = (kAhead + 1) * StagedLevels::kWarpBytes;

  // By all lanes.
  __device__ __forceinline__ LevelCopies(const std::uint8_t* s_levels, int lane)
      : first_(StagedLevels::address(s_levels, lane)), own_(first_), free_(first_) {}

  // The first two before the first turn(), then one after each; or none, if there are no more.
  __device__ __forceinline__ void begin(bool any, const BlockLevels* d_levels) {
    if (any) {
      const StagedLevels to(free_);
      begin_copy(to.low(), &d_levels->low);
      begin_copy(to.high(), &d_levels->high);
    }
    end_copies();
  }
  // The second of the first two.
  __device__ __forceinline__ void begin_second(bool any, const BlockLevels* d_levels) {
    free_ += StagedLevels::kWarpBytes;
    begin(any, d_levels);
    own_ = free_ + StagedLevels::kWarpBytes;
  }
  // Waits for the oldest.
  __device__ __forceinline__ StagedLevels turn() {
    wait_for_older_copies();
    free_ = own_;
    own_ += StagedLevels::kWarpBytes;
    if (own_ >= first_ + kWarpBytes) own_ = first_;
    return StagedLevels(own_);
  }

 private:
  const SharedAddress first_;
  SharedAddress own_, free_;
};

}  // namespace cu264::entropy
