// The rate model of CABAC counts the bins that the coder would code, each at the cost of its context's
// typical state.

#include "core/cabac_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "core/cabac_macroblock.h"
#include "core/quant.h"
#include "core/rdoq.h"

namespace {

using namespace cu264::core;

const CabacCosts& costs_at(int qp) {
  static const CabacCostTable table = make_cabac_cost_table();
  return table.at[qp];
}

// A sink of bins that adds up their costs.
struct CostSum {
  BinCosts cost;
  int sum = 0;
  void decision(int context, int bin) { sum += cost(context, bin); }
  void bypass(std::uint32_t, int count) { sum += count * kCabacBit; }
  void terminate(int) {}
};

// Levels of a block, more of them and greater ones in later rounds.
std::vector<std::int16_t> random_levels(std::mt19937& random, int count, int round) {
  std::vector<std::int16_t> levels(static_cast<std::size_t>(count), 0);
  for (std::int16_t& level : levels) {
    if (random() % 100 >= static_cast<unsigned>(round % 101)) continue;
    const int magnitude = 1 + static_cast<int>(random() % (round % 3 == 0   ? 1
                                                           : round % 3 == 1 ? 20
                                                                            : kMaxLevel));
    level = static_cast<std::int16_t>(random() % 2 != 0 ? -magnitude : magnitude);
  }
  return levels;
}

TEST(CabacRate, BlocksCostWhatTheirBinsCost) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const int qp = static_cast<int>(random() % 52);
    const CabacRate rate{true, &costs_at(qp)};
    for (int cat = 0; cat < 5; ++cat) {
      const auto category = static_cast<BlockCategory>(cat);
      std::vector<std::int16_t> levels = random_levels(random, max_num_coeff(category), round);
      levels.resize(16);
      const bool dc = category == BlockCategory::luma_dc || category == BlockCategory::chroma_dc;
      const int nA = static_cast<int>(random() % 18) - 1, nB = static_cast<int>(random() % 3) - 1;
      const int context =
          category == BlockCategory::chroma_dc ? rate.chroma_dc_context() : rate.block_context(nA, nB);
      CostSum sum{{qp}};
      put_cabac_block(sum, levels.data(), level_masks(levels.data(), max_num_coeff(category)).nonzero,
                      category, dc ? static_cast<int>(random() % 4) : (nA != 0) + 2 * (nB != 0));
      ASSERT_EQ(rate.block_bits(levels.data(), category, context), sum.sum)
          << "round " << round << " category " << cat;
    }
  }
}

// The levels of an 8x8 block in coding order, and as the coder takes them.
struct LargeBlock {
  std::vector<std::int16_t> in_order;
  std::int16_t interleaved[64];
  LevelMasks8x8 masks;

  explicit LargeBlock(const std::vector<std::int16_t>& levels) : in_order(levels) {
    for (int k = 0; k < 64; ++k) {
      const std::int16_t level = levels[static_cast<std::size_t>(k)];
      interleaved[16 * interleaved_block(k) + interleaved_level(k)] = level;
      masks = with_level(masks, k, level);
    }
  }
  int bits(const CabacRate& rate) const {
    return rate.block8x8_bits(masks, [this](int k) { return int{in_order[static_cast<std::size_t>(k)]}; });
  }
};

TEST(CabacRate, LargeBlocksCostWhatTheirBinsCost) {
  std::mt19937 random(2);
  for (int round = 0; round < 5000; ++round) {
    const int qp = static_cast<int>(random() % 52);
    const LargeBlock block(random_levels(random, 64, round));
    CostSum sum{{qp}};
    if (block.masks.nonzero != 0) put_cabac_levels_8x8(sum, block.interleaved, block.masks.nonzero);
    ASSERT_EQ(block.bits(CabacRate{true, &costs_at(qp)}), sum.sum) << "round " << round;
  }
}

// Levels that lead through all contexts of magnitudes, and what random ones hardly ever do: single levels,
// runs of ones, suffixes that become shorter, and ends of the block.
std::vector<std::vector<std::int16_t>> levels_of_note(std::mt19937& random, int count) {
  std::vector<std::vector<std::int16_t>> blocks;
  const auto block = [count] { return std::vector<std::int16_t>(static_cast<std::size_t>(count), 0); };
  for (const int magnitude : {1, 2, 3, 13, 14, 15, 16, 17, 18, 22, 30, 46, kMaxLevel}) {
    for (const int k : {0, 1, count / 2, count - 2, count - 1}) {
      blocks.push_back(block());
      blocks.back()[static_cast<std::size_t>(k)] = static_cast<std::int16_t>(-magnitude);
    }
    blocks.push_back(std::vector<std::int16_t>(static_cast<std::size_t>(count), std::int16_t(magnitude)));
  }
  // Up to six ones, then up to six greater levels, in the order of coding, with ones between and after them.
  for (int ones = 0; ones <= 6; ++ones) {
    for (int greater = 0; greater <= 6; ++greater) {
      blocks.push_back(block());
      for (int k = 0; k < count; ++k) {
        const int coded = count - 1 - k - ones;
        const bool high = coded >= 0 && coded % 2 == 0 && coded < 2 * greater;
        blocks.back()[static_cast<std::size_t>(k)] =
            static_cast<std::int16_t>(high ? 2 + random() % 16 % (1 + random() % 16) : 1);
      }
    }
  }
  for (int round = 0; round < 2000; ++round) blocks.push_back(random_levels(random, count, round));
  return blocks;
}

TEST(CabacRate, StepsOfSmallBlocksChangeWhatTheyCost) {
  std::mt19937 random(4);
  for (int cat = 0; cat < 5; ++cat) {
    const auto category = static_cast<BlockCategory>(cat);
    const int count = max_num_coeff(category);
    for (std::vector<std::int16_t> levels : levels_of_note(random, count)) {
      const int context = category == BlockCategory::chroma_dc ? 0 : static_cast<int>(random() % 4);
      const CabacRate rate{true, &costs_at(static_cast<int>(random() % 52))};
      levels.resize(16);
      const int bits = rate.block_bits(levels.data(), category, context);
      int changes[16];
      rate.block_steps(levels.data(), level_masks(levels.data(), count), category, context, changes);
      for (int k = 0; k < count; ++k) {
        if (levels[static_cast<std::size_t>(k)] == 0) continue;
        std::vector<std::int16_t> lowered = levels;
        lowered[static_cast<std::size_t>(k)] =
            static_cast<std::int16_t>(towards_zero(levels[static_cast<std::size_t>(k)]));
        ASSERT_EQ(bits + changes[k], rate.block_bits(lowered.data(), category, context))
            << "category " << cat << " position " << k << " of " << testing::PrintToString(levels);
      }
    }
  }
}

TEST(CabacRate, StepsOfLargeBlocksChangeWhatTheyCost) {
  std::mt19937 random(5);
  for (const std::vector<std::int16_t>& levels : levels_of_note(random, 64)) {
    const CabacRate rate{true, &costs_at(static_cast<int>(random() % 52))};
    const LargeBlock block(levels);
    int changes[64];
    rate.block8x8_steps(
        block.masks, [&](int k) { return int{levels[static_cast<std::size_t>(k)]}; }, changes);
    for (int k = 0; k < 64; ++k) {
      if (levels[static_cast<std::size_t>(k)] == 0) continue;
      std::vector<std::int16_t> lowered = levels;
      lowered[static_cast<std::size_t>(k)] =
          static_cast<std::int16_t>(towards_zero(levels[static_cast<std::size_t>(k)]));
      ASSERT_EQ(block.bits(rate) + changes[k], LargeBlock(lowered).bits(rate))
          << "position " << k << " of " << testing::PrintToString(levels);
    }
  }
}

// The kernels keep the sums of changes in halves of a word, and costs in squared errors in a word.
TEST(CabacRate, ChangesFitWhereTheKernelsKeepThem) {
  for (int qp = 0; qp < 52; ++qp) {
    const CabacRate rate{true, &costs_at(qp)};
    for (const auto& table : costs_at(qp).steps) {
      const auto largest = [](int a, int b) { return std::max(std::abs(a), std::abs(b)); };
      int fewer_ones = 0, of_one = 0, of_greater = 0;
      for (int context = 0; context < kLevelContexts; ++context) {
        const StepCosts &one = table.at[context], &more = table.at[kLevelContexts + context];
        const int longest = more.fewer_greater + (kSuffixMagnitude - 3) * more.fewer_greater_more;
        fewer_ones = largest(fewer_ones, largest(one.fewer_ones, more.fewer_ones));
        of_one = largest(of_one, one.fewer_greater);
        of_greater =
            largest(of_greater, largest(longest, largest(more.fewer_greater, more.fewer_greater_suffix)));
      }
      EXPECT_LT(64 * fewer_ones, 1 << 15);
      EXPECT_LT(64 * of_one + 4 * of_greater, 1 << 15);  // no more than four greater levels change
      EXPECT_EQ(table.at[2 * kLevelContexts - 1].fewer_greater, 0);
    }
    const LargeBlock block(std::vector<std::int16_t>(64, static_cast<std::int16_t>(-kMaxLevel)));
    EXPECT_LT(kRdoqLambda * block.bits(rate), std::int64_t{1} << 31);
  }
}

// Contexts that the search does not tell apart share a state, so any neighbours will do.
TEST(CabacRate, HeadersCostWhatTheirBinsCost) {
  for (const int qp : {0, 12, 27, 40, 51}) {
    const CabacRate rate{true, &costs_at(qp)};
    const int kept_mode = BinCosts{qp}(kCtxPrevIntraMode, 1);
    EXPECT_EQ(rate.intra4x4_mode_bits(kIntra4x4Dc, kIntra4x4Dc),
              kept_mode * 5 / 8);  // because it is kept often
    {
      const CabacNeighbours n{cabac_neighbour(nullptr), cabac_neighbour(nullptr)};
      for (const MacroblockKind kind :
           {MacroblockKind::intra4x4, MacroblockKind::intra8x8, MacroblockKind::intra16x16}) {
        for (int mode = 0; mode < 4; ++mode) {
          for (int pattern = 0; pattern < 48; ++pattern) {
            MacroblockRecord mb;
            mb.kind = kind, mb.transform_8x8_mode = true;
            mb.coded_block_pattern = static_cast<std::uint8_t>(pattern);
            CostSum sum{{qp}};
            int bits = 0;
            if (kind == MacroblockKind::intra16x16) {
              if ((pattern & 15) != 0 && (pattern & 15) != 15) continue;
              mb.intra16x16_pred_mode = static_cast<std::uint8_t>(mode);
              bits = rate.intra16x16_header_bits(mode, pattern & 15, pattern >> 4);
              EXPECT_LE(bits,
                        rate.intra16x16_header_bits(mode, pattern & 15, CabacRate::kCostliestChromaPattern));
            } else {
              for (int block = 0; block < 16; ++block) mb.intra4x4_pred_mode[block] = kIntra4x4Dc;
              bits = rate.i_nxn_header_bits(kind, pattern & 15, pattern >> 4) +
                     16 / blocks_of_a_mode(kind) * kept_mode;
            }
            mb.intra_chroma_pred_mode = static_cast<std::uint8_t>(mode);
            put_cabac_header(sum, mb, nullptr, nullptr, n, false);
            ASSERT_EQ(bits + rate.chroma_mode_bits(mode), sum.sum)
                << "qp " << qp << " kind " << static_cast<int>(kind) << " pattern " << pattern;
          }
        }
      }
    }
  }
}

// The kernels add up the costs of two 4x4 blocks in halves of a word.
TEST(CabacRate, SmallBlocksStayBelowHalfAWord) {
  for (int qp = 0; qp < 52; ++qp) {
    const CabacRate rate{false, &costs_at(qp)};
    const std::vector<std::int16_t> levels(16, static_cast<std::int16_t>(-kMaxLevel));
    for (int context = 0; context < 4; ++context)
      EXPECT_LT(rate.block_bits(levels.data(), BlockCategory::luma_4x4, context), 1 << 16);
  }
}

// Costs follow the QP without jumps, and what the entropy coder hardly ever codes takes many bits.
TEST(CabacRate, CostsFollowTheQp) {
  for (int qp = 1; qp < 52; ++qp) {
    for (int context = 0; context < kCabacContexts; ++context) {
      const int before = BinCosts{qp - 1}.state(context), here = BinCosts{qp}.state(context);
      ASSERT_GE(here, 0);
      ASSERT_LT(here, 128);
      ASSERT_LE(std::abs(here - before), 8) << "context " << context << " qp " << qp;
    }
  }
  EXPECT_EQ(state_cost(64, 0), kCabacBit);
  EXPECT_EQ(state_cost(63, 1), kCabacBit);
  EXPECT_EQ(state_cost(127, 0), state_cost(0, 1));
  EXPECT_GT(state_cost(127, 0), 5 * kCabacBit);
}

struct ScaledBlock {
  std::int32_t scaled[64];
  std::uint64_t negative = 0;
  int shift = 19;
};

double cost(const ScaledBlock& block, const CabacRate& rate, const std::vector<std::int16_t>& levels) {
  double sum = static_cast<double>(kRdoqLambda) / 65536 * LargeBlock(levels).bits(rate) / kCabacBit;
  for (int k = 0; k < 64; ++k) {
    const double error = std::floor(std::ldexp(block.scaled[k], 8 - block.shift)) / 256 -
                         std::abs(levels[static_cast<std::size_t>(k)]);
    sum += error * error;
  }
  return sum;
}

// The definition of rdoq_block8x8 without any shortcut.
std::vector<std::int16_t> reference(const ScaledBlock& block, const CabacRate& rate) {
  std::vector<std::int16_t> levels(64);
  for (int k = 0; k < 64; ++k) {
    const int level =
        std::min(static_cast<int>(std::floor(std::ldexp(block.scaled[k], -block.shift) + 0.5)), kMaxLevel);
    levels[static_cast<std::size_t>(k)] =
        static_cast<std::int16_t>((block.negative >> k) & 1 ? -level : level);
  }
  for (int round = 0; round < kRdoqRounds; ++round) {
    std::vector<std::int16_t> best = levels;
    for (std::size_t k = 64; k-- > 0;) {
      if (levels[k] == 0) continue;
      std::vector<std::int16_t> trial = levels;
      trial[k] = static_cast<std::int16_t>(trial[k] + (trial[k] < 0 ? 1 : -1));
      if (cost(block, rate, trial) < cost(block, rate, best)) best = trial;
    }
    if (best == levels) break;
    levels = best;
  }
  std::vector<std::int16_t> best = levels, trial = levels;
  for (std::size_t k = 64; k-- > 0;) {
    trial[k] = 0;
    if (cost(block, rate, trial) < cost(block, rate, best)) best = trial;
  }
  return best;
}

TEST(CabacRate, RdoqOfLargeBlocksGoesDownTheSteepestSlope) {
  std::mt19937 random(3);
  int lowered = 0;
  for (int round = 0; round < 300; ++round) {
    ScaledBlock block;
    std::exponential_distribution<double> magnitude(round % 3 == 0 ? 1.5 : round % 3 == 1 ? 0.3 : 0.02);
    for (int k = 0; k < 64; ++k) {
      const double level = std::min(magnitude(random) / (1 + 0.1 * k), 2200.0);
      block.scaled[k] = static_cast<std::int32_t>(std::ldexp(level, block.shift));
      block.negative |= static_cast<std::uint64_t>(random() & 1) << k;
    }
    const CabacRate rate{true, &costs_at(static_cast<int>(random() % 52))};
    std::vector<std::int16_t> levels(64);
    rdoq_block8x8(rate, block.scaled, block.negative, block.shift, levels.data());
    ASSERT_EQ(levels, reference(block, rate)) << "round " << round;
    for (int k = 0; k < 64; ++k) {
      lowered += std::abs(levels[static_cast<std::size_t>(k)]) <
                 static_cast<int>(std::floor(std::ldexp(block.scaled[k], -block.shift) + 0.5));
    }
  }
  EXPECT_GT(lowered, 300);
}

}  // namespace
