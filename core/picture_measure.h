// The measure of a picture that rate control plans with: how much of its blocks, predicted from source
// samples and transformed, would survive quantisation at every QP.
//
// Each coefficient has a strength: its magnitude divided by the smallest magnitude that survives quantisation
// at QP 0. It survives at QP q if its strength is at least 2^(q / 6), and every doubling of the strength
// above that adds one bit to its level. So one histogram of strengths gives the number of levels and the sum
// of their logarithms at every QP. The strengths of four groups of coefficients tell blocks with many levels
// from blocks with a few levels far apart, most of which mode decision does not code. What Intra_4x4 saves in
// each macroblock tells how many macroblocks take Intra_16x16, whose modes cost little. All counts are sums
// of integers, so the order in which blocks are measured does not matter.
//
// With adaptive quantisation by variance, strengths are divided by 2^(offset / 6), where `offset` is the
// macroblock's weight in steps of QP. Encoding takes the offset relative to the picture's mean, which is
// known only once all macroblocks have been measured; the mean then shifts the histogram as a whole.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/hd.h"
#include "core/intra_pred.h"
#include "core/quant.h"
#include "core/transform.h"

namespace cu264::core {

// Bin b of a histogram begins at strength (1 + b % 4 / 4) * 2^(b / 4 + kMeasureFirstOctave), where
// kStrengthOfQp0 stands for QP 0.
inline constexpr int kMeasureBins = 64;
inline constexpr int kMeasureBinsPerOctave = 4;
inline constexpr int kMeasureFirstOctave = 8;
inline constexpr int kStrengthOfQp0 = 1480;
inline constexpr int kMaxWeightSteps = 30;

// Lists what the histograms count.
enum Measured : int {
  kLumaLevels,     // coefficients of 4x4 blocks
  kLumaTwoGroups,  // 4x4 blocks, by the second strongest of their four groups
  kLumaAllGroups,  // 4x4 blocks, by the weakest group
  kSplits,         // macroblocks, by what Intra_4x4 saves
  kChromaLevels,   // coefficients, DC and AC
  kChromaBlocks,   // blocks, DC and AC, by their strongest coefficient
  kMeasured
};

struct PictureMeasure {
  std::uint32_t macroblocks = 0;  // of the picture
  std::uint32_t measured = 0;     // of these
  std::uint64_t activity = 0;     // sum of the costs of 4x4 luma blocks
  std::int64_t weights = 0;       // sum of log2 of the variance of macroblocks, Q8, above that of a flat one
  std::int32_t aq_strength = 0;   // Q8, of adaptive quantisation by variance; 0: strengths are not divided
  std::uint32_t histogram[kMeasured][kMeasureBins] = {};
};

// In a large picture every fourth macroblock of a row is measured, and each column once in four rows. A
// picture of fewer than 3600 macroblocks (1280x720) is measured completely, because a quarter of so few would
// tell too little.
struct MeasuredPlaces {
  int step;     // in a row
  int per_row;  // places of a row; the last may lie outside the picture
};

CU264_HD MeasuredPlaces measured_places(int mb_width, int mb_height) {
  const int step = mb_width * mb_height < 3600 ? 1 : 4;
  return {step, (mb_width + step - 1) / step};
}

// The column of the macroblock in place `at` of a row.
CU264_HD int column_of_place(const MeasuredPlaces& places, int at, int mb_y) {
  constexpr int kFirstOfRows = 0x3120;  // 0, 2, 1, 3
  return places.step * at + (places.step == 1 ? 0 : kFirstOfRows >> (4 * (mb_y & 3)) & 3);
}

// The measure of both parts of a picture.
CU264_HD PictureMeasure sum_of_measures(const PictureMeasure& a, const PictureMeasure& b) {
  PictureMeasure sum = a;
  sum.measured += b.measured, sum.activity += b.activity, sum.weights += b.weights;
  for (int what = 0; what < kMeasured; ++what) {
    for (int bin = 0; bin < kMeasureBins; ++bin) sum.histogram[what][bin] += b.histogram[what][bin];
  }
  return sum;
}

// ---- strengths

// The factors by which the magnitude of a coefficient is multiplied to give its strength: the quantiser's
// multiplier of its position class over the limit of the dead zone at its frequency, 1024 for DC.
struct StrengthMultipliers {
  int of[16] = {};

  constexpr StrengthMultipliers() {
    constexpr int kMultiplier[3] = {13107, 5243, 8066};  // quant_multiplier of QP 0
    for (int i = 0; i < 16; ++i) {
      const int x = i & 3, y = i >> 2, odd = (x & 1) + (y & 1);
      const int limit = kDeadZoneLuma.first_level + kDeadZoneLuma.rise * (x + y);
      const int multiplier = kMultiplier[odd == 0 ? 0 : odd == 2 ? 1 : 2];
      of[i] = (1024 * kDeadZoneLuma.first_level * multiplier + limit * (kMultiplier[0] / 2)) /
              (limit * kMultiplier[0]);
    }
  }
};

CU264_HD constexpr int strength_multiplier(int raster) {
  constexpr StrengthMultipliers kMultipliers;
  return kMultipliers.of[raster];
}

// 2^(-steps / 6) with eight fractional bits, for 0 <= steps <= kMaxWeightSteps.
CU264_HD int strength_scale(int steps) {
  static constexpr std::uint16_t table[6] = {256, 228, 203, 181, 161, 144};
  return table[steps % 6] >> (steps / 6);
}

// The strength of a coefficient in a macroblock of this scale, below 2^24. Levels of DC transforms have
// `extra_shift` more fractional bits.
CU264_HD int strength_of(int coefficient, int raster, int scale, int extra_shift = 0) {
  const int multiplier = (strength_multiplier(raster) * scale + 128) >> 8;
  return ((coefficient < 0 ? -coefficient : coefficient) * multiplier) >> extra_shift;
}

// The strength of a macroblock's case for Intra_4x4, whose modes take about 24 bits more. It survives at the
// QPs where those bits cost less than Intra_4x4 saves over Intra_16x16. Like the quantiser's step, lambda
// doubles every six QPs.
CU264_HD int split_strength(int saved, int scale) {
  constexpr int kMaxSaved = (1 << 18) - 1;
  return (saved < 0 ? 0 : saved > kMaxSaved ? kMaxSaved : saved) * scale >> 2;
}

// The bin of a strength below 2^24, or less than 0 if it is weaker than all bins.
CU264_HD int strength_bin(int strength) {
  // Takes the exponent and the first mantissa bits of a float as an integer. A float holds every integer
  // below 2^24 exactly, so nothing is rounded.
  const float value = static_cast<float>(strength);
  std::int32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits >> 21) - kMeasureBinsPerOctave * (127 + kMeasureFirstOctave);
}

// The group of a coefficient in raster order: its place in the zigzag scan modulo four.
CU264_HD constexpr int coefficient_group(int raster) {
  constexpr int kGroups[16] = {0, 1, 1, 2, 2, 0, 3, 0, 3, 0, 3, 1, 1, 2, 2, 3};
  return kGroups[raster];
}

CU264_HD int greater(int a, int b) {
  return a > b ? a : b;
}
CU264_HD int lesser(int a, int b) {
  return a < b ? a : b;
}

// Counts a luma block's residual. Sink has count(Measured, strength).
template <class Sink>
CU264_FLOW void count_luma_block(const int (&x)[16], int scale, Sink& sink) {
  int group[4] = {};
  for (int i = 0; i < 16; ++i) {
    const int strength = strength_of(x[i], i, scale);
    sink.count(kLumaLevels, strength);
    group[coefficient_group(i)] = greater(group[coefficient_group(i)], strength);
  }
  const int high = greater(group[0], group[1]), low = lesser(group[0], group[1]);
  const int other_high = greater(group[2], group[3]), other_low = lesser(group[2], group[3]);
  sink.count(kLumaTwoGroups, greater(lesser(high, other_high), greater(low, other_low)));
  sink.count(kLumaAllGroups, lesser(low, other_low));
}

// Counts the AC coefficients of a chroma block.
template <class Sink>
CU264_FLOW void count_chroma_ac(const int (&x)[16], int scale, Sink& sink) {
  int greatest = 0;
  for (int i = 1; i < 16; ++i) {
    const int strength = strength_of(x[i], i, scale);
    sink.count(kChromaLevels, strength);
    greatest = greater(greatest, strength);
  }
  sink.count(kChromaBlocks, greatest);
}

// ---- prediction from source samples, in the domain of the transform

// A block's neighbours above and to the left, transformed. Each predicts values that are constant along one
// direction, so its prediction affects a single row or column of coefficients.
struct LineCoefficients {
  int above[4];  // of vertical prediction, at 0 .. 3
  int left[4];   // of horizontal prediction, at 0, 4, 8, 12
};

CU264_HD LineCoefficients line_coefficients(const int (&above)[4], const int (&left)[4]) {
  LineCoefficients line;
  for (int i = 0; i < 4; ++i) line.above[i] = 4 * above[i], line.left[i] = 4 * left[i];
  forward_1d(line.above[0], line.above[1], line.above[2], line.above[3]);
  forward_1d(line.left[0], line.left[1], line.left[2], line.left[3]);
  return line;
}

enum class LineMode { dc, vertical, horizontal };

struct LineCosts {
  int dc = 0;
  int vertical = 0;
  int horizontal = 0;
};

CU264_HD LineCosts sum_of_costs(const LineCosts& a, const LineCosts& b) {
  return {a.dc + b.dc, a.vertical + b.vertical, a.horizontal + b.horizontal};
}

// The magnitude of a coefficient, weighted by the norm of its basis function: five times for DC.
CU264_HD int weighted(int coefficient, int raster) {
  constexpr int kWeight[3] = {5, 2, 3};
  const int odd = (raster & 1) + ((raster >> 2) & 1);
  return (coefficient < 0 ? -coefficient : coefficient) * kWeight[odd == 0 ? 0 : odd == 2 ? 1 : 2];
}

// The sums of the weighted magnitudes that remain after each prediction. `x` is the transformed source, and
// `dc` the DC value.
CU264_HD LineCosts line_costs(const int (&x)[16], const LineCoefficients& line, int dc) {
  int inner = 0, row = 0, column = 0, row_left = 0, column_left = 0;
  for (int i = 5; i < 16; ++i) {
    if (i % 4 != 0) inner += weighted(x[i], i);
  }
  for (int i = 1; i < 4; ++i) {
    row += weighted(x[i], i), column += weighted(x[4 * i], 4 * i);
    row_left += weighted(x[i] - line.above[i], i);
    column_left += weighted(x[4 * i] - line.left[i], 4 * i);
  }
  return {inner + row + column + weighted(x[0] - 16 * dc, 0),
          inner + column + row_left + weighted(x[0] - line.above[0], 0),
          inner + row + column_left + weighted(x[0] - line.left[0], 0)};
}

CU264_HD void subtract_line(int (&x)[16], const LineCoefficients& line, int dc, LineMode mode) {
  const int vertical = mode == LineMode::vertical ? 1 : 0, horizontal = mode == LineMode::horizontal ? 1 : 0;
  x[0] -= mode == LineMode::vertical ? line.above[0] : mode == LineMode::horizontal ? line.left[0] : 16 * dc;
  for (int i = 1; i < 4; ++i) x[i] -= vertical * line.above[i], x[4 * i] -= horizontal * line.left[i];
}

// The lowest cost among predictions whose neighbours exist; a tie goes to the first of DC, vertical,
// horizontal.
CU264_HD LineMode best_line(const LineCosts& costs, bool has_above, bool has_left) {
  LineMode mode = LineMode::dc;
  int least = costs.dc;
  if (has_above && costs.vertical < least) least = costs.vertical, mode = LineMode::vertical;
  if (has_left && costs.horizontal < least) mode = LineMode::horizontal;
  return mode;
}

CU264_HD int cost_of(const LineCosts& costs, LineMode mode) {
  return mode == LineMode::dc ? costs.dc : mode == LineMode::vertical ? costs.vertical : costs.horizontal;
}

CU264_HD int sum_of(const int (&line)[4]) {
  return line[0] + line[1] + line[2] + line[3];
}

// The DC value of a 4x4 luma block (H.264 8.3.1.2.3).
CU264_HD int luma_block_dc(const int (&above)[4], const int (&left)[4], bool has_above, bool has_left) {
  if (has_above && has_left) return (sum_of(above) + sum_of(left) + 4) >> 3;
  if (has_above) return (sum_of(above) + 2) >> 2;
  if (has_left) return (sum_of(left) + 2) >> 2;
  return 128;
}

// Subtracts the best prediction from a transformed luma block. Returns the cost of what remains.
CU264_HD int predict_luma_block(int (&x)[16], const int (&above)[4], const int (&left)[4], bool has_above,
                                bool has_left) {
  const int dc = luma_block_dc(above, left, has_above, has_left);
  const LineCoefficients line = line_coefficients(above, left);
  const LineCosts costs = line_costs(x, line, dc);
  const LineMode mode = best_line(costs, has_above, has_left);
  subtract_line(x, line, dc, mode);
  return cost_of(costs, mode);
}

}  // namespace cu264::core
