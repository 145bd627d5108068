// core::SourceActivity of a macroblock, on vector lanes.
#pragma once

#include <cstdint>

#include "core/searched_sizes.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"

namespace cu264::encoder::CU264_ISA {

// `source` has sixteen rows of sixteen samples.
static inline core::SourceActivity measure_activity(const std::uint8_t (&source)[16][16]) {
  constexpr Lanes kSwapQuads = {4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11};
  int by4x4 = 0, by8x8 = 0, samples = 0;
  for (int half = 0; half < 2; ++half) {
    Lanes rows[2][4];  // of the upper and of the lower 4x4 blocks, then their coefficients
    UnsignedLanes small{}, large{};
    for (int y = 0; y < 8; ++y) load_samples(source[8 * half + y], rows[y >> 2][y & 3]);
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
        permute(kSwapQuads, there);
        large += reinterpret_cast<UnsignedLanes>(here > there ? here : there);
      }
    }
    by4x4 += sum(small);
    by8x8 += sum(large);
    // The first coefficient of a 4x4 block is the sum of its samples.
    for (int x = 0; x < 16; x += 4) samples += rows[0][0][x] + rows[1][0][x];
  }
  return {2 * (by4x4 - samples), by8x8 - samples};
}

}  // namespace cu264::encoder::CU264_ISA
