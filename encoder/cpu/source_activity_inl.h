// SATD with 4x4 and with 8x8 transforms, and core::SourceActivity of a macroblock, on vector lanes.
#pragma once

#include <cstdint>

#include "core/searched_sizes.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"

namespace cu264::encoder::CU264_ISA {

// The sums of core::satd4x4 and of core::satd8x8 over 8x8 blocks.
struct SatdOfSizes {
  int by4x4, by8x8;
};

// Transforms two 8x8 blocks side by side and adds up their coefficients. `rows` holds the rows of the upper
// and of the lower 4x4 blocks at first, and their coefficients afterwards.
static inline SatdOfSizes satd_of_sizes(Lanes (&rows)[2][4]) {
  UnsignedLanes small{}, large{};
  for (auto& of_blocks : rows) {
    hadamard_blocks(of_blocks);
    for (const Lanes& r : of_blocks) small += reinterpret_cast<UnsignedLanes>(core::absolute(r));
  }
  // An 8x8 coefficient is a sum or difference of the same coefficient of the four 4x4 blocks, and half of
  // |a + b| + |a - b| is the larger magnitude.
  for (int k = 0; k < 4; ++k) {
    for (const Lanes& beside : {rows[0][k] + rows[1][k], rows[0][k] - rows[1][k]}) {
      const Lanes here = core::absolute(beside);
      Lanes there = here;
      swap_lanes<4>(there);
      large += reinterpret_cast<UnsignedLanes>(here > there ? here : there);
    }
  }
  return {sum(small), sum(large) / 2};
}

// `source` has sixteen rows of sixteen samples.
static inline core::SourceActivity measure_activity(const std::uint8_t (&source)[16][16]) {
  int by4x4 = 0, by8x8 = 0, samples = 0;
  for (int half = 0; half < 2; ++half) {
    Lanes rows[2][4];
    for (int y = 0; y < 8; ++y) load_samples(source[8 * half + y], rows[y >> 2][y & 3]);
    const SatdOfSizes satd = satd_of_sizes(rows);
    by4x4 += satd.by4x4;
    by8x8 += 2 * satd.by8x8;
    // The first coefficient of a 4x4 block is the sum of its samples.
    for (int x = 0; x < 16; x += 4) samples += rows[0][0][x] + rows[1][0][x];
  }
  return {2 * (by4x4 - samples), by8x8 - samples};
}

}  // namespace cu264::encoder::CU264_ISA
