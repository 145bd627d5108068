// Finds blocks of an inter macroblock whose levels are all zero, many at once. That most of them are is what
// inter prediction is for.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/cost.h"
#include "core/transform.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"

namespace cu264::encoder::CU264_ISA {

// The horizontal half of the forward transform of 4x4 blocks side by side. Coefficients come in the order 0,
// 2, 1, 3.
static inline void forward_across(TwoRows& row) {
  TwoRows mirrored, outer, inner, twice;
  for (int i = 0; i < 32; ++i) {
    mirrored[i] = static_cast<std::int16_t>(i ^ 3);
    outer[i] = (i & 2) != 0 ? -1 : 1;
    inner[i] = (i & 3) == 1 ? -1 : 1;
    twice[i] = (i & 2) == 0 ? 1 : (i & 1) == 0 ? 2 : -2;
  }
  TwoRows partner = row;
  permute(mirrored, partner);
  row = row * outer + partner;  // a + d, b + c, b - c, a - d
  partner = row;
  swap_lanes<1>(partner);
  row = row * inner + partner * twice;
}

// Transforms eight rows of residuals in 4x4 blocks: rows[k] has the coefficients of vertical frequency k of
// the upper blocks, then of the lower ones. Both inputs have rows of sixteen samples.
static inline void transform_eight_rows(const std::uint8_t* source, const std::uint8_t* prediction,
                                        TwoRows (&rows)[4]) {
  for (int i = 0; i < 4; ++i) {
    ByteLanes upper, lower;
    TwoRows predicted;
    load_bytes(source + 16 * i, upper);
    load_bytes(source + 16 * (i + 4), lower);
    widen(upper, lower, rows[i]);
    load_bytes(prediction + 16 * i, upper);
    load_bytes(prediction + 16 * (i + 4), lower);
    widen(upper, lower, predicted);
    rows[i] -= predicted;
  }
  core::forward_1d(rows[0], rows[1], rows[2], rows[3]);
  for (TwoRows& row : rows) forward_across(row);
}

// Whether coefficients reach their limits in the left two columns of 4x4 blocks, and in the right ones.
struct Reaches {
  bool left, right;
};
static inline Reaches reach_limits(const TwoRows (&rows)[4], const std::int16_t (&limits)[4][32]) {
  TwoRows any{};
  for (int k = 0; k < 4; ++k) {
    TwoRows least;
    std::memcpy(&least, limits[k], sizeof least);
    any |= core::absolute(rows[k]) >= least;
  }
  std::uint64_t blocks[8];
  std::memcpy(blocks, &any, sizeof blocks);
  return {(blocks[0] | blocks[1] | blocks[4] | blocks[5]) != 0,
          (blocks[2] | blocks[3] | blocks[6] | blocks[7]) != 0};
}

}  // namespace cu264::encoder::CU264_ISA
