// Quantisation and its inverse for flat scaling matrices (H.264 8.5.9 to 8.5.12; the forward direction is
// ours). core/weighted_quant.h has what differs with other matrices.
//
// A level is worth the same step in the picture whatever its position: in "level units" (the coefficient
// divided by the quantiser's step, transform norms included) squared error is the picture's squared error
// over step^2. The fixed-point value before rounding is called `scaled`: |coefficient| * multiplier, with
// `shift` fractional bits.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

// Largest |level| that level_prefix <= 15 can carry whatever the state of the level coder (H.264 9.2.2.1):
// what Baseline can code, so levels are clipped here and the reconstruction agrees.
inline constexpr int kMaxLevel = 2063;

// QP_C for a QP_I of 0..51 (H.264 table 8-15).
CU264_HD int chroma_qp(int qp) {
  static constexpr std::uint8_t above29[22] = {29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36,
                                               36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39};
  return qp < 30 ? qp : above29[qp - 30];
}

// Position classes of a 4x4 coefficient: 0 both coordinates even, 1 both odd, 2 otherwise.
CU264_HD int position_class(int raster) {
  const int odd = (raster & 1) + ((raster >> 2) & 1);
  return odd == 0 ? 0 : odd == 2 ? 1 : 2;
}

// normAdjust4x4 (H.264 8.5.9), which is also LevelScale4x4 / 16 for the flat matrix.
CU264_HD int dequant_scale(int qp, int position) {
  static constexpr std::uint8_t table[6][3] = {{10, 16, 13}, {11, 18, 14}, {13, 20, 16},
                                               {14, 23, 18}, {16, 25, 20}, {18, 29, 23}};
  return table[qp % 6][position];
}

// 2^21 over (normAdjust x the transform pair's gain), rounded: the multiplier of the forward direction.
CU264_HD int quant_multiplier(int qp, int position) {
  static constexpr std::uint16_t table[6][3] = {{13107, 5243, 8066}, {11916, 4660, 7490}, {10082, 4194, 6554},
                                                {9362, 3647, 5825},  {8192, 3355, 5243},  {7282, 2893, 4559}};
  return table[qp % 6][position];
}

struct Quantiser {
  int shift = 0;           // fractional bits of a scaled 4x4 coefficient
  int rounding = 0;        // level_rounding of the shift
  int multiplier[3] = {};  // by position class
  int dequant[3] = {};     // by position class, QP / 6 applied
  int dc_dequant = 0;      // LevelScale4x4(QP % 6, 0, 0)
  int qp_per = 0;          // QP / 6
};

// What is added, outside RDOQ, to a scaled value before its fraction is cut off. It puts the limit between
// two levels at 9/16 of a step.
CU264_HD int level_rounding(int shift) {
  return 7 << (shift - 4);
}

CU264_HD Quantiser make_quantiser(int qp) {
  Quantiser q;
  q.qp_per = qp / 6;
  q.shift = 15 + q.qp_per;
  q.rounding = level_rounding(q.shift);
  for (int i = 0; i < 3; ++i) {
    q.multiplier[i] = quant_multiplier(qp, i);
    q.dequant[i] = dequant_scale(qp, i) << q.qp_per;
  }
  q.dc_dequant = 16 * dequant_scale(qp, 0);
  return q;
}

// DC levels pass a further Hadamard transform: 4x4 luma has two more fractional bits, 2x2 chroma one more.
inline constexpr int kLumaDcExtraShift = 2;
inline constexpr int kChromaDcExtraShift = 1;

// A DC coefficient as a scaled value without its four lowest fractional bits, so that it fits in 32 bits with
// any scaling list. The level is still exact, because the limits between levels are multiples of the part
// that is cut off.
inline constexpr int kDcBitsCut = 4;

CU264_HD int scaled_dc(int magnitude, int multiplier) {
  return static_cast<int>(static_cast<std::int64_t>(magnitude) * multiplier >> kDcBitsCut);
}

CU264_HD int quantise(int scaled, int shift, int rounding) {
  const int level = (scaled + rounding) >> shift;
  return level < kMaxLevel ? level : kMaxLevel;
}

// The quantiser outside RDOQ. It has a limit of its own for what becomes zero: the step from zero to one
// costs the most bits, and it costs more at higher frequencies because of the run of zeros before it.
struct DeadZone {
  int first_level;  // the smallest scaled value that becomes a level, at frequency 0, in 256ths of a step
  int rise;         // what is added with every frequency
};
inline constexpr DeadZone kDeadZoneLuma = {148, 8};
inline constexpr DeadZone kDeadZoneChroma = {148, 4};
inline constexpr DeadZone kDeadZoneInterLuma = {160, 8};
inline constexpr DeadZone kDeadZoneInterChroma = {160, 4};

// The limit for a position in raster order; its frequency is the sum of its coordinates. DC blocks use
// position 0. The rounding is included, so that one sum is compared and gives the level.
CU264_HD int first_level_at(DeadZone zone, int raster, int shift) {
  const int frequency = (raster & 3) + (raster >> 2);
  return ((zone.first_level + zone.rise * frequency) << (shift - 8)) + level_rounding(shift);
}

CU264_HD int quantise_with_dead_zone(int scaled, int shift, int rounding, int first_level) {
  return scaled + rounding < first_level ? 0 : quantise(scaled, shift, rounding);
}

// Levels of Intra16x16DCLevel after the inverse Hadamard transform, to coefficients (8.5.10).
CU264_HD int dequantise_luma_dc(int value, const Quantiser& q) {
  if (q.qp_per >= 6) return value * q.dc_dequant * (1 << (q.qp_per - 6));
  return (value * q.dc_dequant + (1 << (5 - q.qp_per))) >> (6 - q.qp_per);
}

// Levels of ChromaDCLevel of 4:2:0 after the inverse Hadamard transform, to coefficients (8.5.11.2).
CU264_HD int dequantise_chroma_dc(int value, const Quantiser& q) {
  return (value * q.dc_dequant * (1 << q.qp_per)) >> 5;
}

}  // namespace cu264::core
