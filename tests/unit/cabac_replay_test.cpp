// The state of a context from its last bins against the state from all of them.
#include "core/cabac_replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace cu264::core;

constexpr int kRealStates = 126;  // pStateIdx 63 is that of terminating bins

TEST(CabacReplay, BinsDoNotTakeStatesPastEachOther) {
  std::vector<int> ordered(kRealStates, -1);
  for (int state = 0; state < kRealStates; ++state) {
    ASSERT_GE(state_order(state), 0);
    ASSERT_LT(state_order(state), kRealStates);
    ordered[static_cast<std::size_t>(state_order(state))] = state;
  }
  EXPECT_EQ(std::count(ordered.begin(), ordered.end(), -1), 0);
  EXPECT_EQ(ordered.front(), kMinState);
  EXPECT_EQ(ordered.back(), kMaxState);
  for (int bin = 0; bin < 2; ++bin) {
    for (std::size_t i = 1; i < ordered.size(); ++i) {
      EXPECT_LE(state_order(next_state(ordered[i - 1], bin)), state_order(next_state(ordered[i], bin)))
          << "bin " << bin << ", state " << ordered[i];
    }
  }
}

TEST(CabacReplay, RunsAreBinsInTurn) {
  for (int state = 0; state < kCabacStates; ++state) {
    EXPECT_EQ(state_after_run(state, 1), state);
    for (int count = 1; count <= kBinsAtOnce; ++count) {
      for (int bins = 0; bins < 1 << count; ++bins) {
        int expected = state;
        for (int i = 0; i < count; ++i) expected = next_state(expected, bins >> i & 1);
        ASSERT_LT(1 << count | bins, kBinRuns);
        EXPECT_EQ(state_after_run(state, 1 << count | bins), expected);
      }
    }
  }
}

struct History {
  std::vector<std::vector<int>> segments;
  mutable int replayed = 0;

  int bins(int segment) const { return static_cast<int>(segments[static_cast<std::size_t>(segment)].size()); }
  void replay(int first, int end, int skipped, StateBounds& bounds) const {
    for (int segment = first; segment < end; ++segment, skipped = 0) {
      const std::vector<int>& bins = segments[static_cast<std::size_t>(segment)];
      for (auto bin = bins.begin() + skipped; bin != bins.end(); ++bin, ++replayed) {
        bounds.low = next_state(bounds.low, *bin);
        bounds.high = next_state(bounds.high, *bin);
      }
    }
  }
};

// `ones` of 256 bins are ones. Alternating bins never let the bounds meet.
TEST(CabacReplay, StateAfterSegments) {
  std::mt19937 random(264);
  constexpr int kAlternating = -1;
  for (const int ones : {kAlternating, 0, 3, 60, 128, 200, 256}) {
    for (const int longest : {1, 7, 40, 300, 3000}) {
      History history;
      int state = static_cast<int>(random() % kRealStates), last = 0;
      const int initial = state;
      for (int segment = 0; segment < 60; ++segment) {
        const std::string where = std::to_string(ones) + " ones, up to " + std::to_string(longest) +
                                  " bins, segment " + std::to_string(segment);
        ASSERT_EQ(state_after(history, segment, initial), state) << where;
        std::vector<int>& bins = history.segments.emplace_back(random() % static_cast<unsigned>(longest + 1));
        for (int& bin : bins) {
          bin = ones == kAlternating ? 1 - last : static_cast<int>(random() % 256) < ones ? 1 : 0;
          last = bin;
          state = next_state(state, bin);
        }
      }
      history.replayed = 0;
      state_after(history, 60, initial);
      if (ones == kAlternating) continue;
      EXPECT_LE(history.replayed, kBinsToMeet + 4 * kBinsToMeet) << ones << " ones";
    }
  }
}

}  // namespace
