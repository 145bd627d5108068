// The search for whole-sample vectors on the source pictures, from quarter size over half size to full size.
// It needs no reconstruction. Each pass reads the vectors of the pass before and writes its own, so the order
// of its blocks does not matter. These are the candidates of each pass; vectors are in samples of its size.
#pragma once

#include "core/hd.h"
#include "core/motion_limits.h"
#include "core/motion_vector.h"

namespace cu264::core {

// At quarter size every vector is tried whose components are in [-kQuarterRange, kQuarterRange). Blocks have
// 8x8 samples, 2x2 macroblocks.
inline constexpr int kQuarterRange = 16;
inline constexpr int kQuarterBlock = 8;

// A cost with the order in which it was tried below it: the lower cost wins, and then the earlier vector.
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

// The candidates of macroblock (mb_x, mb_y) at half size: the vectors of the four nearest blocks at quarter
// size, none, and the macroblock's vector in the picture before. regions(x, y) is the vector of a block at
// quarter size, of which there are width x height.
template <class Regions>
CU264_HD void half_candidates(const Regions& regions, int width, int height, MotionVector before, int mb_x,
                              int mb_y, const MotionLimits& limits,
                              MotionVector (&candidates)[kHalfCandidates]) {
  const int x = mb_x >> 1, y = mb_y >> 1;
  int beside = x + ((mb_x & 1) != 0 ? 1 : -1), below = y + ((mb_y & 1) != 0 ? 1 : -1);
  if (beside < 0 || beside >= width) beside = x;
  if (below < 0 || below >= height) below = y;
  const MotionVector from[4] = {regions(x, y), regions(beside, y), regions(x, below), regions(beside, below)};
  for (int i = 0; i < 4; ++i) candidates[i] = clamp_whole(limits, 2 * from[i].x, 2 * from[i].y, 1);
  candidates[4] = motion_vector(0, 0);
  candidates[5] = clamp_whole(limits, before.x / 2, before.y / 2, 1);
}

inline constexpr int kWholeCandidates = 7;

// The candidates of a pass at full size: the macroblock's own vector, those of its neighbours in the pass
// before, and none. field(dx, dy) is a neighbour's vector, scaled to full size; of the macroblock itself
// where there is no neighbour.
template <class Field>
CU264_HD void whole_candidates(const Field& field, const MotionLimits& limits,
                               MotionVector (&candidates)[kWholeCandidates]) {
  const MotionVector from[6] = {field(0, 0),  field(-1, 0), field(0, -1),
                                field(1, -1), field(1, 0),  field(0, 1)};
  for (int i = 0; i < 6; ++i) candidates[i] = clamp_whole(limits, from[i].x, from[i].y, 0);
  candidates[6] = motion_vector(0, 0);
}

}  // namespace cu264::core
