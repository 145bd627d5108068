// Every intermediate array of the detector, in one documented layout, so that two computations of it can be
// compared stage by stage. Arrays of pixels are dense: pixel (x, y) is at [y * width + x], without padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vision/params.h"
#include "vision/thresholds.h"

namespace cu264::vision {

struct Stages {
  int width = 0;
  int height = 0;
  std::vector<std::uint16_t> horizontal;  // after the horizontal Gaussian, Q4
  std::vector<std::uint16_t> smoothed;    // after both, Q4
  std::vector<std::int16_t> dx;           // Q4; 0 on the picture's frame, like dy and magnitude
  std::vector<std::int16_t> dy;
  std::vector<std::uint16_t> magnitude;  // Q4
  int largest = 0;                       // of magnitude, over the picture
  std::vector<std::uint8_t> level;       // G in hundredths; 0 where suppressed
  // With fixed thresholds the members from here to `busy` are not computed.
  std::vector<std::uint16_t> sm;       // SM_H: how many candidate pairs link the pixel, 0 .. pair_count
  std::vector<std::uint8_t> prob;      // in hundredths
  std::vector<LevelCounts> counts;     // [sub-image]
  std::vector<float> distribution;     // P(F(x)) of Algorithm 4, [sub-image][kTopLevel + 1]
  LevelCounts pooled;                  // the sum of counts
  std::int64_t busy = 0;               // pixels of level >= kBusyLevel, with density_scaling
  std::vector<Thresholds> thresholds;  // [sub-image]
  std::vector<std::uint8_t> edges;     // 255: edge, 0: none
};

// Computes all stages on the host, each in the plainest way and all hysteresis by passes as published
// (Algorithms 2 to 6). Other computations are tested against it. `pitch` is in bytes, negative for bottom-up.
Stages reference_stages(const CannyParams& params, const std::uint8_t* picture, std::ptrdiff_t pitch,
                        int width, int height);

}  // namespace cu264::vision
