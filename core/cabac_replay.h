// Finds the state of a context in the middle of a slice from the bins shortly before.
//
// Order the states by the probability of a one. No bin then moves one state past another, so every state
// stays between those that the lowest and the highest have reached. Once these two meet, the state is known,
// whatever it was before. Most contexts need fewer than 128 bins for that.
#pragma once

#include <cstdint>

#include "core/cabac_states.h"
#include "core/hd.h"

namespace cu264::core {

inline constexpr int kMinState = 2 * 62, kMaxState = 2 * 62 | 1;

// A state's place in the order.
CU264_HD int state_order(int state) {
  return (state & 1) != 0 ? 63 + (state >> 1) : 62 - (state >> 1);
}

// A run of up to four bins is an index below 32: the bins, with the first one lowest, and a one above the
// last.
inline constexpr int kBinsAtOnce = 4, kBinRuns = 2 << kBinsAtOnce;

CU264_HD int state_after_run(int state, int run) {
  for (; run > 1; run >>= 1) state = next_state(state, run & 1);
  return state;
}

// The bounds of a state.
struct StateBounds {
  int low = kMinState;
  int high = kMaxState;

  CU264_HD_MEMBER bool met() const { return low == high; }
};

// The number of bins that the search below begins with.
inline constexpr int kBinsToMeet = 128;

inline constexpr int kCountsAtOnce = 8;  // whose loads overlap

// Returns the state of a context after `segments` segments of its bins. history.bins(segment) is the number
// of bins in a segment, and history.replay(first, end, skipped, bounds) moves the bounds through segments
// [first, end) without the first `skipped` bins. `initial` is the state before segment 0. The function goes
// back over more and more bins until the bounds meet, at the latest when it has reached the beginning of the
// slice.
template <class History>
CU264_FLOW int state_after(const History& history, int segments, int initial) {
  for (int wanted = kBinsToMeet;; wanted *= 4) {
    int first = segments, bins = 0;
    while (first > 0 && bins < wanted) {
      int counts[kCountsAtOnce];
      for (int i = 0; i < kCountsAtOnce; ++i) counts[i] = first > i ? history.bins(first - 1 - i) : 0;
      for (int i = 0; i < kCountsAtOnce && first > 0 && bins < wanted; ++i, --first) bins += counts[i];
    }
    const int skipped = bins > wanted ? bins - wanted : 0;
    StateBounds bounds;
    if (first == 0 && skipped == 0) bounds = {initial, initial};
    if (bins > 0) history.replay(first, segments, skipped, bounds);
    if (bounds.met()) return bounds.low;
  }
}

}  // namespace cu264::core
