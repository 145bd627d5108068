// The search for whole-sample vectors on the source pictures, from quarter size over half size to full size.
// It needs no reconstruction. Each pass reads the vectors of the pass before and writes its own, so the order
// of its blocks does not matter. These are the candidates of each pass; vectors are in samples of its size.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "core/motion_limits.h"
#include "core/motion_vector.h"

namespace cu264::core {

// A sample of the next smaller size, from four of the greater one.
CU264_HD int shrunk_sample(int a, int b, int c, int d) {
  return (a + b + c + d + 2) >> 2;
}

// At quarter size every vector is tried whose components are in [-kQuarterRange, kQuarterRange). Blocks have
// 8x8 samples, 2x2 macroblocks.
inline constexpr int kQuarterRange = 16;
inline constexpr int kQuarterBlock = 8;

// Lambda times the bits of a vector's difference from the predicted one. `scale` is 4 at full size, where
// vectors are whole samples, 2 at half and 1 at quarter size.
CU264_HD std::uint32_t vector_cost(MotionVector v, MotionVector predicted, int scale, int lambda) {
  const MotionVector mvd = motion_vector(scale * (v.x - predicted.x), scale * (v.y - predicted.y));
  return static_cast<std::uint32_t>(lambda * mvd_bits(mvd));
}

// The lower cost wins, and of equal ones the earlier.
struct BestVector {
  std::uint32_t cost = 0xffffffffu;
  MotionVector vector;

  CU264_HD_MEMBER bool take(std::uint32_t new_cost, MotionVector v) {
    if (new_cost >= cost) return false;
    cost = new_cost, vector = v;
    return true;
  }
};

// The eight vectors around one.
CU264_HD MotionVector around(MotionVector v, int i, int distance) {
  const int k = i < 4 ? i : i + 1;
  return motion_vector(v.x + (k % 3 - 1) * distance, v.y + (k / 3 - 1) * distance);
}

// Limits in whole samples of a size that is smaller by 1 << shift.
CU264_HD MotionVector clamp_whole(const MotionLimits& limits, int x, int y, int shift) {
  const MotionVector v = limits.clamp(x << (2 + shift), y << (2 + shift));
  // Both limits are multiples of 4, but not always of 8: rounding must not leave them.
  const auto towards_zero = [shift](int value) {
    return value < 0 ? -(-value >> (2 + shift)) : value >> (2 + shift);
  };
  return motion_vector(towards_zero(v.x), towards_zero(v.y));
}

inline constexpr int kHalfCandidates = 6;

// Candidate i of macroblock (mb_x, mb_y) at half size: the vectors of the four nearest blocks at quarter
// size, none, and the macroblock's vector in the picture before. regions(x, y) is the vector of a block at
// quarter size, of which there are width x height. Bits are counted from the median of the first three
// candidates, and then the eight vectors around the best candidate are tried.
template <class Regions>
CU264_HD MotionVector half_candidate(int i, const Regions& regions, int width, int height,
                                     MotionVector before, int mb_x, int mb_y, const MotionLimits& limits) {
  if (i == 4) return motion_vector(0, 0);
  if (i == 5) return clamp_whole(limits, before.x / 2, before.y / 2, 1);
  int x = mb_x >> 1, y = mb_y >> 1;
  const int beside = x + ((mb_x & 1) != 0 ? 1 : -1), below = y + ((mb_y & 1) != 0 ? 1 : -1);
  if ((i & 1) != 0 && beside >= 0 && beside < width) x = beside;
  if ((i & 2) != 0 && below >= 0 && below < height) y = below;
  const MotionVector from = regions(x, y);
  return clamp_whole(limits, 2 * from.x, 2 * from.y, 1);
}

inline constexpr int kWholeCandidates = 7;

// Candidate i of a pass at full size: the macroblock's own vector, those of its neighbours in the pass
// before, and none. field(dx, dy) is a neighbour's vector, scaled to full size; of the macroblock itself
// where there is no neighbour. Bits are counted from the median of candidates 1 to 3.
template <class Field>
CU264_HD MotionVector whole_candidate(int i, const Field& field, const MotionLimits& limits) {
  if (i == 6) return motion_vector(0, 0);
  const int dx = i == 1 ? -1 : i == 3 || i == 4 ? 1 : 0;
  const int dy = i == 2 || i == 3 ? -1 : i == 5 ? 1 : 0;
  const MotionVector from = field(dx, dy);
  return clamp_whole(limits, from.x, from.y, 0);
}

// Whether a pass at full size tries the eight vectors around the best candidate. The second pass has seen
// those around the macroblock's own.
CU264_HD bool tries_around(int pass, MotionVector best, MotionVector own) {
  return pass == 0 || !(best == own);
}

inline constexpr int kBlockCandidates = 3;
// How often the eight vectors around the best one are tried, unless it stays the same.
inline constexpr int kBlockRounds = 2;

// Candidate i of an 8x8 block of a macroblock: the vectors of the macroblock, from which bits are counted,
// and of the neighbours on the block's sides. `field` as in whole_candidate; the limits are those of the
// block.
template <class Field>
CU264_HD MotionVector block_candidate(int i, int block, const Field& field, const MotionLimits& limits) {
  const MotionVector from = field(i != 1             ? 0
                                  : (block & 1) != 0 ? 1
                                                     : -1,
                                  i != 2             ? 0
                                  : (block & 2) != 0 ? 1
                                                     : -1);
  return clamp_whole(limits, from.x, from.y, 0);
}

}  // namespace cu264::core
