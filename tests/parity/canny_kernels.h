// Device variants of the detector's arithmetic, alone.
#pragma once

#include <vector>

#include "vision/thresholds.h"

namespace cu264::parity {

// The values 0 .. last whose integer square root the device gets wrong.
unsigned wrong_device_roots(int last);

// What a warp finds in each: own thresholds (source `none`: it has none), then those of the fallback.
struct VotedThresholds {
  vision::Thresholds own, fallback;
};
std::vector<VotedThresholds> voted_thresholds(const std::vector<vision::LevelCounts>& counts, int highest);

}  // namespace cu264::parity
