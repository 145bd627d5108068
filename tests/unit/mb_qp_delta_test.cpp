// core/mb_qp_delta.h against a decoder's reading of H.264 7.3.5 and 7.4.5, written here anew.
#include "core/mb_qp_delta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace cu264::core {
namespace {

MacroblockRecord macroblock(MacroblockKind kind, int coded_block_pattern, int qp) {
  MacroblockRecord mb{};
  mb.kind = kind;
  mb.coded_block_pattern = static_cast<std::uint8_t>(coded_block_pattern);
  mb.qp = static_cast<std::uint8_t>(qp);
  return mb;
}

// 7.3.5: after I_PCM there is no mb_qp_delta; else there is if any coefficients follow, and always in
// Intra_16x16 macroblocks.
bool told(const MacroblockRecord& mb) {
  switch (mb.kind) {
    case MacroblockKind::pcm:
      return false;
    case MacroblockKind::intra16x16:
      return true;
    default:
      return mb.coded_block_pattern % 16 > 0 || mb.coded_block_pattern / 16 > 0;
  }
}

// Equation 7-37 for 8-bit luma.
int decoded_qp(int predicted, int mb_qp_delta) {
  return (predicted + mb_qp_delta + 52) % 52;
}

// A slice's QPs as a decoder derives them: mb_qp_delta counts as 0 where it is absent (7.4.5), and
// macroblocks of every kind are the prediction of the next.
std::vector<int> decoded_slice(const std::vector<MacroblockRecord>& slice, int slice_qp) {
  std::vector<int> qps;
  int qp = slice_qp;
  for (const MacroblockRecord& mb : slice) {
    if (told(mb)) qp = decoded_qp(qp, mb.mb_qp_delta);
    qps.push_back(qp);
  }
  return qps;
}

void chain(std::vector<MacroblockRecord>& slice, int slice_qp) {
  int predicted = slice_qp;
  for (MacroblockRecord& mb : slice) {
    chain_qp(mb, predicted);
    predicted = mb.qp;
  }
}

TEST(QpChain, OffsetsAreClampedToTheScale) {
  for (int qp = 0; qp <= 51; ++qp) {
    for (int offset = -128; offset <= 127; ++offset) {
      ASSERT_EQ(std::clamp(qp + offset, 0, 51), macroblock_qp(qp, offset)) << qp << " and " << offset;
    }
  }
}

TEST(QpChain, EveryDifferenceIsInRangeAndDecodes) {
  for (int predicted = 0; predicted <= 51; ++predicted) {
    for (int qp = 0; qp <= 51; ++qp) {
      const int delta = qp_delta(qp, predicted);
      ASSERT_GE(delta, -26) << qp << " after " << predicted;
      ASSERT_LE(delta, 25) << qp << " after " << predicted;
      ASSERT_EQ(qp, decoded_qp(predicted, delta)) << qp << " after " << predicted;
    }
  }
}

TEST(QpChain, TheLongWayRoundIsTheShortOne) {
  EXPECT_EQ(-1, qp_delta(51, 0));
  EXPECT_EQ(1, qp_delta(0, 51));
  EXPECT_EQ(25, qp_delta(25, 0));
  EXPECT_EQ(-26, qp_delta(26, 0));
  EXPECT_EQ(-26, qp_delta(0, 26));
  EXPECT_EQ(25, qp_delta(0, 27));
  EXPECT_EQ(0, qp_delta(51, 51));
}

TEST(QpChain, WhatIsNotToldKeepsTheQpBefore) {
  for (const MacroblockRecord& untold :
       {macroblock(MacroblockKind::pcm, 0, 3), macroblock(MacroblockKind::pcm, 47, 3),
        macroblock(MacroblockKind::intra4x4, 0, 3)}) {
    MacroblockRecord mb = untold;
    chain_qp(mb, 40);
    EXPECT_EQ(40, mb.qp);
    EXPECT_EQ(0, mb.mb_qp_delta);
  }
}

TEST(QpChain, WhatIsToldKeepsItsOwn) {
  for (const int pattern : {0, 1, 15, 16, 32, 47}) {
    MacroblockRecord mb = macroblock(MacroblockKind::intra16x16, pattern, 3);
    chain_qp(mb, 40);
    EXPECT_EQ(3, mb.qp) << pattern;
    EXPECT_EQ(15, mb.mb_qp_delta) << pattern;  // 40 + 15 - 52
  }
  // Chroma's coefficients alone are enough.
  for (const int pattern : {1, 8, 16, 32, 47}) {
    MacroblockRecord mb = macroblock(MacroblockKind::intra4x4, pattern, 20);
    chain_qp(mb, 22);
    EXPECT_EQ(20, mb.qp) << pattern;
    EXPECT_EQ(-2, mb.mb_qp_delta) << pattern;
  }
}

TEST(QpChain, SlicesDecodeToWhatWasQuantised) {
  std::mt19937 random(264);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int untold = 0, leading = 0, wrapped = 0;
  for (int round = 0; round < 2000; ++round) {
    const int slice_qp = below(52);
    std::vector<MacroblockRecord> slice;
    for (int count = 1 + below(40); count > 0; --count) {
      const MacroblockKind kind = below(6) == 0   ? MacroblockKind::pcm
                                  : below(2) == 0 ? MacroblockKind::intra4x4
                                                  : MacroblockKind::intra16x16;
      const int pattern = below(2) == 0 ? 0 : below(48);
      slice.push_back(macroblock(kind, pattern, below(52)));
    }
    const std::vector<MacroblockRecord> quantised = slice;
    chain(slice, slice_qp);
    const std::vector<int> decoded = decoded_slice(slice, slice_qp);
    int before = slice_qp;
    for (std::size_t i = 0; i < slice.size(); ++i) {
      const int expected = told(quantised[i]) ? int{quantised[i].qp} : before;
      ASSERT_EQ(expected, decoded[i]) << "round " << round << ", macroblock " << i;
      ASSERT_EQ(expected, int{slice[i].qp}) << "round " << round << ", macroblock " << i;
      untold += !told(quantised[i]);
      leading += i == 0 && !told(quantised[i]);
      wrapped += told(quantised[i]) && slice[i].mb_qp_delta != expected - before;
      before = expected;
    }
  }
  // The cases that matter came up.
  EXPECT_GT(untold, 1000);
  EXPECT_GT(leading, 100);
  EXPECT_GT(wrapped, 1000);
}

}  // namespace
}  // namespace cu264::core
