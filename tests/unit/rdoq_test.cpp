// Rate-distortion-optimised quantisation agrees with a plain search written here, and keeps its guarantees.

#include "core/rdoq.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/cavlc_block.h"
#include "core/quant.h"

namespace {

using namespace cu264::core;

struct Block {
  std::vector<std::int32_t> scaled;
  std::uint32_t negative = 0;
  int shift = 19;
  int nC = 0;
};

// The squared error in level units of 8 fractional bits plus lambda times the exact bits, which doubles hold
// exactly.
double cost(const Block& block, const std::vector<std::int16_t>& levels) {
  const int count = static_cast<int>(block.scaled.size());
  double sum = static_cast<double>(kRdoqLambda) / 65536 * cavlc_block_bits(levels.data(), count, block.nC);
  for (int k = 0; k < count; ++k) {
    const double error = std::floor(std::ldexp(block.scaled[k], 8 - block.shift)) / 256 - std::abs(levels[k]);
    sum += error * error;
  }
  return sum;
}

Block random_block(std::mt19937& random, int count, double spread) {
  Block block;
  std::exponential_distribution<double> magnitude(1.0 / spread);
  for (int k = 0; k < count; ++k) {
    const double level = std::min(magnitude(random) / (1 + 0.3 * k), 2200.0);
    block.scaled.push_back(static_cast<std::int32_t>(std::ldexp(level, block.shift)));
  }
  block.negative = random() & 0xffff;
  block.nC = count == 4 ? kChromaDcNc : static_cast<int>(random() % 17);
  return block;
}

std::vector<std::int16_t> optimised(const Block& block) {
  std::vector<std::int16_t> levels(16, 0);
  const int count = static_cast<int>(block.scaled.size());
  const BlockCategory category = count == 16   ? BlockCategory::luma_4x4
                                 : count == 15 ? BlockCategory::luma_ac
                                               : BlockCategory::chroma_dc;
  rdoq_block(CavlcRate{}, block.scaled.data(), block.negative, category, block.shift, block.nC,
             levels.data());
  levels.resize(static_cast<std::size_t>(count));
  return levels;
}

std::vector<std::int16_t> nearest(const Block& block) {
  std::vector<std::int16_t> levels;
  for (std::size_t k = 0; k < block.scaled.size(); ++k) {
    const int level =
        std::min(static_cast<int>(std::floor(std::ldexp(block.scaled[k], -block.shift) + 0.5)), kMaxLevel);
    levels.push_back(static_cast<std::int16_t>((block.negative >> k) & 1 ? -level : level));
  }
  return levels;
}

// The definition without any shortcut: steepest descent, followed by the best cut.
std::vector<std::int16_t> reference(const Block& block) {
  std::vector<std::int16_t> levels = nearest(block);
  for (int round = 0; round < kRdoqRounds; ++round) {
    std::vector<std::int16_t> best = levels;
    for (int k = static_cast<int>(levels.size()) - 1; k >= 0; --k) {
      if (levels[k] == 0) continue;
      std::vector<std::int16_t> trial = levels;
      trial[k] = static_cast<std::int16_t>(trial[k] + (trial[k] < 0 ? 1 : -1));
      if (cost(block, trial) < cost(block, best)) best = trial;
    }
    if (best == levels) break;
    levels = best;
  }
  std::vector<std::int16_t> best = levels, trial = levels;
  for (int k = static_cast<int>(levels.size()) - 1; k >= 0; --k) {
    trial[k] = 0;
    if (cost(block, trial) < cost(block, best)) best = trial;
  }
  return best;
}

TEST(Rdoq, GoesDownTheSteepestSlope) {
  std::mt19937 random(1);
  for (const int count : {4, 15, 16}) {
    for (int round = 0; round < 3000; ++round) {
      const Block block = random_block(random, count, round % 3 == 0 ? 0.7 : round % 3 == 1 ? 4.0 : 60.0);
      ASSERT_EQ(optimised(block), reference(block)) << "count " << count << " round " << round;
    }
  }
}

TEST(Rdoq, NeverCostsMoreThanRoundingToNearest) {
  std::mt19937 random(2);
  int lowered = 0;
  for (int round = 0; round < 3000; ++round) {
    const Block block = random_block(random, 16, 2.0);
    const auto result = optimised(block), plain = nearest(block);
    ASSERT_LE(cost(block, result), cost(block, plain));
    lowered += result != plain;
    for (int k = 0; k < 16; ++k) {
      ASSERT_LE(std::abs(result[k]), std::abs(plain[k]));
      ASSERT_GE(result[k] * plain[k], 0) << "a level changed its sign";
    }
  }
  EXPECT_GT(lowered, 500);
}

TEST(Rdoq, ClipsToWhatBaselineCanCode) {
  Block block;
  block.shift = 17;
  block.scaled.assign(16, 855000000);  // level 6523, the largest DC at QP 0
  block.negative = 0xaaaa;
  for (const std::int16_t level : optimised(block)) EXPECT_EQ(std::abs(level), kMaxLevel);
}

TEST(Rdoq, LeavesAnEmptyBlockAlone) {
  Block block;
  block.scaled.assign(16, 1000);
  block.negative = 0xffff;
  for (const std::int16_t level : optimised(block)) EXPECT_EQ(level, 0);
}

TEST(Rdoq, EachStepOfALevelGrowsByAsMuchMore) {
  for (const int magnitude : {1, 2, 3, 40, kMaxLevel}) {
    for (const std::int32_t value : {256 * magnitude - 128, 256 * magnitude, 256 * magnitude + 1000}) {
      std::int64_t growth = rdoq_growth_of_step(value, magnitude), sum = 0;
      for (int level = magnitude; level > 0; --level) {
        EXPECT_EQ(rdoq_growth_of_step(value, level), growth);
        sum += growth;
        growth += kRdoqGrowthOfGrowth;
      }
      EXPECT_EQ(sum, rdoq_growth_of_zero(value, magnitude));
    }
  }
}

// The growth of the error is often as large as 32 bits hold, and what is left of a block may take more bits.
TEST(Rdoq, ACutThatSavesNoBitsIsNeverWorthIt) {
  for (const int fewer_bits : {0, -1, -1000, -50000}) {
    EXPECT_LE(rdoq_saved_by_cut(fewer_bits, 0), 0);
    EXPECT_LE(rdoq_saved_by_cut(fewer_bits, INT32_MAX), 0);
  }
  EXPECT_LT(rdoq_saved_by_cut(200000, INT32_MAX), 0);
  EXPECT_GT(rdoq_saved_by_cut(200000, 1000000), 0);
}

}  // namespace
