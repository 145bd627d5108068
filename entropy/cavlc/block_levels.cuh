// Sixteen levels that a thread holds: loading them, masks of them, and keeping them where they can be
// indexed.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "entropy/cavlc/shared_address.cuh"

namespace cu264::entropy {

// Sixteen levels as they lie in memory.
struct BlockLevels {
  uint4 low = {}, high = {};
};

// Sixteen bytes that are read once: the code tables shall stay in the L1 cache, not they.
__device__ __forceinline__ uint4 load_once(const uint4* address) {
  uint4 value;
  asm("ld.global.nc.L1::evict_first.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(address));
  return value;
}

__device__ __forceinline__ BlockLevels load_levels(const BlockLevels* block) {
  return {load_once(&block->low), load_once(&block->high)};
}

// Bit 31 - k of each: level k is not zero, is 1 or -1, is -1 (or positive and even, which nobody asks). The
// highest frequency is lowest, since lowest bits are cheap to take away.
struct LevelSigns {
  std::uint32_t nonzero, ones, negative;
};

// Of sixteen fields of two bits, levels 14, 12 .. in the lower half from its low end on and 15, 13 .. in the
// upper, the lower bits.
__device__ __forceinline__ std::uint32_t gather_fields(std::uint32_t fields) {
  return (fields & 0x55550000u) | ((fields << 17) & 0xaaaa0000u);
}

// What level_signs adds to a pair of levels. From a shuffle, so that the compiler keeps it in a register: it
// would load a constant anew for each use. All lanes.
__device__ __forceinline__ std::uint32_t pair_of_ones() {
  return __shfl_sync(0xffffffffu, 0x00010001u, 0);
}

__device__ __forceinline__ LevelSigns level_signs(const BlockLevels& levels, std::uint32_t ones) {
  const std::uint32_t pairs[8] = {levels.low.x,  levels.low.y,  levels.low.z,  levels.low.w,
                                  levels.high.x, levels.high.y, levels.high.z, levels.high.w};
  std::uint32_t fields = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    // min(level + 1, 3) as unsigned: -1, 0, 1 become 0, 1, 2, all others 3.
    fields = 4 * fields + __viaddmin_u16x2(pairs[j], ones, 0x00030003u);
  }
  const std::uint32_t upper = fields >> 1;
  return {gather_fields(~fields | upper), gather_fields(~fields), gather_fields(~upper)};
}

// A block's levels, to be read in any order: each thread's 32 bytes in shared memory, aligned to 32. Halves
// are swapped in every second group of four threads, so that equal levels of neighbours lie in different
// banks.
class StagedLevels {
 public:
  static constexpr int kWarpBytes = 32 * 32;

  // The first level's address, in a warp's bytes. By all lanes.
  __device__ __forceinline__ static SharedAddress address(const std::uint8_t* s_levels, int lane) {
    return own_address(s_levels + ((lane & 4) << 2), 32, lane);
  }
  __device__ __forceinline__ explicit StagedLevels(SharedAddress address) : address_(address) {}

  __device__ __forceinline__ void store(const BlockLevels& levels) const {
    object_at<uint4>(low()) = levels.low;
    object_at<uint4>(high()) = levels.high;
  }
  __device__ __forceinline__ BlockLevels load() const {
    return {object_at<const uint4>(low()), object_at<const uint4>(high())};
  }
  __device__ __forceinline__ int operator[](int k) const {
    return object_at<const std::int16_t>(address_ ^ static_cast<SharedAddress>(2 * k));
  }
  __device__ __forceinline__ SharedAddress low() const { return address_; }
  __device__ __forceinline__ SharedAddress high() const { return address_ ^ 16; }

 private:
  SharedAddress address_;
};

}  // namespace cu264::entropy
