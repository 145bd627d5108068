// Quantisation with scaling lists that are not flat (H.264 8.5.9): the weight w of a position multiplies its
// step by w / 16. A level unit (core/quant.h) is then a position's own step, so dead zones and RDOQ weigh
// errors by frequency, as the lists intend.
//
// Everything fits in 32 bits for all weights from 1 to 255, QPs and residuals of 8-bit samples:
// - The largest coefficients of a 4x4 block are 16, 36 and 24 times 255 by position class. With the weight 1
//   the multipliers are 209712, 83888 and 129056 at most, and the products stay below 2^30.
// - Those of an 8x8 block are up to 64 x 255, and the products would exceed 2^31. Therefore a scaled value
//   has one fractional bit less than with flat lists (kWeightedShift8x8).
// - DC coefficients after a Hadamard transform are up to sixteen times as large; see scaled_dc in
//   core/quant.h.
// - A level times its scale is below 2063 x 255 x 29 x 2^5 (4x4) and 2063 x 255 x 58 x 2^2 (8x8); levels that
//   the quantiser gives are far below that where the shift is not 0.
#pragma once

#include "core/hd.h"
#include "core/quant.h"
#include "core/quant8x8.h"

namespace cu264::core {

inline constexpr int kFlatWeight = 16;

// Where a weight is below 16, levels are larger: with 1, sixteen times, so that they reach kMaxLevel at QPs
// that are higher by 24 (core/pcm_decision.h), in AC coefficients too.
inline constexpr int kLastWeightedClippingQp = 9 + 24;

// The forward multiplier of a 4x4 position: 16 / weight times the flat one, rounded.
CU264_HD int weighted_multiplier(int flat_multiplier, int weight) {
  return (kFlatWeight * flat_multiplier + weight / 2) / weight;
}

inline constexpr int kWeightedShift8x8 = kShift8x8 - 1;

// The same for 8x8, with one fractional bit less.
CU264_HD int weighted_multiplier8x8(int flat_multiplier, int weight) {
  return (kFlatWeight / 2 * flat_multiplier + weight / 2) / weight;
}

// A level of a 4x4 block becomes the coefficient (level * weighted_dequant + rounding) >> shift (8.5.12.1).
struct WeightedInverse {
  int rounding;
  int shift;
};

CU264_HD WeightedInverse weighted_inverse(int qp) {
  const int qp_per = qp / 6;
  if (qp_per >= 4) return {0, 0};
  return {1 << (3 - qp_per), 4 - qp_per};
}

// LevelScale4x4 of a position in raster order, with the power of two that follows it above QP 23.
CU264_HD int weighted_dequant(int qp, int raster, int weight) {
  const int qp_per = qp / 6, level_scale = weight * dequant_scale(qp, position_class(raster));
  return qp_per >= 4 ? level_scale << (qp_per - 4) : level_scale;
}

CU264_HD int dequantise_weighted(int level, int dequant, WeightedInverse inverse) {
  return (level * dequant + inverse.rounding) >> inverse.shift;
}

// Quantiser::dc_dequant for the weight of the DC coefficient.
CU264_HD int weighted_dc_dequant(int qp, int weight) {
  return weight * dequant_scale(qp, 0);
}

// LevelScale8x8 of a position in raster order, for dequantise8x8.
CU264_HD int weighted_level_scale8x8(int qp, int raster, int weight) {
  return weight * norm_adjust8x8(qp, position_class8x8(raster));
}

}  // namespace cu264::core
