// Counts the items and bins of a block's levels from sums over all of them, two levels in an instruction. The
// result equals that of put_cabac_levels and put_cabac_levels_8x8 (core/cabac_block.h) with a
// CabacItemCounter.
#pragma once

#include <cstdint>

#include "core/cabac_block.h"
#include "core/cabac_item.h"
#include "entropy/cavlc/block_levels.cuh"

namespace cu264::entropy {

inline constexpr std::uint32_t kLumaSlots = 0xffffu << core::kSlotLuma;
inline constexpr std::uint32_t kFirstOfLargeBlocks = 0x1111u << core::kSlotLuma;  // slots

// A one in each half.
inline constexpr std::uint32_t kBothLevels = 0x00010001;

__device__ __forceinline__ std::uint32_t magnitudes_of(std::uint32_t levels) {
  const std::uint32_t negative = levels >> 15 & kBothLevels;
  return (levels ^ negative * 0xffff) + negative;
}

// Bits 0 and 16 tell which of two magnitudes exceed `limit`.
__device__ __forceinline__ std::uint32_t larger_than(int limit, std::uint32_t magnitudes) {
  return (magnitudes + static_cast<std::uint32_t>(0x7fff - limit) * kBothLevels) >> 15 & kBothLevels;
}

// Bit k tells whether the k-th of 16 levels, aligned to 16 bytes, is not zero.
__device__ __forceinline__ std::uint32_t nonzero_levels(const std::int16_t* d_levels) {
  const auto* const d_quads = reinterpret_cast<const uint4*>(d_levels);
  const uint4 low = d_quads[0], high = d_quads[1];
  const std::uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  std::uint32_t nonzero = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t pair = larger_than(0, magnitudes_of(words[i]));
    nonzero |= (pair | pair >> 15) << 2 * i;
  }
  return nonzero & 0xffff;
}

// Counts what levels above the prefix take in addition to their prefix and one bin for the sign.
template <class Levels>
__device__ inline void count_suffixes(const Levels& levels, std::uint32_t nonzero,
                                      core::CabacItemCounter& counter) {
#pragma unroll 1
  for (std::uint32_t rest = nonzero; rest != 0; rest &= rest - 1) {
    const int k = __ffs(static_cast<int>(rest)) - 1;
    const int level = levels[k], minus1 = (level < 0 ? -level : level) - 1;
    if (minus1 < core::kAbsLevelPrefix) continue;
    core::CabacItemCounter suffix;
    core::put_abs_level_suffix(suffix, static_cast<std::uint32_t>(minus1 - core::kAbsLevelPrefix), 0);
    counter.items += suffix.items;
    counter.bins += suffix.bins - 1;
  }
}

// What the length of a block of 16 levels depends on.
struct LevelSums {
  std::uint32_t nonzero = 0;  // bit i stands for level 2 i, bit 16 + i for level 2 i + 1
  std::uint32_t sums = 0;     // of magnitudes up to the prefix, of even and of odd levels
  std::uint32_t above = 0;    // whether a magnitude exceeds the prefix

  __device__ __forceinline__ explicit LevelSums(const BlockLevels& levels) {
    const uint4 low = levels.low, high = levels.high;
    const std::uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t magnitudes = magnitudes_of(words[i]);
      nonzero += __viaddmin_u16x2(magnitudes, 0, kBothLevels) << i;
      sums += __viaddmin_u16x2(magnitudes, 0, core::kAbsLevelPrefix * kBothLevels);
      above |= magnitudes + (0x7fff - core::kAbsLevelPrefix) * kBothLevels;
    }
    above &= 0x8000 * kBothLevels;
  }
  __device__ __forceinline__ int count() const {
    return __popc(nonzero);
  }
  // The index of the last level that is not zero, or 0.
  __device__ __forceinline__ int last() const {
    const std::uint32_t even = nonzero & 0xffff, odd = nonzero >> 16;
    return max(even != 0 ? 2 * (31 - __clz(static_cast<int>(even))) : 0,
               odd != 0 ? 2 * (31 - __clz(static_cast<int>(odd))) + 1 : 0);
  }
  // Bit k tells whether level k is not zero.
  __device__ __forceinline__ std::uint32_t mask() const {
    const auto spread = [](std::uint32_t bits) {  // by two
      bits = (bits | bits << 4) & 0x0f0f;
      bits = (bits | bits << 2) & 0x3333;
      return (bits | bits << 1) & 0x5555;
    };
    return spread(nonzero & 0xff) | spread(nonzero >> 16) << 1;
  }
  // A level of magnitude m up to 14 takes m decisions, the last of which has its sign.
  __device__ __forceinline__ int items() const {
    return static_cast<int>((sums & 0xffff) + (sums >> 16));
  }
};

__device__ __forceinline__ void count_flags(int last, int count, int end, core::CabacItemCounter& counter) {
  const int flags = core::significance_flags(last, count, end);
  counter.items += static_cast<std::uint32_t>(flags);
  counter.bins += static_cast<std::uint32_t>(flags);
}

// `levels` is indexed by k. Levels that are not in the mask `nonzero` are not read.
template <class Levels>
__device__ __forceinline__ void count_magnitudes(const LevelSums& sums, const Levels& levels,
                                                 std::uint32_t nonzero, core::CabacItemCounter& counter) {
  counter.items += static_cast<std::uint32_t>(sums.items());
  counter.bins += static_cast<std::uint32_t>(sums.items() + sums.count());
  if (sums.above != 0) count_suffixes(levels, nonzero, counter);
}

// The number of levels that exceed one in magnitude.
__device__ __forceinline__ int greater_levels(const BlockLevels& levels) {
  const std::uint32_t words[8] = {levels.low.x,  levels.low.y,  levels.low.z,  levels.low.w,
                                  levels.high.x, levels.high.y, levels.high.z, levels.high.w};
  std::uint32_t greater = 0;
#pragma unroll
  for (const std::uint32_t word : words) greater += larger_than(1, magnitudes_of(word));
  return static_cast<int>((greater & 0xffff) + (greater >> 16));
}

}  // namespace cu264::entropy
