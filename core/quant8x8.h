// Quantisation of 8x8 blocks and its inverse (H.264 8.5.9, 8.5.13; the forward direction is ours). A level is
// worth the same step as in a 4x4 block, so both sizes share "level units" and the lambdas that follow from
// them (core/quant.h).
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "core/quant.h"

namespace cu264::core {

inline constexpr int kPositionClasses8x8 = 6;

// The class of a position in raster order: the index m of v(m) in 8.5.9.
CU264_HD constexpr int position_class8x8(int raster) {
  const int x = raster & 7, y = raster >> 3;
  const bool odd_x = (x & 1) != 0, odd_y = (y & 1) != 0;
  const bool fourth_x = (x & 3) == 0, fourth_y = (y & 3) == 0;
  if (odd_x && odd_y) return 1;
  if (odd_x || odd_y) return (odd_x ? fourth_y : fourth_x) ? 3 : 5;
  return fourth_x && fourth_y ? 0 : fourth_x || fourth_y ? 4 : 2;
}

// normAdjust8x8 (8.5.9).
CU264_HD int norm_adjust8x8(int qp, int position) {
  static constexpr std::uint8_t table[6][kPositionClasses8x8] = {
      {20, 18, 32, 19, 25, 24}, {22, 19, 35, 21, 28, 26}, {26, 23, 42, 24, 33, 31},
      {28, 25, 45, 26, 35, 33}, {32, 28, 51, 30, 40, 38}, {36, 32, 58, 34, 46, 43}};
  return table[qp % 6][position];
}

// 2^24 over (normAdjust x the transform pair's gain), rounded: the multiplier of the forward direction.
CU264_HD int quant_multiplier8x8(int qp, int position) {
  // The squared norms of the transform's rows are 8 for rows 0 and 4, 5 for 2 and 6, and 289/32 for the
  // others. Here is the gain of a position's class times 1024.
  static constexpr std::uint32_t gain[kPositionClasses8x8] = {65536, 83521, 25600, 73984, 40960, 46240};
  const std::uint64_t divisor =
      static_cast<std::uint64_t>(gain[position]) * static_cast<std::uint64_t>(norm_adjust8x8(qp, position));
  return static_cast<int>(((std::uint64_t{1} << 34) + divisor / 2) / divisor);
}

struct Quantiser8x8 {
  int shift = 0;                              // fractional bits of a scaled coefficient
  int rounding = 0;                           // level_rounding of the shift
  int multiplier[kPositionClasses8x8] = {};   // by position class
  int level_scale[kPositionClasses8x8] = {};  // LevelScale8x8 (8.5.9)
  int qp_per = 0;                             // QP / 6
};

inline constexpr int kShift8x8 = 16;  // Quantiser8x8::shift at QP 0 to 5; one more with every six QPs

CU264_HD Quantiser8x8 make_quantiser8x8(int qp) {
  constexpr int kFlatWeight = 16;  // Flat_8x8_16
  Quantiser8x8 q;
  q.qp_per = qp / 6;
  q.shift = kShift8x8 + q.qp_per;
  q.rounding = level_rounding(q.shift);
  for (int i = 0; i < kPositionClasses8x8; ++i) {
    q.multiplier[i] = quant_multiplier8x8(qp, i);
    q.level_scale[i] = kFlatWeight * norm_adjust8x8(qp, i);
  }
  return q;
}

// The frequencies of an 8x8 block are half as far apart, so each adds half as much.
inline constexpr DeadZone kDeadZoneLuma8x8 = {148, 4};
inline constexpr DeadZone kDeadZoneInterLuma8x8 = {160, 4};

// The counterpart of first_level_at for a position in an 8x8 block in raster order.
CU264_HD int first_level_at8x8(DeadZone zone, int raster, int shift) {
  const int frequency = (raster & 7) + (raster >> 3);
  return ((zone.first_level + zone.rise * frequency) << (shift - 8)) + level_rounding(shift);
}

// A level to a coefficient (8.5.13).
CU264_HD int dequantise8x8(int level, int level_scale, int qp_per) {
  if (qp_per >= 6) return level * level_scale * (1 << (qp_per - 6));
  return (level * level_scale + (1 << (5 - qp_per))) >> (6 - qp_per);
}

}  // namespace cu264::core
