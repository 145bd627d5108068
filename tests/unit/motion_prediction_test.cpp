// Predicted vectors agree with the clauses of H.264 8.4.1.1 and 8.4.1.3, written out here on a grid of the
// whole picture.

#include "core/motion_prediction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace {

using namespace cu264::core;

constexpr int kWidth = 4, kHeight = 3;  // macroblocks

// A picture with its 8x8 blocks on a grid.
struct Grid {
  std::vector<MacroblockRecord> mbs = std::vector<MacroblockRecord>(kWidth * kHeight);
  std::vector<MotionRecord> motion = std::vector<MotionRecord>(kWidth * kHeight);
  int first_row = 0;  // of the slice
};

// mvLXN and refIdxLXN of the partition that covers a luma location, seen from macroblock `here`, whose block
// `current` is to be predicted; nothing where it is not available (6.4.11.7): outside the slice, later in
// decoding order, or not decoded yet in the macroblock itself.
struct Neighbour {
  MotionVector vector;
  int refIdx;
};
std::optional<Neighbour> at(const Grid& grid, int here, int current, int x, int y) {
  if (x < 0 || y < 16 * grid.first_row || x >= 16 * kWidth) return std::nullopt;
  const int mb = y / 16 * kWidth + x / 16, block = y % 16 / 8 * 2 + x % 16 / 8;
  if (mb > here || (mb == here && block >= current)) return std::nullopt;
  if (!is_inter(grid.mbs[static_cast<std::size_t>(mb)].kind)) return Neighbour{{}, -1};
  return Neighbour{grid.motion[static_cast<std::size_t>(mb)].vector[block], 0};
}

int middle(int a, int b, int c) {
  int values[3] = {a, b, c};
  std::sort(values, values + 3);
  return values[1];
}

struct Reference {
  std::optional<Neighbour> a, b, c;

  Reference(const Grid& grid, int mb, int block, int width) {
    const int x = mb % kWidth * 16 + (block & 1) * 8, y = mb / kWidth * 16 + (block >> 1) * 8;
    a = at(grid, mb, block, x - 1, y), b = at(grid, mb, block, x, y - 1);
    c = at(grid, mb, block, x + 8 * width, y - 1);
    if (!c) c = at(grid, mb, block, x - 1, y - 1);
  }
  // 8.4.1.3.1
  MotionVector median() const {
    Neighbour A = a.value_or(Neighbour{{}, -1}), B = b.value_or(Neighbour{{}, -1}),
              C = c.value_or(Neighbour{{}, -1});
    if (!b && !c && a) B = A, C = A;
    if (A.refIdx == 0 && B.refIdx != 0 && C.refIdx != 0) return A.vector;
    if (A.refIdx != 0 && B.refIdx == 0 && C.refIdx != 0) return B.vector;
    if (A.refIdx != 0 && B.refIdx != 0 && C.refIdx == 0) return C.vector;
    return motion_vector(middle(A.vector.x, B.vector.x, C.vector.x),
                         middle(A.vector.y, B.vector.y, C.vector.y));
  }
  // 8.4.1.3
  MotionVector predicted(MacroblockKind kind, int block) const {
    const auto refers = [](const std::optional<Neighbour>& n) { return n && n->refIdx == 0; };
    if (kind == MacroblockKind::p16x8 && block == 0 && refers(b)) return b->vector;
    if (kind == MacroblockKind::p16x8 && block == 2 && refers(a)) return a->vector;
    if (kind == MacroblockKind::p8x16 && block == 0 && refers(a)) return a->vector;
    if (kind == MacroblockKind::p8x16 && block == 1 && refers(c)) return c->vector;
    return median();
  }
  // 8.4.1.1
  MotionVector skip() const {
    if (!a || !b) return {};
    if (a->refIdx == 0 && a->vector == MotionVector{}) return {};
    if (b->refIdx == 0 && b->vector == MotionVector{}) return {};
    return median();
  }
};

Grid random_grid(std::mt19937& random) {
  Grid grid;
  grid.first_row = static_cast<int>(random() % 2);
  constexpr MacroblockKind kKinds[] = {
      MacroblockKind::p16x16, MacroblockKind::p16x8,    MacroblockKind::p8x16,      MacroblockKind::p8x8,
      MacroblockKind::p_skip, MacroblockKind::intra4x4, MacroblockKind::intra16x16, MacroblockKind::pcm};
  for (std::size_t mb = 0; mb < grid.mbs.size(); ++mb) {
    grid.mbs[mb].kind = kKinds[random() % 8];
    MotionVector vectors[4];
    for (MotionVector& v : vectors)
      v = motion_vector(static_cast<int>(random() % 5) - 2, static_cast<int>(random() % 3) - 1);
    for (int block = 0; block < 4; ++block)
      grid.motion[mb].vector[block] = vectors[first_of_partition(grid.mbs[mb].kind, block)];
  }
  return grid;
}

TEST(MotionPrediction, IsThatOfTheStandard) {
  std::mt19937 random(3);
  int skips = 0;
  for (int round = 0; round < 3000; ++round) {
    Grid grid = random_grid(random);
    for (int mb = kWidth * grid.first_row; mb < kWidth * kHeight; ++mb) {
      const auto index = static_cast<std::size_t>(mb);
      const MacroblockKind kind = grid.mbs[index].kind;
      if (!is_inter(kind)) continue;
      const MotionPlace place = motion_place(mb % kWidth, mb / kWidth > grid.first_row, kWidth);
      const CodedMotion field{grid.mbs.data() + mb, grid.motion.data() + mb};
      for_each_partition(kind, [&](int block) {
        const int width = kind == MacroblockKind::p8x16 || kind == MacroblockKind::p8x8 ? 1 : 2;
        const MotionNeighbours n = motion_neighbours(place, block, partition_width(kind), field);
        const Reference reference(grid, mb, block, width);
        ASSERT_EQ(predicted_vector(n, kind, block), reference.predicted(kind, block))
            << "macroblock " << mb << ", block " << block << ", kind " << static_cast<int>(kind);
        if (block == 0 && width == 2) {
          ASSERT_EQ(skip_vector(n), reference.skip());
        }
      });
      // A macroblock without levels that moves as P_Skip does is one.
      if (kind != MacroblockKind::p16x16) continue;
      const Reference reference(grid, mb, 0, 2);
      MotionRecord motion = grid.motion[index];
      const bool skipped = finish_motion(place, grid.mbs.data() + mb, grid.motion.data() + mb);
      EXPECT_EQ(skipped, motion.vector[0] == reference.skip());
      skips += skipped ? 1 : 0;
      const MotionVector mvd = skipped ? MotionVector{} : motion.vector[0] - reference.median();
      for (const MotionVector& v : grid.motion[index].mvd) EXPECT_EQ(v, mvd);
    }
  }
  EXPECT_GT(skips, 100);
}

TEST(MotionPrediction, IMacroblocksHaveNoMotion) {
  MacroblockRecord mb;
  MotionRecord motion;
  motion.vector[2] = motion.mvd[1] = motion_vector(5, 5);
  EXPECT_FALSE(finish_motion(motion_place(0, false, 1), &mb, &motion));
  for (int block = 0; block < 4; ++block) {
    EXPECT_EQ(motion.vector[block], MotionVector{});
    EXPECT_EQ(motion.mvd[block], MotionVector{});
  }
}

}  // namespace
