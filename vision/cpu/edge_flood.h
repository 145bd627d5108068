// The final hysteresis of a sub-image (step 8): edges are the pixels that can be reached from strong pixels
// through weak ones. The order of the walk does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vision/cpu/level_view.h"
#include "vision/thresholds.h"

namespace cu264::vision {

// Keeps its memory from one sub-image to the next. Only one thread at a time may use it.
class EdgeFlood {
 public:
  // Writes every pixel of the sub-image: kEdge or 0.
  void run(const LevelView& levels, const Thresholds& thresholds, std::uint8_t* edges, std::ptrdiff_t pitch);

 private:
  struct Pixel {
    std::int32_t x, y;
  };
  std::vector<Pixel> open_;  // edges whose neighbours are still to be visited
};

}  // namespace cu264::vision
