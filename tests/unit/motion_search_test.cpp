// The candidates of the search for vectors lie within its limits, and decimation scores what it should.

#include "core/motion_search.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

#include "core/decimation.h"

namespace {

using namespace cu264::core;

TEST(MotionSearch, TheEightVectorsAroundOneAreDifferent) {
  const MotionVector centre = motion_vector(5, -7);
  std::set<std::pair<int, int>> seen;
  for (int i = 0; i < 8; ++i) {
    const MotionVector v = around(centre, i, 2);
    const int x = v.x - centre.x, y = v.y - centre.y;
    EXPECT_TRUE((x == 0 || x == 2 || x == -2) && (y == 0 || y == 2 || y == -2) && (x != 0 || y != 0));
    seen.insert({x, y});
  }
  EXPECT_EQ(seen.size(), 8u);
}

TEST(MotionSearch, TheEarlierOfEqualVectorsWins) {
  BestVector best;
  EXPECT_TRUE(best.take(7, motion_vector(1, 1)));
  EXPECT_FALSE(best.take(7, motion_vector(2, 2)));
  EXPECT_TRUE(best.take(6, motion_vector(3, 3)));
  EXPECT_EQ(best.vector, motion_vector(3, 3));
}

// Whatever is offered, a block of a smaller size moves no further than the limits allow at full size.
TEST(MotionSearch, CandidatesKeepToTheLimits) {
  std::mt19937 random(1);
  const auto draw = [&] { return static_cast<int>(random() % 400) - 200; };
  for (int round = 0; round < 500; ++round) {
    const int mb_x = static_cast<int>(random() % 9), mb_y = static_cast<int>(random() % 7);
    const MotionLimits limits = motion_limits(16 * mb_x, 16 * mb_y, 16, 16, 9 * 16, 7 * 16);
    const auto within = [&](MotionVector v, int shift) {
      return limits.allow(motion_vector(v.x << (2 + shift), v.y << (2 + shift)));
    };
    for (int shift = 0; shift < 2; ++shift)
      EXPECT_TRUE(within(clamp_whole(limits, draw(), draw(), shift), shift));
    const auto any = [&](int, int) { return motion_vector(draw(), draw()); };
    for (int i = 0; i < kHalfCandidates; ++i) {
      const MotionVector before = motion_vector(draw(), draw());
      EXPECT_TRUE(within(half_candidate(i, any, 5, 4, before, mb_x, mb_y, limits), 1));
    }
    for (int i = 0; i < kWholeCandidates; ++i) EXPECT_TRUE(within(whole_candidate(i, any, limits), 0));
    for (int i = 0; i < kBlockCandidates; ++i) {
      const int block = round & 3, x = 16 * mb_x + 8 * (block & 1), y = 16 * mb_y + 8 * (block >> 1);
      const MotionLimits of_block = motion_limits(x, y, 8, 8, 9 * 16, 7 * 16);
      const MotionVector v = block_candidate(i, block, any, of_block);
      EXPECT_TRUE(of_block.allow(motion_vector(4 * v.x, 4 * v.y)));
    }
  }
}

// The four blocks at quarter size that are nearest to a macroblock, in a grid of 5x4; at the border its own
// stands for one that is not there.
TEST(MotionSearch, HalfSizeBeginsWithTheNearestBlocks) {
  const MotionLimits limits = motion_limits(64, 48, 16, 16, 160, 128);
  const auto regions = [](int x, int y) { return motion_vector(x, y); };
  const auto check = [&](int mb_x, int mb_y, int beside, int below) {
    MotionVector v[kHalfCandidates];
    for (int i = 0; i < kHalfCandidates; ++i)
      v[i] = half_candidate(i, regions, 5, 4, motion_vector(8, -6), mb_x, mb_y, limits);
    const int x = mb_x / 2, y = mb_y / 2;
    EXPECT_EQ(v[0], motion_vector(2 * x, 2 * y));
    EXPECT_EQ(v[1], motion_vector(2 * beside, 2 * y));
    EXPECT_EQ(v[2], motion_vector(2 * x, 2 * below));
    EXPECT_EQ(v[3], motion_vector(2 * beside, 2 * below));
    EXPECT_EQ(v[4], motion_vector(0, 0));
    EXPECT_EQ(v[5], motion_vector(4, -3));
  };
  check(4, 3, 1, 2);
  check(5, 2, 3, 0);
  check(0, 0, 0, 0);
  check(9, 7, 4, 3);
}

// At full size the neighbours are left, above, above and to the right, right and below.
TEST(MotionSearch, FullSizeBeginsWithTheNeighbours) {
  const MotionLimits limits = motion_limits(64, 48, 16, 16, 160, 128);
  const auto field = [](int dx, int dy) { return motion_vector(dx, dy); };
  constexpr int kExpected[kWholeCandidates][2] = {{0, 0}, {-1, 0}, {0, -1}, {1, -1}, {1, 0}, {0, 1}, {0, 0}};
  for (int i = 0; i < kWholeCandidates; ++i)
    EXPECT_EQ(whole_candidate(i, field, limits), motion_vector(kExpected[i][0], kExpected[i][1])) << i;
  for (int block = 0; block < 4; ++block) {
    const int beside = (block & 1) != 0 ? 1 : -1, below = block >= 2 ? 1 : -1;
    EXPECT_EQ(block_candidate(0, block, field, limits), motion_vector(0, 0));
    EXPECT_EQ(block_candidate(1, block, field, limits), motion_vector(beside, 0));
    EXPECT_EQ(block_candidate(2, block, field, limits), motion_vector(0, below));
  }
}

TEST(Decimation, ALevelAboveOneKeepsItsBlock) {
  LevelMasks masks{1u << 9, 0};
  EXPECT_GE(decimation_score(masks, false), kDroppedLuma);
  masks.ones = masks.nonzero;
  EXPECT_LT(decimation_score(masks, false), kDroppedBlock);
}

// By the run of zeros before each level: 3 without one, 2 up to two zeros, 1 up to five, then nothing; in 8x8
// blocks the runs are four times as long.
TEST(Decimation, ScoresRuns) {
  constexpr int kScores[] = {3, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (int run = 0; run < 16; ++run) {
    const LevelMasks small{1u << run, 1u << run};
    EXPECT_EQ(decimation_score(small, false), kScores[run]) << run;
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << (4 * run + i);
      EXPECT_EQ(decimation_score(LevelMasks8x8{bit, bit}, true), kScores[run]) << run;
    }
  }
  const LevelMasks three{0b100'0000'1001, 0b100'0000'1001};  // runs of 0, 2 and 6
  EXPECT_EQ(decimation_score(three, false), 3 + 2 + 0);
  EXPECT_EQ(decimation_score(LevelMasks{}, false), 0);
}

}  // namespace
