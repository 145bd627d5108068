// The order in which a batch with P pictures is coded.
#include "encoder/cuda/inter/chain_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace cu264::encoder::cuda {
namespace {

core::PictureParams picture(std::uint32_t stream, bool key) {
  core::PictureParams params;
  params.stream = stream, params.key = key;
  return params;
}

// Steps of a plan by picture, in the order of submission.
std::vector<int> steps_of(const std::vector<PlannedPicture>& plan) {
  std::vector<int> steps(plan.size());
  for (const PlannedPicture& planned : plan) steps[static_cast<std::size_t>(planned.picture)] = planned.step;
  return steps;
}

TEST(ChainPlanner, GopsLieBesideEachOther) {
  std::vector<core::PictureParams> batch;
  for (int i = 0; i < 8; ++i) batch.push_back(picture(0, i % 3 == 0));
  ChainPlanner planner(4, 1, false);
  const std::vector<PlannedPicture> plan = planner.plan(batch);
  EXPECT_EQ(steps_of(plan), (std::vector{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_TRUE(
      std::is_sorted(plan.begin(), plan.end(), [](const auto& a, const auto& b) { return a.step < b.step; }));
  // The last GOP goes on beside the next.
  EXPECT_EQ(steps_of(planner.plan(std::vector{picture(0, false), picture(0, true), picture(0, false)})),
            (std::vector{0, 0, 1}));
}

TEST(ChainPlanner, FewChainsMakeGopsWait) {
  std::vector<core::PictureParams> batch;
  for (int i = 0; i < 6; ++i) batch.push_back(picture(0, i % 2 == 0));
  EXPECT_EQ(steps_of(ChainPlanner(1, 1, false).plan(batch)), (std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(steps_of(ChainPlanner(2, 1, false).plan(batch)), (std::vector{0, 1, 0, 1, 2, 3}));
  EXPECT_EQ(steps_of(ChainPlanner(4, 1, true).plan(batch)), (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(ChainPlanner, NoStreamTakesTheChainOfAnother) {
  ChainPlanner planner(2, 2, false);
  planner.plan(std::vector{picture(0, true), picture(1, true)});
  const std::vector<PlannedPicture> plan =
      planner.plan(std::vector{picture(0, true), picture(1, false), picture(0, false)});
  std::array<int, 3> chains{};
  for (const PlannedPicture& planned : plan)
    chains[static_cast<std::size_t>(planned.picture)] = planned.chain;
  EXPECT_EQ(chains[0], chains[2]);
  EXPECT_NE(chains[0], chains[1]);
}

}  // namespace
}  // namespace cu264::encoder::cuda
