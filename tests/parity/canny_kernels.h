// Runs the device variants of the detector's arithmetic by themselves.
#pragma once

#include <vector>

#include "vision/thresholds.h"

namespace cu264::parity {

// The values 0 .. last whose integer square root the device gets wrong.
unsigned wrong_device_roots(int last);

// The thresholds that a warp finds for each: its own (source `none` if there are none), then those of the
// fallback.
struct VotedThresholds {
  vision::Thresholds own, fallback;
};
std::vector<VotedThresholds> voted_thresholds(const std::vector<vision::LevelCounts>& counts, int highest);

}  // namespace cu264::parity
