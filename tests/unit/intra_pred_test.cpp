// Intra prediction agrees with the equations of H.264 8.3, written out mode by mode.

#include "core/intra_pred.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

namespace {

using namespace cu264::core;

// p[x, y] of the standard for one 4x4 block: x or y may be -1, and x goes to 7 for y = -1.
struct Neighbourhood {
  std::array<int, 8> top{};
  std::array<int, 4> left{};
  int corner = 0;
  int p(int x, int y) const { return x < 0 && y < 0 ? corner : y < 0 ? top[x] : left[y]; }
};

// 8.3.1.2.1 to 8.3.1.2.9, equation by equation.
int reference_sample(const Neighbourhood& n, int mode, int x, int y, bool has_left, bool has_above) {
  const auto p = [&](int a, int b) { return n.p(a, b); };
  switch (mode) {
    case 0:
      return p(x, -1);
    case 1:
      return p(-1, y);
    case 2: {
      int sum = 0;
      for (int i = 0; i < 4; ++i) sum += (has_above ? p(i, -1) : 0) + (has_left ? p(-1, i) : 0);
      if (has_left && has_above) return (sum + 4) >> 3;
      return has_left || has_above ? (sum + 2) >> 2 : 128;
    }
    case 3:
      if (x == 3 && y == 3) return (p(6, -1) + 3 * p(7, -1) + 2) >> 2;
      return (p(x + y, -1) + 2 * p(x + y + 1, -1) + p(x + y + 2, -1) + 2) >> 2;
    case 4:
      if (x > y) return (p(x - y - 2, -1) + 2 * p(x - y - 1, -1) + p(x - y, -1) + 2) >> 2;
      if (x < y) return (p(-1, y - x - 2) + 2 * p(-1, y - x - 1) + p(-1, y - x) + 2) >> 2;
      return (p(0, -1) + 2 * p(-1, -1) + p(-1, 0) + 2) >> 2;
    case 5: {
      const int z = 2 * x - y;
      if (z >= 0 && z % 2 == 0) return (p(x - (y >> 1) - 1, -1) + p(x - (y >> 1), -1) + 1) >> 1;
      if (z >= 0)
        return (p(x - (y >> 1) - 2, -1) + 2 * p(x - (y >> 1) - 1, -1) + p(x - (y >> 1), -1) + 2) >> 2;
      if (z == -1) return (p(-1, 0) + 2 * p(-1, -1) + p(0, -1) + 2) >> 2;
      return (p(-1, y - 1) + 2 * p(-1, y - 2) + p(-1, y - 3) + 2) >> 2;
    }
    case 6: {
      const int z = 2 * y - x;
      if (z >= 0 && z % 2 == 0) return (p(-1, y - (x >> 1) - 1) + p(-1, y - (x >> 1)) + 1) >> 1;
      if (z >= 0)
        return (p(-1, y - (x >> 1) - 2) + 2 * p(-1, y - (x >> 1) - 1) + p(-1, y - (x >> 1)) + 2) >> 2;
      if (z == -1) return (p(-1, 0) + 2 * p(-1, -1) + p(0, -1) + 2) >> 2;
      return (p(x - 1, -1) + 2 * p(x - 2, -1) + p(x - 3, -1) + 2) >> 2;
    }
    case 7:
      if (y % 2 == 0) return (p(x + (y >> 1), -1) + p(x + (y >> 1) + 1, -1) + 1) >> 1;
      return (p(x + (y >> 1), -1) + 2 * p(x + (y >> 1) + 1, -1) + p(x + (y >> 1) + 2, -1) + 2) >> 2;
    default: {
      const int z = x + 2 * y;
      if (z > 5) return p(-1, 3);
      if (z == 5) return (p(-1, 2) + 3 * p(-1, 3) + 2) >> 2;
      if (z % 2 == 0) return (p(-1, y + (x >> 1)) + p(-1, y + (x >> 1) + 1) + 1) >> 1;
      return (p(-1, y + (x >> 1)) + 2 * p(-1, y + (x >> 1) + 1) + p(-1, y + (x >> 1) + 2) + 2) >> 2;
    }
  }
}

void check_intra4x4(const Neighbourhood& n, bool has_left, bool has_above, bool has_corner) {
  std::uint8_t line[kIntra4x4LineLength + 1] = {};
  for (int i = 0; i < 4; ++i) line[kIntra4x4LineLeft - i] = static_cast<std::uint8_t>(n.left[i]);
  line[0] = line[1];
  line[kIntra4x4LineCorner] = static_cast<std::uint8_t>(n.corner);
  for (int i = 0; i < 8; ++i) line[kIntra4x4LineTop + i] = static_cast<std::uint8_t>(n.top[i]);
  line[14] = line[13];
  const Intra4x4Neighbours available{has_left, has_above, has_corner};
  std::uint8_t values[kIntra4x4Values];
  intra4x4_values(line, available, 8, values);
  for (int mode = 0; mode < kIntra4x4Modes; ++mode) {
    if (!intra4x4_mode_available(mode, available)) continue;
    for (int i = 0; i < 16; ++i) {
      const int x = i & 3, y = i >> 2;
      ASSERT_EQ(values[intra4x4_source(mode, x, y)], reference_sample(n, mode, x, y, has_left, has_above))
          << "mode " << mode << " sample " << x << "," << y << " left " << has_left << " above " << has_above;
    }
  }
}

TEST(Intra4x4, EveryModeFollowsItsEquations) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Neighbourhood n;
    const bool extreme = round % 2;  // only 0 and 255
    const auto sample = [&] {
      return extreme ? static_cast<int>(random() & 1) * 255 : static_cast<int>(random() & 255);
    };
    for (int& v : n.top) v = sample();
    for (int& v : n.left) v = sample();
    n.corner = sample();
    check_intra4x4(n, true, true, true);
    check_intra4x4(n, true, false, false);
    check_intra4x4(n, false, true, false);
    check_intra4x4(n, false, false, false);
  }
}

TEST(Intra4x4, ModesNeedTheirNeighbours) {
  const auto count = [](Intra4x4Neighbours available) {
    int modes = 0;
    for (int mode = 0; mode < kIntra4x4Modes; ++mode) modes += intra4x4_mode_available(mode, available);
    return modes;
  };
  EXPECT_EQ(count({false, false, false}), 1);
  EXPECT_EQ(count({true, false, false}), 3);
  EXPECT_EQ(count({false, true, false}), 4);
  EXPECT_EQ(count({true, true, true}), 9);
}

TEST(Intra4x4, AboveRightFollowsTheCodingOrder) {
  // 6.4.11.4: the block that covers (x + 4, y - 1) exists and comes earlier in coding order.
  for (int block = 0; block < 16; ++block) {
    const int x = luma_block_x(block) + 1, y = luma_block_y(block) - 1;
    for (const bool above : {false, true}) {
      for (const bool above_right : {false, true}) {
        const bool expected =
            y < 0 ? (x > 3 ? above_right : above) : x <= 3 && luma_block_index(x, y) < block;
        EXPECT_EQ(intra4x4_above_right_available(block, above, above_right), expected) << "block " << block;
      }
    }
  }
}

TEST(Intra16x16, PlaneFollowsItsEquations) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    std::uint8_t above[17], left[17];  // [0] is the corner
    for (auto& v : above) v = static_cast<std::uint8_t>(round % 2 ? random() : (random() & 1) * 255);
    for (auto& v : left) v = static_cast<std::uint8_t>(round % 2 ? random() : (random() & 1) * 255);
    left[0] = above[0];
    const auto top = [&](int x) { return static_cast<int>(above[x + 1]); };
    const auto side = [&](int y) { return static_cast<int>(left[y + 1]); };
    int h = 0, v = 0;
    for (int i = 0; i <= 7; ++i)
      h += (i + 1) * (top(8 + i) - top(6 - i)), v += (i + 1) * (side(8 + i) - side(6 - i));
    const int b = (5 * h + 32) >> 6, c = (5 * v + 32) >> 6, a = 16 * (side(15) + top(15));
    const PlanePrediction plane = intra16x16_plane(above + 1, left + 1);
    for (int y = 0; y < 16; ++y) {
      for (int x = 0; x < 16; ++x) {
        const int value = (a + b * (x - 7) + c * (y - 7) + 16) >> 5;
        ASSERT_EQ(plane_sample(plane, x, y, 7, 8), value < 0 ? 0 : value > 255 ? 255 : value);
      }
    }
  }
}

TEST(IntraChroma, PlaneFollowsItsEquations) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::uint8_t above[9], left[9];
    for (auto& v : above) v = static_cast<std::uint8_t>(random());
    for (auto& v : left) v = static_cast<std::uint8_t>(random());
    left[0] = above[0];
    int h = 0, v = 0;  // 8.3.4.4 with xCF = yCF = 0
    for (int i = 0; i <= 3; ++i) {
      h += (i + 1) * (above[1 + 4 + i] - above[1 + 2 - i]);
      v += (i + 1) * (left[1 + 4 + i] - left[1 + 2 - i]);
    }
    const int b = (34 * h + 32) >> 6, c = (34 * v + 32) >> 6, a = 16 * (left[8] + above[8]);
    const PlanePrediction plane = intra_chroma_plane(above + 1, left + 1);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) {
        const int value = (a + b * (x - 3) + c * (y - 3) + 16) >> 5;
        ASSERT_EQ(plane_sample(plane, x, y, 3, 8), value < 0 ? 0 : value > 255 ? 255 : value);
      }
    }
  }
}

TEST(IntraChroma, DcPrefersTheSideOfTheBlock) {
  // sums of four samples: above 40 (mean 10), left 80 (mean 20)
  EXPECT_EQ(intra_chroma_dc(0, 0, true, 80, true, 40, 8), 15);
  EXPECT_EQ(intra_chroma_dc(1, 1, true, 80, true, 40, 8), 15);
  EXPECT_EQ(intra_chroma_dc(1, 0, true, 80, true, 40, 8), 10);
  EXPECT_EQ(intra_chroma_dc(0, 1, true, 80, true, 40, 8), 20);
  for (int bx = 0; bx < 2; ++bx) {
    for (int by = 0; by < 2; ++by) {
      EXPECT_EQ(intra_chroma_dc(bx, by, true, 80, false, 0, 8), 20);
      EXPECT_EQ(intra_chroma_dc(bx, by, false, 0, true, 40, 8), 10);
      EXPECT_EQ(intra_chroma_dc(bx, by, false, 0, false, 0, 8), 128);
    }
  }
}

TEST(Intra16x16, DcAveragesWhatExists) {
  EXPECT_EQ(intra16x16_dc(true, 16 * 20, true, 16 * 11, 8), 16);  // 15.5 rounds up
  EXPECT_EQ(intra16x16_dc(true, 16 * 20, false, 0, 8), 20);
  EXPECT_EQ(intra16x16_dc(false, 0, true, 16 * 11, 8), 11);
  EXPECT_EQ(intra16x16_dc(false, 0, false, 0, 8), 128);
  EXPECT_EQ(intra16x16_dc(false, 0, false, 0, 10), 512);
}

}  // namespace
