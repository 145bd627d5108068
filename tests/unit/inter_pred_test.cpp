// Inter prediction agrees with the formulas of H.264 8.4.2.2.1 and 8.4.2.2.2, from whole samples.

#include "core/inter_pred.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/motion_limits.h"

namespace {

using namespace cu264::core;

constexpr int kSide = 8;

struct Samples {
  std::uint8_t at[kSide][kSide];  // the sample G is at [2][2]
  int operator()(int x, int y) const { return at[2 + y][2 + x]; }
};

int clip1(int value) {
  return std::clamp(value, 0, 255);
}

// b1 beside (x, y), h1 below it, and j1.
int b1(const Samples& s, int x, int y) {
  return s(x - 2, y) - 5 * s(x - 1, y) + 20 * s(x, y) + 20 * s(x + 1, y) - 5 * s(x + 2, y) + s(x + 3, y);
}
int h1(const Samples& s, int x, int y) {
  return s(x, y - 2) - 5 * s(x, y - 1) + 20 * s(x, y) + 20 * s(x, y + 1) - 5 * s(x, y + 2) + s(x, y + 3);
}
int j1(const Samples& s) {
  return b1(s, 0, -2) - 5 * b1(s, 0, -1) + 20 * b1(s, 0, 0) + 20 * b1(s, 0, 1) - 5 * b1(s, 0, 2) +
         b1(s, 0, 3);
}

// The sample at (xFrac, yFrac) by the names of figure 8-4.
int luma_sample(const Samples& s, int xFrac, int yFrac) {
  const int G = s(0, 0), H = s(1, 0), M = s(0, 1);
  const int b = clip1((b1(s, 0, 0) + 16) >> 5), h = clip1((h1(s, 0, 0) + 16) >> 5);
  const int j = clip1((j1(s) + 512) >> 10);
  const int S = clip1((b1(s, 0, 1) + 16) >> 5), m = clip1((h1(s, 1, 0) + 16) >> 5);
  const auto mean = [](int p, int q) { return (p + q + 1) >> 1; };
  switch (4 * xFrac + yFrac) {  // table 8-12
    case 0:
      return G;
    case 1:
      return mean(G, h);  // d
    case 2:
      return h;
    case 3:
      return mean(M, h);  // n
    case 4:
      return mean(G, b);  // a
    case 5:
      return mean(b, h);  // e
    case 6:
      return mean(h, j);  // i
    case 7:
      return mean(h, S);  // p
    case 8:
      return b;
    case 9:
      return mean(b, j);  // f
    case 10:
      return j;
    case 11:
      return mean(j, S);  // q
    case 12:
      return mean(H, b);  // c
    case 13:
      return mean(b, m);  // g
    case 14:
      return mean(j, m);  // k
    default:
      return mean(m, S);  // r
  }
}

// A sample of the planes that predictions are taken from.
int plane_sample_at(const Samples& s, const SampleSource& source) {
  const int x = source.x, y = source.y;
  switch (source.plane) {
    case kHalfRight:
      return half_sample(
          six_tap<int>(s(x - 2, y), s(x - 1, y), s(x, y), s(x + 1, y), s(x + 2, y), s(x + 3, y)));
    case kHalfDown:
      return half_sample(
          six_tap<int>(s(x, y - 2), s(x, y - 1), s(x, y), s(x, y + 1), s(x, y + 2), s(x, y + 3)));
    case kHalfBoth:
      EXPECT_EQ(x, 0);
      EXPECT_EQ(y, 0);
      return centre_sample(
          six_tap<int>(h1(s, -2, 0), h1(s, -1, 0), h1(s, 0, 0), h1(s, 1, 0), h1(s, 2, 0), h1(s, 3, 0)));
    default:
      return s(x, y);
  }
}

TEST(InterPred, LumaIsThatOfTheStandard) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Samples s;
    for (auto& row : s.at) {
      for (std::uint8_t& sample : row)
        sample = static_cast<std::uint8_t>(round % 2 != 0 ? random() : random() % 2 != 0 ? 255 : 0);
    }
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 4; ++x) {
        const QuarterSample q = quarter_sample(x, y);
        ASSERT_EQ(sample_mean(plane_sample_at(s, q.first), plane_sample_at(s, q.second)),
                  luma_sample(s, x, y))
            << x << ", " << y;
      }
    }
  }
}

TEST(InterPred, ChromaIsThatOfTheStandard) {
  for (int x = 0; x < 8; ++x) {
    for (int y = 0; y < 8; ++y) {
      const int A = 255, B = 3, C = 77, D = 200;
      EXPECT_EQ(chroma_sample(A, B, C, D, x, y),
                ((8 - x) * (8 - y) * A + x * (8 - y) * B + (8 - x) * y * C + x * y * D + 32) / 64);
    }
  }
  EXPECT_EQ(chroma_sample(255, 255, 255, 255, 3, 5), 255);
}

// Vectors within the limits reach no sample that a reference picture does not have, and levels allow them.
TEST(MotionLimits, KeepBlocksWithinTheMemory) {
  for (const int width : {16, 176, 1920, 8192}) {
    for (const int height : {16, 144, 1088, 8192}) {
      const int range = vertical_range(width / 16 * (height / 16));
      for (const int x : {0, width / 32 * 16, width - 16}) {
        for (const int y : {0, height / 32 * 16, height - 16}) {
          const MotionLimits limits = motion_limits(x, y, 16, 16, width, height);
          EXPECT_GE(x + (limits.low_x >> 2), -kMotionReach);
          EXPECT_LE(x + 15 + (limits.high_x >> 2) + 1, width - 1 + kHalfSamplePad);
          EXPECT_GE(y + (limits.low_y >> 2), -kMotionReach);
          EXPECT_LE(y + 15 + (limits.high_y >> 2) + 1, height - 1 + kHalfSamplePad);
          EXPECT_GE(limits.low_y, -4 * range);
          EXPECT_LE(limits.high_y, 4 * range - 1);
          EXPECT_GE(limits.low_x, -8192);
          EXPECT_LE(limits.high_x, 8191);
          EXPECT_TRUE(limits.allow({}));
        }
      }
    }
  }
}

}  // namespace
