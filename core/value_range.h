// The ranges that H.264 8.5.10 to 8.5.13 demand of a stream: coefficients and all values of the inverse
// transforms fit in 16 bits for 8-bit samples, and decoders rely on it. With scaling lists the step of a
// position can be larger than the whole range, and single levels can be clipped to kMaxLevel, so an inverse
// transform may end up far from the residual. Therefore each macroblock is checked, and one that leaves the
// range becomes I_PCM (core/pcm_decision.h).
#pragma once

#include <cstdint>

#include "core/cost.h"
#include "core/hd.h"
#include "core/transform.h"

namespace cu264::core {

inline constexpr int kMinResidualValue = -(1 << 15), kMaxResidualValue = (1 << 15) - 1;

CU264_HD bool is_residual_value(int value) {
  return value >= kMinResidualValue && value <= kMaxResidualValue;
}

// A number for the templates of core/transform.h that remembers whether an intermediate sum has left the
// range. It also checks the differences inside a sum, which the standard does not require.
struct RangedValue {
  int value = 0;
  bool left = false;

  CU264_HD_MEMBER RangedValue operator+(RangedValue b) const { return of(value + b.value, left || b.left); }
  CU264_HD_MEMBER RangedValue operator-(RangedValue b) const { return of(value - b.value, left || b.left); }
  CU264_HD_MEMBER RangedValue operator+(int b) const { return of(value + b, left); }
  CU264_HD_MEMBER RangedValue operator>>(int b) const { return {value >> b, left}; }

 private:
  static CU264_HD_MEMBER RangedValue of(int sum, bool was_left) {
    return {sum, was_left || !is_residual_value(sum)};
  }
};

namespace ranged {

// Fills `x` and adds up the magnitudes in `sum`. Returns whether a value is out of range already.
template <int size>
CU264_HD bool load(const std::int32_t (&values)[size], RangedValue (&x)[size], std::int64_t& sum) {
  bool left = false;
  sum = 0;
  for (int i = 0; i < size; ++i) {
    x[i].value = values[i];
    left = left || !is_residual_value(values[i]);
    sum += absolute(values[i]);
  }
  return left;
}

template <int size>
CU264_HD bool any_left(const RangedValue (&x)[size]) {
  bool left = false;
  for (int i = 0; i < size; ++i) left = left || x[i].left;
  return left;
}

inline constexpr int kRoom = 64;  // for what halves lose by rounding, and for the rounding at the end

}  // namespace ranged

// The DC coefficients of a macroblock's blocks from the levels of a DC block, by hadamard(values) in place
// and dequantise(value). Returns whether an intermediate value leaves the range.
template <int size, class Hadamard, class Dequantise>
CU264_FLOW bool dc_leaves_range(const std::int32_t (&levels)[size], const Hadamard& hadamard,
                                const Dequantise& dequantise, std::int32_t (&dc)[size]) {
  RangedValue values[size];
  for (int i = 0; i < size; ++i) values[i].value = levels[i];
  hadamard(values);
  bool left = false;
  for (int i = 0; i < size; ++i) {
    dc[i] = dequantise(values[i].value);
    left = left || values[i].left || !is_residual_value(dc[i]);
  }
  return left;
}

// Tells whether the inverse transform of these coefficients leaves the range. Most blocks cannot, because no
// value is larger than the sum of the magnitudes, or 9/4 of it with the 8x8 transform, whose factors are up
// to 3/2.
CU264_HD bool leaves_range4x4(const std::int32_t (&coefficients)[16]) {
  RangedValue x[16];
  std::int64_t sum = 0;
  if (ranged::load(coefficients, x, sum)) return true;
  if (sum + ranged::kRoom <= kMaxResidualValue) return false;
  inverse_transform4x4(x);
  return ranged::any_left(x);
}

CU264_HD bool leaves_range8x8(const std::int32_t (&coefficients)[64]) {
  RangedValue x[64];
  std::int64_t sum = 0;
  if (ranged::load(coefficients, x, sum)) return true;
  if (9 * sum / 4 + ranged::kRoom <= kMaxResidualValue) return false;
  inverse_transform8x8(x);
  return ranged::any_left(x);
}

}  // namespace cu264::core
