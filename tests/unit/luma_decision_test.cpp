// The choice between Intra_4x4, Intra_8x8 and Intra_16x16: its thresholds, and what is tried, taken and left
// out.
#include "core/luma_decision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "core/rate_model.h"

namespace cu264::core {
namespace {

constexpr EarlyDecision kEarly = {17, 12, 18};

TEST(LumaDecision, ThresholdsAreExact) {
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t whole = random() >> (6 + random() % 26);  // below 2^26
    const std::uint64_t stop = whole * kEarly.stop / 16;
    const std::uint64_t sure = whole * kEarly.sure / 16;  // below this or, where that is not whole, up to it
    const auto u32 = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    ASSERT_TRUE(intra_nxn_is_hopeless(kEarly, u32(stop), u32(whole)));
    if (stop > 0) {
      ASSERT_FALSE(intra_nxn_is_hopeless(kEarly, u32(stop - 1), u32(whole)));
    }
    ASSERT_EQ(intra_nxn_is_sure(kEarly, u32(sure), u32(whole)), whole % 4 != 0);
    ASSERT_FALSE(intra_nxn_is_sure(kEarly, u32(sure + 1), u32(whole)));
    const std::uint64_t better = whole * 15 / 16;
    ASSERT_EQ(is_better_by_satd(u32(better), u32(whole), 15), whole % 16 != 0);
    ASSERT_FALSE(is_better_by_satd(u32(better + 1), u32(whole), 15));
  }
}

TEST(LumaDecision, BlockCostIsExactForTheWorstBlock) {
  const int error = 16 * 255 * 255, lambda = rd_lambda(51);
  EXPECT_EQ(intra_nxn_block_cost(error, 4, 500, lambda), 256ull * error + 504ull * lambda);
  EXPECT_EQ(intra_nxn_block_cost(0, 1, 0, 1), 1u);
}

// An invented macroblock, and a record of what was done with it.
struct MadeUpSearch {
  static constexpr bool kHasIntra8x8 = true;
  bool has8x8 = false;
  bool abandoned = false, abandoned8x8 = false;
  SourceActivity source;
  std::uint32_t satd4x4 = 0, satd8x8 = 0, satd16x16 = 0;
  std::int64_t cost4x4 = 0, cost8x8 = 0, cost16x16 = 0;
  int pattern = 0;
  std::string done;
  std::int64_t cost = -1;
  std::int64_t asked_to_beat = -1;

  CavlcRate rate() const { return {has8x8}; }
  bool transform_8x8_mode() const { return has8x8; }
  SourceActivity activity() const { return source; }
  static SizeRules size_rules() { return {60, 70, 300, 1000, 96, 400, 80, 500}; }
  int satd_lambda() const { return 2; }
  int rd_lambda() const { return 100; }
  int chroma_pattern() const { return 1; }
  EarlyDecision early_decision() const { return kEarly; }
  IntraNxNResult search_intra8x8(const IntraNxNStop& stop) {
    abandoned8x8 = stop.excludes(satd16x16) || stop(satd8x8, satd16x16);
    return {!abandoned8x8, satd8x8, cost8x8, 4, pattern};
  }
  IntraNxNResult search_intra4x4(const IntraNxNStop& stop) {
    abandoned = stop.excludes(satd16x16) || stop(satd4x4, satd16x16);
    return {!abandoned, satd4x4, cost4x4, 16, pattern};
  }
  void rank_intra16x16(SatdRank (&ranks)[4]) const {
    for (SatdRank& rank : ranks) rank = kNoRank;
    ranks[0] = satd_rank(static_cast<int>(satd16x16), 0, 0, 2);
  }
  ModeChoice choose_intra16x16(const SatdRank (&)[4], std::int64_t to_beat) {
    done += "choose ";
    asked_to_beat = to_beat;
    return {2, 0, cost16x16};
  }
  void take_intra4x4(const IntraNxNResult&, std::int64_t total) { done += "4x4", cost = total; }
  void take_intra8x8(const IntraNxNResult&, std::int64_t total) { done += "8x8", cost = total; }
  void take_intra16x16(const ModeChoice& choice) { done += "16x16", cost = choice.cost; }
  void code_intra16x16(int mode, std::int64_t total) { done += "code " + std::to_string(mode), cost = total; }
};

// mb_type 0, coded_block_pattern and mb_qp_delta, from tables 9-4 and 9-1.
int header_bits(int pattern) {
  return pattern == 0 ? 1 + 9 + 1 : 1 + 3 + 1;  // chroma pattern 1: codeNum 16 without luma, 1 with all of it
}

TEST(LumaDecision, BySatdTheHeaderCounts) {
  for (const int pattern : {0, 15}) {
    for (const int difference : {-1, 0, 1}) {
      MadeUpSearch search;
      // Together with the header 15 sixteenths of Intra_16x16's, or a little off.
      search.satd16x16 = 1600, search.pattern = pattern;
      search.satd4x4 = static_cast<std::uint32_t>(1500 - 2 * header_bits(pattern) - difference);
      decide_luma_by_satd(search);
      EXPECT_EQ(search.done, difference > 0 ? "4x4" : "code 2") << pattern << ' ' << difference;
      EXPECT_EQ(search.cost, difference > 0 ? 1500 - difference : 1600) << pattern << ' ' << difference;
    }
  }
}

TEST(LumaDecision, BySatdAbandonedIsNotTaken) {
  MadeUpSearch search;
  search.satd4x4 = search.satd16x16 = 500;
  decide_luma_by_satd(search);
  EXPECT_TRUE(search.abandoned);
  EXPECT_EQ(search.done, "code 2");
}

TEST(LumaDecision, ByRdAgreesWithItsDefinition) {
  std::mt19937 random(11);
  int outcomes[4] = {};
  for (int i = 0; i < 50000; ++i) {
    MadeUpSearch search;
    search.satd16x16 = random() % 64;
    search.satd4x4 = random() % 64;
    search.cost16x16 = random() % 4000;
    search.cost4x4 = random() % 4000;
    search.pattern = random() % 2 ? 15 : 0;
    if (i % 5 == 0) search.cost16x16 = search.cost4x4 + 100 * header_bits(search.pattern);  // a tie
    decide_luma_by_rd(search);
    const std::int64_t total = search.cost4x4 + 100 * header_bits(search.pattern);
    if (search.satd4x4 >= search.satd16x16 * 17 / 16) {
      ++outcomes[0];
      ASSERT_EQ(search.done, "choose 16x16");
      ASSERT_EQ(search.asked_to_beat, kNothingToBeat);
      ASSERT_EQ(search.cost, search.cost16x16);
    } else if (4 * search.satd4x4 < 3 * search.satd16x16) {
      ++outcomes[1];
      ASSERT_EQ(search.done, "4x4");
      ASSERT_EQ(search.cost, total);
    } else {
      const bool smaller = total < search.cost16x16;
      ++outcomes[2 + smaller];
      ASSERT_EQ(search.done, smaller ? "choose 4x4" : "choose 16x16");
      ASSERT_EQ(search.asked_to_beat, total);
      ASSERT_EQ(search.cost, std::min(total, search.cost16x16));
    }
  }
  for (const int count : outcomes) EXPECT_GT(count, 100);
}

// Which searches begin, at a lambda of 2.
struct Begins {
  bool intra4x4, intra8x8;
  explicit Begins(const MadeUpSearch& search) {
    const SizeRules rules = MadeUpSearch::size_rules();
    const double ratio = 64.0 * search.source.by8x8 / search.source.by4x4, cost = search.satd16x16 / 2.0;
    const bool any = cost >= (ratio < rules.noise_ratio ? rules.least_of_noise : rules.least);
    intra8x8 = any && cost <= (ratio < rules.edge_ratio ? rules.most8x8 : rules.most8x8_with_edges);
    intra4x4 = any && (ratio >= rules.plain_ratio || cost >= rules.least4x4_of_plain);
  }
};

// Macroblocks of every kind and about as many of each: noise, plain ones, ones with edges.
SourceActivity made_up_activity(std::mt19937& random) {
  return {1 + static_cast<int>(random() % 4000), 1 + static_cast<int>(random() % 8000)};
}

TEST(LumaDecision, BySatdTheThirdCandidateTakesPart) {
  std::mt19937 random(12);
  int outcomes[3] = {};
  for (int i = 0; i < 50000; ++i) {
    MadeUpSearch search;
    search.has8x8 = true;
    search.source = made_up_activity(random);
    search.satd16x16 = random() % 2400;
    search.satd8x8 = random() % 2400;
    search.satd4x4 = random() % 2400;
    search.pattern = random() % 2 ? 15 : 0;
    decide_luma_by_satd(search);
    const auto header = static_cast<std::uint32_t>(2 * (header_bits(search.pattern) + 1));
    const std::uint32_t small = search.satd4x4 + header, large = search.satd8x8 + header;
    const auto share = [](std::uint32_t a, std::uint32_t b, int sixteenths) {
      return 16 * a < b * static_cast<std::uint32_t>(sixteenths);
    };
    const Begins begins(search);
    const bool large_kept = begins.intra8x8 && share(search.satd8x8, search.satd16x16, kBetterIntra8x8);
    const bool small_kept = begins.intra4x4 && share(search.satd4x4, search.satd16x16, 15) &&
                            (!large_kept || search.satd4x4 < search.satd8x8 * kBetterIntra4x4Than8x8 / 16);
    const bool large_wins = large_kept && share(large, search.satd16x16, kBetterIntra8x8);
    const bool small_wins = small_kept && share(small, search.satd16x16, 15) &&
                            (!large_wins || share(small, large, kBetterIntra4x4Than8x8));
    const char* const expected = small_wins ? "4x4" : large_wins ? "8x8" : "code 2";
    ASSERT_EQ(search.done, expected) << search.satd4x4 << ' ' << search.satd8x8 << ' ' << search.satd16x16;
    ++outcomes[small_wins ? 0 : large_wins ? 1 : 2];
  }
  for (const int count : outcomes) EXPECT_GT(count, 100);
}

TEST(LumaDecision, QuartersOfIntra4x4AreHeldAgainstIntra8x8) {
  std::mt19937 random(14);
  for (int i = 0; i < 1000; ++i) {
    IntraNxNResult large;
    large.satd_cost = 100 + random() % 1000;
    for (std::uint32_t& after : large.satd_after) after = random() % large.satd_cost;
    IntraNxNStop stop;
    limit_quarters(stop, large, 15);
    for (int k = 0; k < 3; ++k) {
      // The least cost that is too much with the rest at kRestOfIntra4x4 sixteenths of Intra_8x8's.
      const std::uint32_t rest = (large.satd_cost - large.satd_after[k]) * kRestOfIntra4x4;
      const std::uint32_t limit = stop.quarter_limit[k];
      ASSERT_GE(16 * limit + rest, 15 * large.satd_cost);
      ASSERT_LT(16 * (limit - 1) + rest, 15 * large.satd_cost);
    }
  }
}

TEST(LumaDecision, ByRdTheThirdCandidateTakesPart) {
  std::mt19937 random(13);
  int outcomes[3] = {};
  for (int i = 0; i < 50000; ++i) {
    MadeUpSearch search;
    search.has8x8 = true;
    search.source = made_up_activity(random);
    search.satd16x16 = random() % 4800;
    search.satd8x8 = random() % 4800;
    search.satd4x4 = random() % 4800;
    search.cost16x16 = random() % 4000;
    search.cost8x8 = random() % 4000;
    search.cost4x4 = i % 5 == 0 ? search.cost8x8 : random() % 4000;
    search.pattern = random() % 2 ? 15 : 0;
    decide_luma_by_rd(search);
    const std::uint32_t stop = search.satd16x16 * 17 / 16;
    const Begins begins(search);
    const bool large = begins.intra8x8 && search.satd8x8 < stop;
    const bool small =
        begins.intra4x4 && search.satd4x4 < stop &&
        (!large || (search.satd4x4 < search.satd8x8 * 18 / 16 && search.cost4x4 < search.cost8x8));
    const std::int64_t header = 100 * (header_bits(search.pattern) + 1);
    const std::int64_t total = (small ? search.cost4x4 : search.cost8x8) + header;
    const char* const smaller = small ? "4x4" : "8x8";
    if (!small && !large) {
      ASSERT_EQ(search.done, "choose 16x16");
      ASSERT_EQ(search.asked_to_beat, kNothingToBeat);
      continue;
    }
    const auto satd_header = static_cast<std::uint32_t>(2 * (header_bits(search.pattern) + 1));
    if (4 * (small ? search.satd4x4 : search.satd8x8 + satd_header) < 3 * search.satd16x16) {
      ASSERT_EQ(search.done, smaller);
      ++outcomes[small];
    } else {
      const bool wins = total < search.cost16x16;
      ASSERT_EQ(search.done, std::string("choose ") + (wins ? smaller : "16x16"));
      ASSERT_EQ(search.asked_to_beat, total);
      ++outcomes[2];
    }
    ASSERT_EQ(search.cost, search.done.ends_with("16x16") ? search.cost16x16 : total);
  }
  for (const int count : outcomes) EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace cu264::core
