// How far motion vectors reach. Blocks may lie beyond the edges of the reference picture, where its samples
// are repeated (H.264 8.4.2.2.1), as far as the memory around it goes.
#pragma once

#include "core/hd.h"
#include "core/motion_vector.h"

namespace cu264::core {

// Samples that are kept around a reference picture's luma, and half as many around chroma.
inline constexpr int kReferencePad = 32;
// Samples by which a block may lie outside the picture. The half samples around it and the filter's taps must
// still be there.
inline constexpr int kMotionReach = 24;
// Half samples are there this far outside.
inline constexpr int kHalfSamplePad = kReferencePad - 3;
static_assert(kMotionReach + 1 <= kHalfSamplePad);

// Inclusive, in quarter samples.
struct MotionLimits {
  int low_x, high_x, low_y, high_y;

  CU264_HD_MEMBER bool allow(MotionVector v) const {
    return v.x >= low_x && v.x <= high_x && v.y >= low_y && v.y <= high_y;
  }
  CU264_HD_MEMBER MotionVector clamp(int x, int y) const {
    return motion_vector(x < low_x    ? low_x
                         : x > high_x ? high_x
                                      : x,
                         y < low_y    ? low_y
                         : y > high_y ? high_y
                                      : y);
  }
};

// The range of vertical vectors in whole samples, [-n, n), of the lowest level that holds the picture
// (MaxVmvR of table A-1).
CU264_HD int vertical_range(int macroblocks) {
  return macroblocks <= 99 ? 64 : macroblocks <= 396 ? 128 : macroblocks <= 1620 ? 256 : 512;
}

// The range of horizontal vectors in whole samples, [-n, n), at all levels.
inline constexpr int kHorizontalRange = 2048;

// The limits of a block at (x, y) of a picture of such a size, all in samples.
CU264_HD MotionLimits motion_limits(int x, int y, int block_width, int block_height, int width, int height) {
  const int vertical = 4 * vertical_range((width >> 4) * (height >> 4)), horizontal = 4 * kHorizontalRange;
  const auto greater = [](int a, int b) { return a > b ? a : b; };
  const auto less = [](int a, int b) { return a < b ? a : b; };
  return {greater(-4 * (kMotionReach + x), -horizontal),
          less(4 * (width - block_width + kMotionReach - x), horizontal - 1),
          greater(-4 * (kMotionReach + y), -vertical),
          less(4 * (height - block_height + kMotionReach - y), vertical - 1)};
}

}  // namespace cu264::core
