// Copies the levels of the blocks that a lane will code next to shared memory while other blocks are coded.
// The copies bypass the registers and the L1 cache, where they would displace tables.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "entropy/cavlc/block_levels.cuh"

namespace cu264::entropy {

// Copies sixteen bytes from global to shared memory: in the background, or at once on GPUs before Ampere.
__device__ __forceinline__ void begin_copy(SharedAddress to, const void* d_from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(d_from) : "memory");
#else
  object_at<uint4>(to) = *static_cast<const uint4*>(d_from);
#endif
}
// Closes the group of copies that the thread has begun since the last end_copies().
__device__ __forceinline__ void end_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all groups of copies but the one that the last end_copies() closed.
__device__ __forceinline__ void wait_for_older_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

// A lane's three buffers: two for blocks that are being copied, one for the block that is being coded.
class LevelCopies {
 public:
  static constexpr int kAhead = 2;  // blocks
  static constexpr int kWarpBytes = (kAhead + 1) * StagedLevels::kWarpBytes;

  // All lanes must call this.
  __device__ __forceinline__ LevelCopies(const std::uint8_t* s_levels, int lane)
      : first_(StagedLevels::address(s_levels, lane)), own_(first_), free_(first_) {}

  // Begins to copy the levels of a block, if `any`. Two copies are begun before the first turn(), and one
  // after each turn().
  __device__ __forceinline__ void begin(bool any, const BlockLevels* d_levels) {
    if (any) {
      const StagedLevels to(free_);
      begin_copy(to.low(), &d_levels->low);
      begin_copy(to.high(), &d_levels->high);
    }
    end_copies();
  }
  // Begins the second of the first two copies.
  __device__ __forceinline__ void begin_second(bool any, const BlockLevels* d_levels) {
    free_ += StagedLevels::kWarpBytes;
    begin(any, d_levels);
    own_ = free_ + StagedLevels::kWarpBytes;
  }
  // Waits for the oldest copy and returns its levels.
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
