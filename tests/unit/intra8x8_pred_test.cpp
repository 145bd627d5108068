// Intra_8x8 prediction agrees with the equations of H.264 8.3.2, written out step by step.

#include "core/intra8x8_pred.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

namespace {

using namespace cu264::core;

// p[x, y] of the standard, or p'[x, y]: x or y may be -1, and x goes to 15 for y = -1.
struct Neighbourhood {
  std::array<int, 16> top{};
  std::array<int, 8> left{};
  int corner = 0;
  int p(int x, int y) const { return x < 0 && y < 0 ? corner : y < 0 ? top[x] : left[y]; }
};

// 8.3.2.2 and 8.3.2.2.1 with the availability of samples as 8.3.2.2 states it, sample by sample.
Neighbourhood reference_filter(Neighbourhood n, bool has_left, bool has_above, bool has_corner,
                               bool has_above_right) {
  if (!has_above_right) {
    for (int x = 8; x < 16; ++x) n.top[x] = n.top[7];
  }
  Neighbourhood f = n;
  const auto p = [&](int x, int y) { return n.p(x, y); };
  if (has_above) {
    f.top[0] =
        has_corner ? (p(-1, -1) + 2 * p(0, -1) + p(1, -1) + 2) >> 2 : (3 * p(0, -1) + p(1, -1) + 2) >> 2;
    for (int x = 1; x < 15; ++x) f.top[x] = (p(x - 1, -1) + 2 * p(x, -1) + p(x + 1, -1) + 2) >> 2;
    f.top[15] = (p(14, -1) + 3 * p(15, -1) + 2) >> 2;
  }
  if (has_corner) {
    if (has_above && has_left) {
      f.corner = (p(0, -1) + 2 * p(-1, -1) + p(-1, 0) + 2) >> 2;
    } else if (has_above) {
      f.corner = (3 * p(-1, -1) + p(0, -1) + 2) >> 2;
    } else if (has_left) {
      f.corner = (3 * p(-1, -1) + p(-1, 0) + 2) >> 2;
    }
  }
  if (has_left) {
    f.left[0] =
        has_corner ? (p(-1, -1) + 2 * p(-1, 0) + p(-1, 1) + 2) >> 2 : (3 * p(-1, 0) + p(-1, 1) + 2) >> 2;
    for (int y = 1; y < 7; ++y) f.left[y] = (p(-1, y - 1) + 2 * p(-1, y) + p(-1, y + 1) + 2) >> 2;
    f.left[7] = (p(-1, 6) + 3 * p(-1, 7) + 2) >> 2;
  }
  return f;
}

// 8.3.2.2.2 to 8.3.2.2.10, equation by equation, of filtered samples.
int reference_sample(const Neighbourhood& filtered, int mode, int x, int y, bool has_left, bool has_above) {
  const auto p = [&](int a, int b) { return filtered.p(a, b); };
  const auto mean2 = [](int a, int b) { return (a + b + 1) >> 1; };
  const auto mean3 = [](int a, int b, int c) { return (a + 2 * b + c + 2) >> 2; };
  switch (mode) {
    case 0:
      return p(x, -1);
    case 1:
      return p(-1, y);
    case 2: {
      int sum = 0;
      for (int i = 0; i < 8; ++i) sum += (has_above ? p(i, -1) : 0) + (has_left ? p(-1, i) : 0);
      if (has_left && has_above) return (sum + 8) >> 4;
      return has_left || has_above ? (sum + 4) >> 3 : 128;
    }
    case 3:
      if (x == 7 && y == 7) return (p(14, -1) + 3 * p(15, -1) + 2) >> 2;
      return mean3(p(x + y, -1), p(x + y + 1, -1), p(x + y + 2, -1));
    case 4:
      if (x > y) return mean3(p(x - y - 2, -1), p(x - y - 1, -1), p(x - y, -1));
      if (x < y) return mean3(p(-1, y - x - 2), p(-1, y - x - 1), p(-1, y - x));
      return mean3(p(0, -1), p(-1, -1), p(-1, 0));
    case 5: {
      const int z = 2 * x - y, k = x - (y >> 1);
      if (z == -1) return mean3(p(-1, 0), p(-1, -1), p(0, -1));
      if (z < 0) return mean3(p(-1, y - 2 * x - 1), p(-1, y - 2 * x - 2), p(-1, y - 2 * x - 3));
      return z % 2 == 0 ? mean2(p(k - 1, -1), p(k, -1)) : mean3(p(k - 2, -1), p(k - 1, -1), p(k, -1));
    }
    case 6: {
      const int z = 2 * y - x, k = y - (x >> 1);
      if (z == -1) return mean3(p(-1, 0), p(-1, -1), p(0, -1));
      if (z < 0) return mean3(p(x - 2 * y - 1, -1), p(x - 2 * y - 2, -1), p(x - 2 * y - 3, -1));
      return z % 2 == 0 ? mean2(p(-1, k - 1), p(-1, k)) : mean3(p(-1, k - 2), p(-1, k - 1), p(-1, k));
    }
    case 7: {
      const int k = x + (y >> 1);
      return y % 2 == 0 ? mean2(p(k, -1), p(k + 1, -1)) : mean3(p(k, -1), p(k + 1, -1), p(k + 2, -1));
    }
    default: {
      const int z = x + 2 * y, k = y + (x >> 1);
      if (z > 13) return p(-1, 7);
      if (z == 13) return (p(-1, 6) + 3 * p(-1, 7) + 2) >> 2;
      return z % 2 == 0 ? mean2(p(-1, k), p(-1, k + 1)) : mean3(p(-1, k), p(-1, k + 1), p(-1, k + 2));
    }
  }
}

void check(const Neighbourhood& n, bool has_left, bool has_above, bool has_above_right) {
  const bool has_corner = has_left && has_above;
  std::uint8_t line[kIntra8x8LineSize] = {};
  for (int i = 0; i < 8; ++i) line[kIntra8x8LineLeft - i] = static_cast<std::uint8_t>(n.left[i]);
  line[kIntra8x8LineCorner] = static_cast<std::uint8_t>(n.corner);
  for (int i = 0; i < 16; ++i) line[kIntra8x8LineTop + i] = static_cast<std::uint8_t>(n.top[i]);
  const Intra4x4Neighbours available{has_left, has_above, has_corner};
  intra8x8_complete_line(line, available, has_above_right);
  std::uint8_t values[kIntra8x8Values];
  intra8x8_values(line, available, 8, values);
  const Neighbourhood filtered = reference_filter(n, has_left, has_above, has_corner, has_above_right);
  for (int mode = 0; mode < kIntra8x8Modes; ++mode) {
    if (!intra4x4_mode_available(mode, available)) continue;
    for (int i = 0; i < 64; ++i) {
      const int x = i & 7, y = i >> 3;
      ASSERT_EQ(values[intra8x8_source(mode, x, y)],
                reference_sample(filtered, mode, x, y, has_left, has_above))
          << "mode " << mode << " sample " << x << "," << y << " left " << has_left << " above " << has_above
          << " above right " << has_above_right;
    }
  }
}

TEST(Intra8x8, EveryModeFollowsItsEquations) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Neighbourhood n;
    const bool extreme = round % 2;  // only 0 and 255
    const auto sample = [&] {
      return extreme ? static_cast<int>(random() & 1) * 255 : static_cast<int>(random() & 255);
    };
    for (int& v : n.top) v = sample();
    for (int& v : n.left) v = sample();
    n.corner = sample();
    for (const bool above_right : {false, true}) {
      check(n, true, true, above_right);
      check(n, false, true, above_right);
    }
    check(n, true, false, false);
    check(n, false, false, false);
  }
}

// The samples above and to the right come from a block that is coded before (6.4.11.2): in raster order of
// macroblocks, each with its blocks in Z order.
TEST(Intra8x8, SamplesAboveToTheRightComeFromEarlierBlocks) {
  const auto order = [](int x, int y) {  // of the block at (x, y) in a picture 3 macroblocks wide
    return (y / 2 * 3 + x / 2) * 4 + (y & 1) * 2 + (x & 1);
  };
  for (int block = 0; block < 4; ++block) {
    const int x = 2 + (block & 1), y = 2 + (block >> 1);
    EXPECT_EQ(intra8x8_above_right_available(block, true, true), order(x + 1, y - 1) < order(x, y)) << block;
  }
  EXPECT_FALSE(intra8x8_above_right_available(0, false, false));
  EXPECT_FALSE(intra8x8_above_right_available(1, true, false));
  EXPECT_TRUE(intra8x8_above_right_available(2, false, false));
}

}  // namespace
