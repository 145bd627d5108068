// When I_PCM is chosen, and the bounds that save the counting of bits.
#include "core/pcm_decision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "core/bits.h"
#include "core/weighted_quant.h"
#include "tests/unit/bit_string.h"

namespace cu264::core {
namespace {

struct MadeUpSearch {
  bool rd = false;
  int qp_ = 20, levels = 0, magnitudes = 0, bits = 0;
  bool clipped = false, left_range = false;
  int last_clipping = kLastClippingQp;
  std::int64_t cost_ = 0;
  mutable int counted = 0;

  CavlcRate rate() const { return {}; }
  int rd_lambda() const { return 10; }
  int qp() const { return qp_; }
  bool by_rd() const { return rd; }
  std::int64_t cost() const { return cost_; }
  bool any_is_clipped() const { return clipped; }
  int last_clipping_qp() const { return last_clipping; }
  bool leaves_range() const { return left_range; }
  int count_levels() const { return levels; }
  int sum_of_magnitudes() const { return magnitudes; }
  int macroblock_bits() const {
    ++counted;
    return bits;
  }
};

TEST(PcmDecision, PcmCostsItsSamplesAlignmentAndType) {
  BitCounter counter{};
  put_ue(counter, kMbTypePcm);
  EXPECT_EQ(kPcmBits, static_cast<int>(counter.bits) + 7 + (256 + 64 + 64) * 8);
}

TEST(PcmDecision, NoHeaderIsLongerThanItsBound) {
  int longest = 0;
  for (int pattern = 0; pattern < 48; ++pattern) {
    for (int delta = -26; delta <= 25; ++delta) {
      MacroblockRecord mb;
      mb.intra_chroma_pred_mode = 3;
      mb.mb_qp_delta = static_cast<std::int8_t>(delta);
      mb.coded_block_pattern = static_cast<std::uint8_t>(pattern);
      longest = std::max(longest, CavlcRate{}.macroblock_header_bits(mb, 16 * 4));
      mb.kind = MacroblockKind::intra16x16;
      mb.intra16x16_pred_mode = 3;
      longest = std::max(longest, CavlcRate{}.macroblock_header_bits(mb, 0));
    }
  }
  EXPECT_LE(longest, kMaxHeaderBits);
  EXPECT_GE(longest, kMaxHeaderBits - 10);  // the bound is close
}

TEST(PcmDecision, ByRdTheCheaperIsTaken) {
  MadeUpSearch search;
  search.rd = true;
  search.cost_ = 10 * 3088;  // the cost of I_PCM, which has no error
  EXPECT_FALSE(pcm_is_better(search));
  ++search.cost_;
  EXPECT_TRUE(pcm_is_better(search));
}

TEST(PcmDecision, ClippedDcCountsWhereSatdDecidesAtTheLowestQps) {
  for (const bool rd : {false, true}) {
    for (int qp = 0; qp <= 51; ++qp) {
      MadeUpSearch search;
      search.rd = rd, search.qp_ = qp, search.clipped = true;
      EXPECT_EQ(pcm_is_better(search), !rd && qp <= 9) << qp;
    }
  }
}

TEST(PcmDecision, WithScalingListsLevelsAreClippedAtHigherQps) {
  MadeUpSearch search;
  search.clipped = true, search.last_clipping = kLastWeightedClippingQp;
  search.qp_ = 33;
  EXPECT_TRUE(pcm_is_better(search));
  search.qp_ = 34;
  EXPECT_FALSE(pcm_is_better(search));
  for (int qp = 0; qp <= 51; ++qp) {  // the weight 1, and the largest DC coefficient of luma
    const std::int64_t scaled = std::int64_t{255} * 256 * weighted_multiplier(quant_multiplier(qp, 0), 1);
    const int shift = make_quantiser(qp).shift + kLumaDcExtraShift;
    EXPECT_EQ((scaled + (std::int64_t{1} << (shift - 1))) >> shift >= kMaxLevel,
              qp <= kLastWeightedClippingQp)
        << qp;
  }
}

TEST(PcmDecision, WhatLeavesTheRangeOfDecodersIsPcm) {
  for (const bool rd : {false, true}) {
    MadeUpSearch search;
    search.rd = rd, search.left_range = true;
    EXPECT_TRUE(pcm_is_better(search));
  }
}

TEST(PcmDecision, OnlyDcLevelsAreClippedAndOnlyAtThoseQps) {
  // The largest coefficients that differences of 255 give: the gains of the transform's rows are 4 and 6, and
  // all 256 differences of a macroblock, or 64 of a chroma block, add up.
  constexpr int kGain[3] = {4 * 4, 6 * 6, 4 * 6};
  const auto level = [](std::int64_t coefficient, int multiplier, int shift) {
    return ((coefficient * multiplier) + (std::int64_t{1} << (shift - 1))) >> shift;
  };
  for (int qp = 0; qp <= 51; ++qp) {
    const Quantiser q = make_quantiser(qp);
    for (int i = 0; i < 3; ++i) EXPECT_LT(level(255 * kGain[i], q.multiplier[i], q.shift), kMaxLevel) << qp;
    const std::int64_t luma = level(255 * 256, q.multiplier[0], q.shift + kLumaDcExtraShift);
    const std::int64_t chroma = level(255 * 64, q.multiplier[0], q.shift + kChromaDcExtraShift);
    EXPECT_EQ(luma >= kMaxLevel, qp <= kLastClippingQp) << qp;
    EXPECT_LE(chroma, luma) << qp;
  }
  EXPECT_TRUE(is_clipped(2063));
  EXPECT_TRUE(is_clipped(-2063));
  EXPECT_FALSE(is_clipped(2062));
  EXPECT_FALSE(is_clipped(-2062));
}

TEST(PcmDecision, BitsAreCountedOnlyWhereTheyCouldBeTooMany) {
  MadeUpSearch search;
  search.bits = 3089;
  search.levels = 64, search.magnitudes = 64 * 2063;
  EXPECT_FALSE(pcm_is_better(search));
  EXPECT_EQ(search.counted, 0) << "so few levels always fit";
  search.levels = 65, search.magnitudes = 65;
  EXPECT_FALSE(pcm_is_better(search));
  EXPECT_EQ(search.counted, 0) << "levels of 1 always fit";
  search.magnitudes = 65 * 2063;
  EXPECT_TRUE(pcm_is_better(search));
  EXPECT_EQ(search.counted, 1);
  search.bits = 3088;
  EXPECT_FALSE(pcm_is_better(search)) << "a tie is not I_PCM's";
}

TEST(PcmDecision, AsManyLevelsAsNeverCountFit) {
  // A level takes at most 28 bits, its run 11, and the coeff_token of a block 16.
  EXPECT_LE(kMaxHeaderBits + kSurelyBelowPcm * (28 + 11) + kBlocksPerMacroblock * 16, kPcmBits);
}

// A grid of counts, as in both searches.
struct Counts {
  int count[5][5];
  template <class Rate>
  int context(const Rate& rate, int x, int y) const {
    return rate.block_context(count[y + 1][x], count[y][x + 1]);
  }
};

TEST(PcmDecision, SlotBitsAreThoseThatTheCoderWrites) {
  Counts luma, chroma[2];
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 5; ++x) {
      luma.count[y][x] = (3 * x + 5 * y) % 17 - (x == 0 && y < 3);
      for (int c = 0; c < 2; ++c) chroma[c].count[y][x] = (7 * x + 2 * y + c) % 16 - (y == 0);
    }
  }
  const std::int16_t levels[16] = {3, 0, -1, 1};
  for (const MacroblockKind kind :
       {MacroblockKind::intra4x4, MacroblockKind::intra16x16, MacroblockKind::pcm}) {
    for (int pattern = 0; pattern < 48; ++pattern) {
      MacroblockRecord mb;
      mb.kind = kind;
      mb.coded_block_pattern = static_cast<std::uint8_t>(pattern);
      for (int slot = 0; slot < 27; ++slot) {
        const bool whole = kind == MacroblockKind::intra16x16;
        bool coded = false;
        int count = 16, a = 0, b = 0, nC = -1;
        if (slot == 0) {
          coded = whole, a = luma.count[1][0], b = luma.count[0][1];
        } else if (slot < 17) {
          static constexpr int kX[16] = {0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3};
          static constexpr int kY[16] = {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3};
          const int x = kX[slot - 1], y = kY[slot - 1];
          coded = (pattern >> ((slot - 1) / 4)) & 1, count = whole ? 15 : 16;
          a = luma.count[y + 1][x], b = luma.count[y][x + 1];
        } else if (slot < 19) {
          coded = pattern >= 16, count = 4;
        } else {
          const int c = (slot - 19) / 4, x = slot % 2 == 0, y = (slot - 19) % 4 / 2;
          coded = pattern >= 32, count = 15;
          a = chroma[c].count[y + 1][x], b = chroma[c].count[y][x + 1];
        }
        if (count != 4) nC = a >= 0 && b >= 0 ? (a + b + 1) / 2 : a >= 0 ? a : b >= 0 ? b : 0;
        int expected = 0;
        if (coded && kind != MacroblockKind::pcm) {
          test::StringSink bits;
          put_block(bits, levels, cavlc_symbols(levels, count), count, nC);
          expected = static_cast<int>(bits.bits.size());
        }
        ASSERT_EQ(slot_bits(CavlcRate{}, mb, slot, levels, luma, chroma), expected)
            << slot << ' ' << pattern << ' ' << static_cast<int>(kind);
      }
    }
  }
}

}  // namespace
}  // namespace cu264::core
