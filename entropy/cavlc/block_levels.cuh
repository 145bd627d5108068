// The symbols of a block of levels in global memory: core::cavlc_symbols from two vector loads.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/cavlc_block.h"

namespace cu264::entropy {

// 0 -> bit 0, 1 -> bit 2 .. 7 -> bit 14.
__device__ inline std::uint32_t spread_bits(std::uint32_t byte) {
  byte = (byte | byte << 4) & 0x0f0fu;
  byte = (byte | byte << 2) & 0x3333u;
  return (byte | byte << 1) & 0x5555u;
}

// Bit k of the result: level k is not zero. `levels` is aligned to 16 bytes.
__device__ inline std::uint32_t nonzero_levels(const std::int16_t* levels) {
  const uint4 low = reinterpret_cast<const uint4*>(levels)[0];
  const uint4 high = reinterpret_cast<const uint4*>(levels)[1];
  const std::uint32_t pairs[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  std::uint32_t found = 0;  // pair j: bit 8 + j for its first level, bit 24 + j for its second
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    // A carry into bit 15 unless the lower 15 bits are zero.
    const std::uint32_t nonzero = (((pairs[j] & 0x7fff7fffu) + 0x7fff7fffu) | pairs[j]) & 0x80008000u;
    found |= nonzero >> (7 - j);
  }
  return spread_bits((found >> 8) & 0xff) | spread_bits(found >> 24) << 1;
}

__device__ inline core::CavlcSymbols load_symbols(const std::int16_t* levels, int max_num_coeff) {
  core::CavlcSymbols symbols;
  symbols.nonzero = symbols.levels = nonzero_levels(levels) & ((1u << max_num_coeff) - 1);
  symbols.total_coeff = core::count_ones(symbols.nonzero);
  while (symbols.trailing_ones < 3 && symbols.levels != 0) {
    const int last = core::highest_bit(symbols.levels);
    if (levels[last] != 1 && levels[last] != -1) break;
    symbols.levels ^= 1u << last;
    ++symbols.trailing_ones;
  }
  return symbols;
}

}  // namespace cu264::entropy
