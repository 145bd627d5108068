// The last hysteresis of a sub-image (step 8): edges are what can be reached from strong pixels through weak
// ones. The order of the walk does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vision/cpu/level_view.h"
#include "vision/thresholds.h"

namespace cu264::vision {

// Keeps its memory from sub-image to sub-image; one thread at a time.
class EdgeFlood {
 public:
  // Writes every pixel of the sub-image: kEdge or 0.
  void run(const LevelView& levels, const Thresholds& thresholds, std::uint8_t* edges, std::ptrdiff_t pitch);

 private:
  struct Place {
    std::int32_t x, y;
  };
  std::vector<Place> open_;  // edges whose neighbours were not looked at yet
};

}  // namespace cu264::vision
