// Intra prediction (H.264 8.3): the sample values, as functions of the neighbouring reconstructed samples.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"

namespace cu264::core {

// ---- Intra_4x4 (8.3.1.2)
// ------------------------------------------------------------------------------------------
// The thirteen neighbours of a block lie on one bent line, whose end samples are repeated so that the filters
// need no special case there:
//   index   0  1  2  3  4  5  6  7 .. 13 14
//   sample L3 L3 L2 L1 L0  M T0 T1 .. T7 T7
// Every sample that a mode predicts is a neighbour, a mean of two or three adjacent neighbours, or the DC
// value. So all nine predictions are look-ups in one table of values.
inline constexpr int kIntra4x4LineLeft = 4;  // L(y) is at 4 - y
inline constexpr int kIntra4x4LineCorner = 5;
inline constexpr int kIntra4x4LineTop = 6;  // T(x) is at 6 + x
inline constexpr int kIntra4x4LineLength = 15;

inline constexpr int kIntra4x4Pair = 16;    // values[16 + i]: mean of line[i], line[i + 1]
inline constexpr int kIntra4x4Triple = 32;  // values[32 + i]: (1 2 1) filter of line[i .. i + 2]
inline constexpr int kIntra4x4DcValue = 48;
inline constexpr int kIntra4x4Values = 49;

struct Intra4x4Neighbours {
  bool left = false;
  bool above = false;
  bool corner = false;
};

// Computes the values that predictions are taken from. Where a neighbour is unavailable `line` must still
// hold a defined sample, of any value, because no mode that intra4x4_mode_available admits reads it. T4..T7
// repeat T3 where they do not exist (8.3.1.2).
template <class Pixel>
CU264_HD void intra4x4_values(const Pixel (&line)[kIntra4x4LineLength + 1], Intra4x4Neighbours available,
                              int bit_depth, Pixel (&values)[kIntra4x4Values]) {
  for (int i = 0; i < 16; ++i) values[i] = line[i];
  for (int i = 0; i < 15; ++i)
    values[kIntra4x4Pair + i] = static_cast<Pixel>((line[i] + line[i + 1] + 1) >> 1);
  for (int i = 0; i < 14; ++i) {
    values[kIntra4x4Triple + i] = static_cast<Pixel>((line[i] + 2 * line[i + 1] + line[i + 2] + 2) >> 2);
  }
  values[kIntra4x4Pair + 15] = values[kIntra4x4Triple + 14] = values[kIntra4x4Triple + 15] = 0;
  const int left = line[1] + line[2] + line[3] + line[4];
  const int above = line[6] + line[7] + line[8] + line[9];
  int dc = 1 << (bit_depth - 1);
  if (available.left && available.above) {
    dc = (left + above + 4) >> 3;
  } else if (available.left) {
    dc = (left + 2) >> 2;
  } else if (available.above) {
    dc = (above + 2) >> 2;
  }
  values[kIntra4x4DcValue] = static_cast<Pixel>(dc);
}

// Index of the value that predicts sample (x, y) (8.3.1.2.1 to 8.3.1.2.9).
CU264_HD constexpr int intra4x4_source(int mode, int x, int y) {
  switch (mode) {
    case kIntra4x4Vertical:
      return kIntra4x4LineTop + x;
    case kIntra4x4Horizontal:
      return kIntra4x4LineLeft - y;
    case kIntra4x4DiagonalDownLeft:
      return kIntra4x4Triple + 6 + x + y;
    case kIntra4x4DiagonalDownRight:
      return kIntra4x4Triple + 4 + x - y;
    case kIntra4x4VerticalRight: {
      const int z = 2 * x - y, k = x - (y >> 1);
      if (z < -1) return kIntra4x4Triple + 5 - y;
      if (z == -1) return kIntra4x4Triple + 4;
      return z % 2 == 0 ? kIntra4x4Pair + 5 + k : kIntra4x4Triple + 4 + k;
    }
    case kIntra4x4HorizontalDown: {
      const int z = 2 * y - x, k = y - (x >> 1);
      if (z < -1) return kIntra4x4Triple + 3 + x;
      if (z == -1) return kIntra4x4Triple + 4;
      return z % 2 == 0 ? kIntra4x4Pair + 4 - k : kIntra4x4Triple + 4 - k;
    }
    case kIntra4x4VerticalLeft: {
      const int k = x + (y >> 1);
      return y % 2 == 0 ? kIntra4x4Pair + 6 + k : kIntra4x4Triple + 6 + k;
    }
    case kIntra4x4HorizontalUp: {
      const int z = x + 2 * y, k = y + (x >> 1);
      if (z > 5) return 0;
      return z % 2 == 0 ? kIntra4x4Pair + 3 - k : kIntra4x4Triple + 2 - k;
    }
    default:
      return kIntra4x4DcValue;
  }
}

CU264_HD constexpr bool intra4x4_mode_available(int mode, Intra4x4Neighbours available) {
  switch (mode) {
    case kIntra4x4Dc:
      return true;
    case kIntra4x4Vertical:
    case kIntra4x4DiagonalDownLeft:
    case kIntra4x4VerticalLeft:
      return available.above;
    case kIntra4x4Horizontal:
    case kIntra4x4HorizontalUp:
      return available.left;
    default:
      return available.left && available.above && available.corner;
  }
}

// The modes that read the samples above and to the right (8.3.1.2.4, 8.3.1.2.8).
CU264_HD bool intra4x4_reads_above_right(int mode) {
  return mode == kIntra4x4DiagonalDownLeft || mode == kIntra4x4VerticalLeft;
}

// Returns whether the samples above and to the right of a block are available (6.4.11.4). They may not be
// coded yet, or they may lie in the macroblock above (`above`: it is available) or above and to the right
// (`above_right`).
CU264_HD constexpr bool intra4x4_above_right_available(int luma4x4BlkIdx, bool above, bool above_right) {
  if (luma4x4BlkIdx == 5) return above_right;
  if (luma_block_y(luma4x4BlkIdx) == 0) return above;
  return ((1 << luma4x4BlkIdx) & ((1 << 3) | (1 << 7) | (1 << 11) | (1 << 13) | (1 << 15))) == 0;
}

// Returns whether the search leaves out the modes that read the samples above and to the right of a block.
// For block 5 these samples belong to the macroblock above and to the right, if it is available
// (`above_right`). Without them a row of macroblocks follows the row above at a distance of one macroblock
// instead of two, and a wavefront takes a quarter fewer steps. With the 8x8 transform they are read after
// all: most Intra_8x8 modes of the upper right block use them, and without them a third of the gain of
// Intra_8x8 would be lost.
CU264_HD constexpr bool intra4x4_avoids_above_right(int luma4x4BlkIdx, bool above_right) {
  return luma4x4BlkIdx == 5 && above_right;
}

// ---- Intra_16x16 (8.3.3) and chroma (8.3.4)
// -----------------------------------------------------------------------

// The plane predictor: sample (x, y) is clip((a + b * (x - centre) + c * (y - centre) + 16) >> 5).
struct PlanePrediction {
  int a = 0;
  int b = 0;
  int c = 0;
};

// b or c from the weighted sum of the differences along one side (8.3.3.4, 8.3.4.4).
CU264_HD int intra16x16_slope(int sum) {
  return (5 * sum + 32) >> 6;
}
CU264_HD int intra_chroma_slope(int sum) {
  return (34 * sum + 32) >> 6;
}

// Returns the plane of 16x16 luma (8.3.3.4). Both `above[-1]` and `left[-1]` are the corner sample.
template <class Pixel>
CU264_HD PlanePrediction intra16x16_plane(const Pixel* above, const Pixel* left) {
  int h = 0, v = 0;
  for (int i = 1; i <= 8; ++i) {
    h += i * (above[7 + i] - above[7 - i]);
    v += i * (left[7 + i] - left[7 - i]);
  }
  return {16 * (left[15] + above[15]), intra16x16_slope(h), intra16x16_slope(v)};
}

// Returns the plane of an 8x8 block of 4:2:0 chroma (8.3.4.4).
template <class Pixel>
CU264_HD PlanePrediction intra_chroma_plane(const Pixel* above, const Pixel* left) {
  int h = 0, v = 0;
  for (int i = 1; i <= 4; ++i) {
    h += i * (above[3 + i] - above[3 - i]);
    v += i * (left[3 + i] - left[3 - i]);
  }
  return {16 * (left[7] + above[7]), intra_chroma_slope(h), intra_chroma_slope(v)};
}

CU264_HD int clip_sample(int value, int bit_depth) {
  const int top = (1 << bit_depth) - 1;
  return value < 0 ? 0 : value > top ? top : value;
}

// `centre` is 7 for 16x16 luma and 3 for 8x8 chroma.
CU264_HD int plane_sample(const PlanePrediction& p, int x, int y, int centre, int bit_depth) {
  return clip_sample((p.a + p.b * (x - centre) + p.c * (y - centre) + 16) >> 5, bit_depth);
}

// The DC value of 16x16 luma from the sums of its 16 neighbours above and to the left (8.3.3.3).
CU264_HD int intra16x16_dc(bool left, int sum_left, bool above, int sum_above, int bit_depth) {
  if (left && above) return (sum_left + sum_above + 16) >> 5;
  if (left) return (sum_left + 8) >> 4;
  if (above) return (sum_above + 8) >> 4;
  return 1 << (bit_depth - 1);
}

// The DC value of the 4x4 chroma block in column bx and row by of four, from the sums of its own four
// neighbours above and to the left: blocks off the diagonal prefer the side they touch (8.3.4.1 to 8.3.4.3).
CU264_HD int intra_chroma_dc(int bx, int by, bool left, int sum_left, bool above, int sum_above,
                             int bit_depth) {
  const bool prefer_above = bx > by, prefer_left = by > bx;
  if (left && above && !prefer_above && !prefer_left) return (sum_left + sum_above + 4) >> 3;
  if (above && (prefer_above || !left)) return (sum_above + 2) >> 2;
  if (left) return (sum_left + 2) >> 2;
  if (above) return (sum_above + 2) >> 2;
  return 1 << (bit_depth - 1);
}

CU264_HD bool intra16x16_mode_available(int mode, bool left, bool above) {
  switch (mode) {
    case kIntra16x16Vertical:
      return above;
    case kIntra16x16Horizontal:
      return left;
    case kIntra16x16Plane:
      return left && above;
    default:
      return true;
  }
}

CU264_HD bool intra_chroma_mode_available(int mode, bool left, bool above) {
  switch (mode) {
    case kIntraChromaVertical:
      return above;
    case kIntraChromaHorizontal:
      return left;
    case kIntraChromaPlane:
      return left && above;
    default:
      return true;
  }
}

}  // namespace cu264::core
