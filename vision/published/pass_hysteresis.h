// Hysteresis as published (Algorithms 2, 3 and 6): rows of a sub-image as bit masks, linked by passes until
// one changes nothing. There is no limit to the passes: a serpentine of 32 x 512 takes thousands.
#pragma once

#include <cstdint>
#include <vector>

#include "vision/cpu/level_view.h"
#include "vision/levels.h"

namespace cu264::vision {

// Keeps its memory from sub-image to sub-image; one thread at a time.
class PassHysteresis {
 public:
  // The hysteresis map of (low, high).
  void run(const LevelView& levels, int low, int high);

  bool edge(int x, int y) const { return bit(hysteresis_, x, y); }
  // An edge that linking added.
  bool linked(int x, int y) const { return edge(x, y) && !bit(high_, x, y); }
  int passes() const { return passes_; }  // of the last run

 private:
  bool bit(const std::vector<std::uint32_t>& map, int x, int y) const;
  bool pass();

  int words_ = 0;  // a row, with an empty one on either side
  int rows_ = 0;   // with an empty one above and below
  int passes_ = 0;
  std::vector<std::uint32_t> high_;         // G >= high
  std::vector<std::uint32_t> instability_;  // low < G < high, and not linked yet
  std::vector<std::uint32_t> hysteresis_;
  std::vector<std::uint32_t> before_;  // the pass before
};

// SM of a sub-image: the linking maps of all candidate pairs, summed. `sm` in rows of `sm_pitch` elements.
void published_sums(const LevelView& levels, const CandidateSet& set, PassHysteresis& hysteresis,
                    std::uint16_t* sm, std::ptrdiff_t sm_pitch);

}  // namespace cu264::vision
