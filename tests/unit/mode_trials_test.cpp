// The choice between modes and patterns by rate and distortion agrees with a search through all of them.
#include "core/mode_trials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "core/rate_model.h"

namespace cu264::core {
namespace {

constexpr int kLambda = 3;

// Invented errors and bits of each mode's patterns, [0] with the dead zone, [1] with RDOQ.
struct MadeUp {
  int error[2][4][3];
  int bits[2][4][3];
  int highest[2][4];
  bool has_rdoq = false;
};

struct MadeUpTrials {
  struct Trial {
    const MadeUp* data;
    int mode;
    bool by_rdoq;
    int last = 3;
    int highest_pattern() const { return data->highest[by_rdoq][mode]; }
    int squared_error(int pattern) {
      EXPECT_LT(pattern, last) << "patterns are asked for from the highest down";
      last = pattern;
      return data->error[by_rdoq][mode][pattern];
    }
    std::int64_t bits(int pattern) const { return data->bits[by_rdoq][mode][pattern]; }
  };
  const MadeUp& data;
  std::vector<std::pair<int, bool>> tried;
  std::tuple<int, bool, int> kept;  // mode, by RDOQ, pattern

  bool rdoq() const { return data.has_rdoq; }
  std::int64_t cost(int squared_error, std::int64_t bits) const {
    return rd_cost(squared_error, bits, kLambda);
  }
  Trial code(int mode, bool by_rdoq) {
    tried.emplace_back(mode, by_rdoq);
    return {&data, mode, by_rdoq};
  }
  void keep(const Trial& trial, int pattern) { kept = {trial.mode, trial.by_rdoq, pattern}; }
};

std::int64_t cost_of(const MadeUp& data, bool by_rdoq, int mode, int pattern) {
  return 256LL * data.error[by_rdoq][mode][pattern] + kLambda * data.bits[by_rdoq][mode][pattern];
}

TEST(ModeTrials, FindsTheBestOfAllModesAndPatterns) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    MadeUp data;
    data.has_rdoq = random() % 2;
    for (int pass = 0; pass < 2; ++pass) {
      for (int mode = 0; mode < 4; ++mode) {
        data.highest[pass][mode] = static_cast<int>(random() % 3);
        for (int p = 0; p < 3; ++p) {  // few values, so that there are many ties
          data.error[pass][mode][p] = static_cast<int>(random() % 3);
          data.bits[pass][mode][p] = static_cast<int>(random() % 2) * 256;
        }
      }
    }
    SatdRank ranks[4];
    for (int mode = 0; mode < 4; ++mode) ranks[mode] = satd_rank(16, 1, static_cast<int>(random() % 4), mode);
    sort_ranks(ranks);
    const int most = static_cast<int>(1 + random() % 4);
    const std::int64_t to_beat = random() % 2 ? kNothingToBeat : static_cast<std::int64_t>(random() % 900);

    std::vector<std::pair<int, bool>> tried;
    std::tuple<std::int64_t, int, int> best = {
        INT64_MAX, 0, 0};  // cost, mode, and a number that is less for a higher pattern
    const auto look_at = [&](int mode, bool by_rdoq) {
      tried.emplace_back(mode, by_rdoq);
      for (int p = data.highest[by_rdoq][mode]; p >= 0; --p) {
        best = std::min(best, std::make_tuple(cost_of(data, by_rdoq, mode, p), mode, -p));
      }
    };
    for (int i = 0; i < most; ++i) {
      const SatdRank cost = ranks[i] / 16, first = ranks[0] / 16;
      if (cost * 16 <= first * 18) look_at(static_cast<int>(ranks[i] % 16), false);
    }
    bool by_rdoq = false;
    if (data.has_rdoq && (to_beat == kNothingToBeat || std::get<0>(best) * 16 <= to_beat * 17)) {
      const int mode = std::get<1>(best);
      best = {INT64_MAX, 0, 0};
      by_rdoq = true;
      look_at(mode, true);
    }

    MadeUpTrials trials{data, {}, {}};
    const ModeChoice choice = choose_mode(trials, ranks, most, to_beat);
    ASSERT_EQ(trials.tried, tried);
    ASSERT_EQ(choice.cost, std::get<0>(best));
    ASSERT_EQ(choice.mode, std::get<1>(best));
    ASSERT_EQ(choice.pattern, -std::get<2>(best));
    ASSERT_EQ(trials.kept, std::make_tuple(choice.mode, by_rdoq, choice.pattern));
  }
}

TEST(ModeTrials, RdoqIsWorthUpToSeventeenSixteenths) {
  EXPECT_TRUE(rdoq_is_worth(INT64_MAX / 16, kNothingToBeat));
  EXPECT_TRUE(rdoq_is_worth(1700, 1600));
  EXPECT_FALSE(rdoq_is_worth(1701, 1600));
  EXPECT_TRUE(rdoq_is_worth(0, 0));
  EXPECT_FALSE(rdoq_is_worth(1, 0));
}

TEST(ModeTrials, ChromaPatternIsWhatLevelsCallFor) {
  EXPECT_EQ(chroma_pattern(false, false), 0);
  EXPECT_EQ(chroma_pattern(true, false), 1);
  EXPECT_EQ(chroma_pattern(false, true), 2);
  EXPECT_EQ(chroma_pattern(true, true), 2);
}

TEST(ModeTrials, FewSmallAcLevelsAreNotWorthCoding) {
  EXPECT_FALSE(ac_is_worth_coding(0, kTooFewChromaAc));
  EXPECT_FALSE(ac_is_worth_coding(1, kTooFewChromaAc));
  EXPECT_TRUE(ac_is_worth_coding(2, kTooFewChromaAc));
  EXPECT_FALSE(ac_is_worth_coding(3, kTooFewLumaAc));
  EXPECT_TRUE(ac_is_worth_coding(4, kTooFewLumaAc));
}

TEST(ModeTrials, BitsAreThoseOfWhatThePatternKeeps) {
  const CavlcRate rate;
  // intra_chroma_pred_mode 3 takes 5 bits; mb_type 3, 7 and 11 take 5, 7 and 7.
  EXPECT_EQ(chroma_bits(rate, 3, 0, 100, 1000), 5 + 5);
  EXPECT_EQ(chroma_bits(rate, 3, 1, 100, 1000), 5 + 7 + 100);
  EXPECT_EQ(chroma_bits(rate, 3, 2, 100, 1000), 5 + 7 + 1100);
  // mb_type of mode 2 with chroma pattern 1 is 7, with AC 19: 7 and 9 bits, and 1 of mb_qp_delta.
  EXPECT_EQ(intra16x16_bits(rate, 2, 0, 1, 100, 1000), 8 + 100);
  EXPECT_EQ(intra16x16_bits(rate, 2, 1, 1, 100, 1000), 10 + 1100);
}

}  // namespace
}  // namespace cu264::core
