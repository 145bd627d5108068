// Step 1 of GUD-Canny (3.1): smoothing by a separable Gaussian, in fixed point.
//
// Samples are 0 .. 255. Both passes give Q4: sixteenths of a grey level, 0 .. 4080, in 16 bits. The border
// sample is repeated outwards; the paper's zeros would draw a frame around the picture.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::vision {

inline constexpr int kSigmaSteps = 20;  // sigma 0.1, 0.2 .. 2.0, named by its tenths
inline constexpr int kMaxRadius = 6;
inline constexpr int kSmoothedOne = 16;  // a grey level in Q4

// ceil(3 sigma)
CU264_HD int gaussian_radius(int sigma_tenths) {
  return (3 * sigma_tenths + 9) / 10;
}

// The tap at `distance` 0 .. kMaxRadius from the centre, in Q14; zero beyond the radius. Taps are rounded
// to nearest, but for the centre, which makes the whole filter sum to 16384.
CU264_HD int gaussian_tap(int sigma_tenths, int distance) {
  // clang-format off
  static constexpr std::int16_t kTaps[kSigmaSteps][kMaxRadius + 1] = {
      {16384,    0,    0,    0,   0,   0,  0},  // 0.1
      {16384,    0,    0,    0,   0,   0,  0},  // 0.2
      {16258,   63,    0,    0,   0,   0,  0},  // 0.3
      {15060,  662,    0,    0,   0,   0,  0},  // 0.4
      {12888, 1744,    4,    0,   0,   0,  0},  // 0.5
      {10876, 2712,   42,    0,   0,   0,  0},  // 0.6
      { 9336, 3365,  158,    1,   0,   0,  0},  // 0.7
      { 8170, 3741,  359,    7,   0,   0,  0},  // 0.8
      { 7262, 3918,  615,   28,   0,   0,  0},  // 0.9
      { 6536, 3966,  885,   73,   0,   0,  0},  // 1.0
      { 5942, 3931, 1138,  144,   8,   0,  0},  // 1.1
      { 5450, 3849, 1358,  239,  21,   0,  0},  // 1.2
      { 5030, 3742, 1540,  351,  44,   0,  0},  // 1.3
      { 4668, 3618, 1683,  470,  79,   8,  0},  // 1.4
      { 4358, 3490, 1792,  590, 124,  17,  0},  // 1.5
      { 4086, 3362, 1871,  705, 180,  31,  0},  // 1.6
      { 3846, 3234, 1925,  810, 241,  51,  8},  // 1.7
      { 3632, 3113, 1959,  906, 307,  77, 14},  // 1.8
      { 3440, 2997, 1978,  990, 375, 108, 24},  // 1.9
      { 3272, 2887, 1984, 1062, 443, 144, 36},  // 2.0
  };
  // clang-format on
  return kTaps[sigma_tenths - 1][distance];
}

// The horizontal pass: rounds `sum`, of taps (Q14) times samples, to Q4.
CU264_HD int horizontal_rounded(int sum) {
  return (sum + 512) >> 10;
}

// The vertical pass: rounds `sum`, of taps (Q14) times Q4 samples, to Q4.
CU264_HD int vertical_rounded(int sum) {
  return (sum + 8192) >> 14;
}

// The coordinate of 0 .. size - 1 that is nearest to `at`: samples of the border are repeated outwards.
CU264_HD int clamped(int at, int size) {
  return at < 0 ? 0 : at < size ? at : size - 1;
}

}  // namespace cu264::vision
