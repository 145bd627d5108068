// Counts the items and bins of a block's levels from sums over all of them, two levels in an instruction. The
// result is that of put_cabac_levels (core/cabac_block.h) with a CabacItemCounter.
#pragma once

#include <cstdint>

#include "core/cabac_block.h"
#include "core/cabac_item.h"

namespace cu264::entropy {

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

// What levels above the prefix take beyond their prefix and one item for the sign.
__device__ inline void count_suffixes(const std::int16_t* d_levels, core::CabacItemCounter& counter) {
#pragma unroll 1
  for (int k = 0; k < core::kLevelsPerBlock; ++k) {
    const int minus1 = (d_levels[k] < 0 ? -d_levels[k] : d_levels[k]) - 1;
    if (minus1 < core::kAbsLevelPrefix) continue;
    core::CabacItemCounter suffix;
    core::put_abs_level_suffix(suffix, static_cast<std::uint32_t>(minus1 - core::kAbsLevelPrefix), 0);
    counter.items += suffix.items - 1;
    counter.bins += suffix.bins - 1;
  }
}

// `d_levels` holds 16 levels, aligned to 16 bytes, at least one of which is not zero; those behind the
// block's `max_num_coeff` are.
__device__ inline void count_levels(const std::int16_t* d_levels, int max_num_coeff,
                                    core::CabacItemCounter& counter) {
  const auto* const d_quads = reinterpret_cast<const uint4*>(d_levels);
  const uint4 low = d_quads[0], high = d_quads[1];
  const std::uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  // Bit i of the lower half of `nonzero` stands for level 2 i, of the upper half for level 2 i + 1. Sums of
  // both halves stay below 2^16 with levels up to kMaxLevel.
  std::uint32_t nonzero = 0, sums = 0, above = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t magnitudes = magnitudes_of(words[i]);
    const std::uint32_t larger = larger_than(core::kAbsLevelPrefix, magnitudes);
    nonzero |= larger_than(0, magnitudes) << i;
    const std::uint32_t mask = larger * 0xffff;
    sums += (mask & core::kAbsLevelPrefix * kBothLevels) | (~mask & magnitudes);
    above |= larger;
  }
  const int count = __popc(nonzero), end = max_num_coeff - 1;
  const std::uint32_t even = nonzero & 0xffff, odd = nonzero >> 16;
  const int last = max(even != 0 ? 2 * (31 - __clz(static_cast<int>(even))) : 0,
                       odd != 0 ? 2 * (31 - __clz(static_cast<int>(odd))) + 1 : 0);
  // significant_coeff_flag up to the last level, last_significant_coeff_flag of each level; neither at `end`.
  const int flags = min(last + 1, end) + count - (last == end ? 1 : 0);
  // A level of magnitude m up to 14 takes m decisions and its sign.
  const int levels = static_cast<int>((sums & 0xffff) + (sums >> 16)) + count;
  counter.items += static_cast<std::uint32_t>(flags + levels);
  counter.bins += static_cast<std::uint32_t>(flags + levels);
  if (above != 0) count_suffixes(d_levels, counter);
}

}  // namespace cu264::entropy
