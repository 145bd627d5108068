// Motion vectors in quarter samples of luma (H.264 8.4.1), and what codes them.
#pragma once

#include <cstdint>

#include "core/bits.h"
#include "core/hd.h"

namespace cu264::core {

struct alignas(4) MotionVector {
  std::int16_t x = 0;
  std::int16_t y = 0;

  CU264_HD_MEMBER bool operator==(const MotionVector& other) const { return x == other.x && y == other.y; }
};

CU264_HD MotionVector motion_vector(int x, int y) {
  MotionVector v;
  v.x = static_cast<std::int16_t>(x), v.y = static_cast<std::int16_t>(y);
  return v;
}

CU264_HD MotionVector operator+(MotionVector a, MotionVector b) {
  return motion_vector(a.x + b.x, a.y + b.y);
}
CU264_HD MotionVector operator-(MotionVector a, MotionVector b) {
  return motion_vector(a.x - b.x, a.y - b.y);
}

CU264_HD int median(int a, int b, int c) {
  const int low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

// By components (8.4.1.3.1).
CU264_HD MotionVector median(MotionVector a, MotionVector b, MotionVector c) {
  return motion_vector(median(a.x, b.x, c.x), median(a.y, b.y, c.y));
}

// The bits of mvd_l0 with CAVLC.
CU264_HD int mvd_bits(MotionVector difference) {
  return se_length(difference.x) + se_length(difference.y);
}

// The motion of a macroblock, by 8x8 block: the vectors of its partitions, and mvd_l0 of each partition's
// first block, which other blocks repeat. All are zero in intra macroblocks, and mvd in P_Skip.
struct alignas(16) MotionRecord {
  MotionVector vector[4];
  MotionVector mvd[4];
};
static_assert(sizeof(MotionRecord) == 32, "a motion record is two 16-byte transactions");

}  // namespace cu264::core
