// Intra_8x8 prediction (H.264 8.3.2): the nine modes of Intra_4x4 on 8x8 blocks, from neighbouring samples
// that are filtered first.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/intra_pred.h"

namespace cu264::core {

// The 25 neighbours of a block lie on one bent line, whose end samples are repeated as those of Intra_4x4
// are:
//   index   0  1  2 ..  8  9 10 .. 25  26
//   sample L7 L7 L6 .. L0  M T0 .. T15 T15
// Every sample that a mode predicts is a filtered neighbour, a mean of two or three adjacent filtered
// neighbours, or the DC value.
inline constexpr int kIntra8x8LineLeft = 8;  // L(y) is at 8 - y
inline constexpr int kIntra8x8LineCorner = 9;
inline constexpr int kIntra8x8LineTop = 10;  // T(x) is at 10 + x
inline constexpr int kIntra8x8LineLength = 27;
inline constexpr int kIntra8x8LineSize = 32;  // with padding of any value

inline constexpr int kIntra8x8Pair = 32;  // values[32 + i]: mean of line[i], line[i + 1], both filtered
inline constexpr int kIntra8x8Triple =
    64;  // values[64 + i]: (1 2 1) filter of line[i .. i + 2], all filtered
inline constexpr int kIntra8x8DcValue = 96;
inline constexpr int kIntra8x8Values = 97;

// Intra8x8PredMode (table 8-3) has the names and numbers of Intra4x4PredMode, and a mode needs the same
// neighbours, which intra4x4_mode_available() tells.
inline constexpr int kIntra8x8Modes = kIntra4x4Modes;

// Returns whether the samples above and to the right of a block are available (6.4.11.2). They may not be
// coded yet, or they may lie in the macroblock above (`above`: it is available) or above and to the right
// (`above_right`).
CU264_HD constexpr bool intra8x8_above_right_available(int luma8x8BlkIdx, bool above, bool above_right) {
  return luma8x8BlkIdx == 0 ? above : luma8x8BlkIdx == 1 ? above_right : luma8x8BlkIdx == 2;
}

// Prepares the line for the filter: repeats the end samples and replaces T8..T15 by T7 where they are not
// available (`above_right`). It replaces an unavailable corner by a sample with which the filter's general
// form gives the values that 8.3.2.2.1 asks for next to such a corner. In slices of whole rows a block that
// has both sides also has its corner, so a corner always has two neighbours.
template <class Pixel>
CU264_HD void intra8x8_complete_line(Pixel (&line)[kIntra8x8LineSize], Intra4x4Neighbours available,
                                     bool above_right) {
  if (!above_right) {
    for (int i = 8; i < 16; ++i) line[kIntra8x8LineTop + i] = line[kIntra8x8LineTop + 7];
  }
  if (!available.corner)
    line[kIntra8x8LineCorner] = line[available.above ? kIntra8x8LineTop : kIntra8x8LineLeft];
  line[0] = line[1];
  line[kIntra8x8LineLength - 1] = line[kIntra8x8LineLength - 2];
}

// Computes the values that predictions are taken from, of a complete line. Where a neighbour is unavailable
// `line` must still hold a defined sample, of any value, because no available mode reads what follows from
// it.
template <class Pixel>
CU264_HD void intra8x8_values(const Pixel (&line)[kIntra8x8LineSize], Intra4x4Neighbours available,
                              int bit_depth, Pixel (&values)[kIntra8x8Values]) {
  constexpr int kLast = kIntra8x8LineLength - 1;
  for (int i = 1; i < kLast; ++i) {  // 8.3.2.2.1
    values[i] = static_cast<Pixel>((line[i - 1] + 2 * line[i] + line[i + 1] + 2) >> 2);
  }
  values[0] = values[1], values[kLast] = values[kLast - 1];
  for (int i = kLast + 1; i < kIntra8x8Pair; ++i) values[i] = 0;
  for (int i = 0; i < 32; ++i) {
    values[kIntra8x8Pair + i] = static_cast<Pixel>(i < kLast ? (values[i] + values[i + 1] + 1) >> 1 : 0);
    values[kIntra8x8Triple + i] =
        static_cast<Pixel>(i < kLast - 1 ? (values[i] + 2 * values[i + 1] + values[i + 2] + 2) >> 2 : 0);
  }
  int left = 0, above = 0;
  for (int i = 0; i < 8; ++i) left += values[1 + i], above += values[kIntra8x8LineTop + i];
  int dc = 1 << (bit_depth - 1);
  if (available.left && available.above) {
    dc = (left + above + 8) >> 4;
  } else if (available.left) {
    dc = (left + 4) >> 3;
  } else if (available.above) {
    dc = (above + 4) >> 3;
  }
  values[kIntra8x8DcValue] = static_cast<Pixel>(dc);
}

// Index of the value that predicts sample (x, y) (8.3.2.2.2 to 8.3.2.2.10).
CU264_HD constexpr int intra8x8_source(int mode, int x, int y) {
  switch (mode) {
    case kIntra4x4Vertical:
      return kIntra8x8LineTop + x;
    case kIntra4x4Horizontal:
      return kIntra8x8LineLeft - y;
    case kIntra4x4DiagonalDownLeft:
      return kIntra8x8Triple + 10 + x + y;
    case kIntra4x4DiagonalDownRight:
      return kIntra8x8Triple + 8 + x - y;
    case kIntra4x4VerticalRight: {
      const int z = 2 * x - y, k = x - (y >> 1);
      if (z < -1) return kIntra8x8Triple + 9 - y + 2 * x;
      return z >= 0 && z % 2 == 0 ? kIntra8x8Pair + 9 + k : kIntra8x8Triple + 8 + k;
    }
    case kIntra4x4HorizontalDown: {
      const int z = 2 * y - x, k = y - (x >> 1);
      if (z < -1) return kIntra8x8Triple + 7 + x - 2 * y;
      return z >= 0 && z % 2 == 0 ? kIntra8x8Pair + 8 - k : kIntra8x8Triple + 8 - k;
    }
    case kIntra4x4VerticalLeft: {
      const int k = x + (y >> 1);
      return y % 2 == 0 ? kIntra8x8Pair + 10 + k : kIntra8x8Triple + 10 + k;
    }
    case kIntra4x4HorizontalUp: {
      const int z = x + 2 * y, k = y + (x >> 1);
      if (z > 13) return 0;
      return z % 2 == 0 ? kIntra8x8Pair + 7 - k : kIntra8x8Triple + 6 - k;
    }
    default:
      return kIntra8x8DcValue;
  }
}

}  // namespace cu264::core
