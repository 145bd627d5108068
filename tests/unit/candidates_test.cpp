// The order of candidates, and which of them are worth a trial.
#include "core/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace cu264::core {
namespace {

SatdRank rank(int cost, int mode) {
  return satd_rank(cost, 1, 0, mode);
}

TEST(Candidates, RankHoldsCostAndMode) {
  const SatdRank of_satd = satd_rank(1000, 7, 4, 8);
  EXPECT_EQ(cost_of_rank(of_satd), 1028u);
  EXPECT_EQ(mode_of_rank(of_satd), 8);
  const int highest = (1 << 26) - 1;
  EXPECT_EQ(cost_of_rank(rank(highest, 15)), static_cast<SatdRank>(highest));
  EXPECT_LT(rank(highest, 15), kNoRank);
  const std::int64_t cost = std::int64_t{1} << 50;
  EXPECT_EQ(cost_of_rank(rd_rank(cost, 3)), cost);
  EXPECT_EQ(mode_of_rank(rd_rank(cost, 3)), 3);
  EXPECT_LT(rd_rank(cost, 15), kNoRdRank);
}

TEST(Candidates, TiesGoToTheSmallerMode) {
  EXPECT_LT(rank(5, 0), rank(5, 8));
  EXPECT_LT(rank(5, 15), rank(6, 0));
  EXPECT_LT(rd_rank(5, 0), rd_rank(5, 3));
  for (std::uint32_t a : {0u, 1u, UINT32_MAX}) {
    for (std::uint32_t b : {0u, 1u, UINT32_MAX}) {
      for (int mode = 0; mode < 9; ++mode) {
        for (int other = 0; other < 9; ++other) {
          EXPECT_EQ(precedes(a, mode, b, other), std::make_pair(a, mode) < std::make_pair(b, other));
        }
      }
    }
  }
}

TEST(Candidates, SortsAnyOrder) {
  std::array<int, 4> order = {0, 1, 2, 3};
  const SatdRank sorted[4] = {rank(3, 1), rank(3, 2), rank(9, 0), kNoRank};
  do {
    SatdRank ranks[4], many[9];
    for (int i = 0; i < 4; ++i) ranks[i] = sorted[order[i]];
    for (int i = 0; i < 9; ++i) many[i] = i < 4 ? ranks[i] : rank(i % 3, i);
    std::vector<SatdRank> expected(many, many + 9);
    std::sort(expected.begin(), expected.end());
    sort_ranks(ranks);
    sort_ranks(many, 9);
    EXPECT_TRUE(std::equal(ranks, ranks + 4, sorted));
    EXPECT_TRUE(std::equal(many, many + 9, expected.begin()));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(nth_mode(ranks, i), mode_of_rank(sorted[i]));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Candidates, WorthIsToldInSixteenthsOfTheBest) {
  const SatdRank ranks[4] = {rank(160, 2), rank(180, 0), rank(181, 1), rank(400, 3)};
  EXPECT_EQ(count_worth(ranks, 4, 16), 1);
  EXPECT_EQ(count_worth(ranks, 4, 17), 1);
  EXPECT_EQ(count_worth(ranks, 4, 18), 2);  // 180 is exactly 18 sixteenths of 160, 181 is above
  EXPECT_EQ(count_worth(ranks, 4, 19), 3);
  EXPECT_EQ(count_worth(ranks, 4, 40), 4);
  EXPECT_EQ(count_worth(ranks, 2, 40), 2);
  EXPECT_EQ(count_worth(ranks, 1, 40), 1);
  EXPECT_EQ(count_worth(ranks, 0, 40), 1) << "the first is always tried";
}

TEST(Candidates, EqualCostsAreAllWorthATrial) {
  const SatdRank ranks[4] = {rank(0, 0), rank(0, 1), rank(1, 2), kNoRank};
  EXPECT_EQ(count_worth(ranks, 4, kWorthMode), 2);
}

TEST(Candidates, WhatIsNotAvailableIsNeverTried) {
  // The highest cost there can be, whose sixteenths exceed the cost that kNoRank would stand for.
  const SatdRank ranks[4] = {rank((1 << 26) - 1, 2), kNoRank, kNoRank, kNoRank};
  EXPECT_EQ(count_worth(ranks, 4, kWorthIntra4x4Mode), 1);
}

TEST(Candidates, WorthIsExactUpToTheHighestCosts) {
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const std::uint32_t best = random() >> (6 + random() % 26);
    const int sixteenths = i % 2 == 0 ? kWorthMode : kWorthIntra4x4Mode;
    const std::uint64_t limit = std::uint64_t{best} * sixteenths / 16;
    for (std::uint64_t cost : {limit, limit + 1}) {
      ASSERT_EQ(is_worth_trial(static_cast<std::uint32_t>(cost), best, sixteenths), cost <= limit)
          << best << ' ' << sixteenths;
    }
  }
}

TEST(Candidates, TheBestTwoDoNotDependOnTheOrder) {
  std::mt19937 random(2);
  for (int i = 0; i < 1000; ++i) {
    std::vector<std::pair<std::uint32_t, int>> candidates;
    for (int mode = 0; mode < 9; ++mode) candidates.emplace_back(1000 + random() % 8, mode);
    auto sorted = candidates;
    std::sort(sorted.begin(), sorted.end());
    std::shuffle(candidates.begin(), candidates.end(), random);
    BestTwo best;
    for (const auto& [cost, mode] : candidates) {
      const int before = best.mode[0];
      const bool is_best = best.take(cost, mode);
      EXPECT_EQ(is_best, best.mode[0] != before);
    }
    for (unsigned k = 0; k < 2; ++k) {
      ASSERT_EQ(best.cost[k], sorted[k].first);
      ASSERT_EQ(best.mode[k], sorted[k].second);
    }
  }
}

TEST(Candidates, TwoAreCloseUpToAnEighthMore) {
  const auto best_of = [](std::uint32_t first, std::uint32_t second) {
    BestTwo best;
    best.take(first, 4);
    best.take(second, 2);
    return best;
  };
  EXPECT_EQ(BestTwo{}.most(), UINT32_MAX);
  BestTwo alone;
  alone.take(800, 3);
  EXPECT_FALSE(alone.are_close());
  EXPECT_EQ(alone.most(), 900u);
  EXPECT_TRUE(best_of(0, 0).are_close());
  EXPECT_TRUE(best_of(900, 800).are_close());
  EXPECT_EQ(best_of(800, 850).most(), 850u);
  EXPECT_FALSE(best_of(901, 800).are_close());
  EXPECT_EQ(best_of(901, 800).most(), 900u);
  const std::uint32_t highest = (266u << 22) + (1u << 30);  // a block's squared error and bits
  EXPECT_TRUE(best_of(highest, highest + (highest >> 3)).are_close());
  EXPECT_FALSE(best_of(highest, highest + (highest >> 3) + 1).are_close());
}

}  // namespace
}  // namespace cu264::core
