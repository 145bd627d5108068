// Sixteen levels that a thread holds: how they are loaded, masks of them, and shared memory in which they
// can be indexed.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "entropy/cavlc/shared_address.cuh"

namespace cu264::entropy {

// Sixteen levels in the layout of global memory.
struct BlockLevels {
  uint4 low = {}, high = {};
};

// Loads sixteen bytes that are read only once, so that they do not displace the code tables in the L1 cache.
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

// Masks of levels: bit 31 - k says whether level k is not zero, whether it is 1 or -1, and whether it is -1.
// (`negative` is also set for positive even levels, which no caller looks at.) The highest frequency has the
// lowest bit, since the lowest bits are cheap to clear.
struct LevelSigns {
  std::uint32_t nonzero, ones, negative;
};

// Returns the lower bits of sixteen fields of two bits. The lower half of the word holds the fields of
// levels 14, 12 .. from its low end on, the upper half those of levels 15, 13 ..
__device__ __forceinline__ std::uint32_t gather_fields(std::uint32_t fields) {
  return (fields & 0x55550000u) | ((fields << 17) & 0xaaaa0000u);
}

// The constant that level_signs adds to a pair of levels. It comes from a shuffle so that the compiler keeps
// it in a register; a plain constant would be loaded again for each use. All lanes must call this.
__device__ __forceinline__ std::uint32_t pair_of_ones() {
  return __shfl_sync(0xffffffffu, 0x00010001u, 0);
}

__device__ __forceinline__ LevelSigns level_signs(const BlockLevels& levels, std::uint32_t ones) {
  const std::uint32_t pairs[8] = {levels.low.x,  levels.low.y,  levels.low.z,  levels.low.w,
                                  levels.high.x, levels.high.y, levels.high.z, levels.high.w};
  std::uint32_t fields = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    // min(level + 1, 3) in unsigned arithmetic: -1, 0 and 1 become 0, 1 and 2; all others become 3.
    fields = 4 * fields + __viaddmin_u16x2(pairs[j], ones, 0x00030003u);
  }
  const std::uint32_t upper = fields >> 1;
  return {gather_fields(~fields | upper), gather_fields(~fields), gather_fields(~upper)};
}

// A block's levels, readable in any order: each thread has 32 bytes of shared memory, aligned to 32. The two
// halves are swapped in every second group of four threads, so that equal levels of neighbouring threads lie
// in different banks.
class StagedLevels {
 public:
  static constexpr int kWarpBytes = 32 * 32;

  // The address of the lane's first level in the warp's bytes. All lanes must call this.
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
