// Hysteresis as published (Algorithms 2, 3 and 6): the rows of a sub-image are bit masks, which passes link
// until one changes nothing. The number of passes has no limit: a serpentine of 32 x 512 takes thousands.
#pragma once

#include <cstdint>
#include <vector>

#include "vision/cpu/level_view.h"
#include "vision/levels.h"

namespace cu264::vision {

// Keeps its memory from one sub-image to the next. Only one thread at a time may use it.
class PassHysteresis {
 public:
  // Computes the hysteresis map of (low, high), which the functions below read.
  void run(const LevelView& levels, int low, int high);

  bool edge(int x, int y) const { return bit(hysteresis_, x, y); }
  // Tells whether linking made this pixel an edge.
  bool linked(int x, int y) const { return edge(x, y) && !bit(high_, x, y); }
  int passes() const { return passes_; }  // the passes of the last run

 private:
  bool bit(const std::vector<std::uint32_t>& map, int x, int y) const;
  bool pass();

  int words_ = 0;  // words of a row, with an empty one on either side
  int rows_ = 0;   // rows, with an empty one above and below
  int passes_ = 0;
  std::vector<std::uint32_t> high_;         // G >= high
  std::vector<std::uint32_t> instability_;  // low < G < high, and not linked yet
  std::vector<std::uint32_t> hysteresis_;
  std::vector<std::uint32_t> before_;  // the map before the pass
};

// Computes SM of a sub-image, the sum of the linking maps of all candidate pairs. A row of `sm` has
// `sm_pitch` elements.
void published_sums(const LevelView& levels, const CandidateSet& set, PassHysteresis& hysteresis,
                    std::uint16_t* sm, std::ptrdiff_t sm_pitch);

}  // namespace cu264::vision
