// What mode decisions minimise.
#include "core/cost.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace cu264::core {
namespace {

TEST(Cost, WorthIsToldInSixteenthsOfTheBest) {
  const std::int64_t ranks[] = {ranked(160, 2), ranked(180, 0), ranked(181, 1), ranked(400, 3)};
  EXPECT_EQ(count_worth(ranks, 4, 16), 1);
  EXPECT_EQ(count_worth(ranks, 4, 17), 1);
  EXPECT_EQ(count_worth(ranks, 4, 18), 2);  // 180 is exactly 18 sixteenths of 160, 181 is above
  EXPECT_EQ(count_worth(ranks, 4, 19), 3);
  EXPECT_EQ(count_worth(ranks, 4, 40), 4);
  EXPECT_EQ(count_worth(ranks, 2, 40), 2);
  EXPECT_EQ(count_worth(ranks, 1, 40), 1);
}

TEST(Cost, EqualCostsAreAllWorthWhile) {
  const std::int64_t ranks[] = {ranked(0, 0), ranked(0, 1), ranked(1, 2)};
  EXPECT_EQ(count_worth(ranks, 3, 18), 2);
}

}  // namespace
}  // namespace cu264::core
