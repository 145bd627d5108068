// SM of a sub-image by one union-find sweep, in place of a hysteresis for each candidate pair.
//
// {G >= high} lies inside {G > low}, so hysteresis keeps the 8-connected components of {G > low} whose
// maximum reaches high. Let M_low(p) be the maximum of p's component: then p is linked by (low, high) exactly
// when low < G(p) < high <= M_low(p), and SM(p) sums n(M_low(p)) - n(G(p)) over the lows below G(p), n(v)
// counting the thresholds <= v. From the highest low to the lowest, components only grow together.
#pragma once

#include <cstdint>
#include <vector>

#include "vision/cpu/level_view.h"
#include "vision/levels.h"

namespace cu264::vision {

// Keeps its memory from sub-image to sub-image; one thread at a time.
class LinkingForest {
 public:
  struct Node {
    std::int32_t at;  // place in the forest
    std::uint16_t sm;
    std::uint8_t level;
  };

  // The pixels above the lowest candidate, by falling level, with their SM. All others have SM 0. Valid until
  // the next call.
  const std::vector<Node>& sums(const LevelView& levels, const CandidateSet& set);

  // Of a node of the last call.
  int x(const Node& node) const { return node.at % stride_ - 1; }
  int y(const Node& node) const { return node.at / stride_ - 1; }

 private:
  static constexpr std::int32_t kAbsent = -1;  // as a parent: the pixel is not in the forest (yet)

  void collect(const LevelView& levels, int lowest);
  std::int32_t root_of(std::int32_t at);
  void join(std::int32_t at);

  int stride_ = 0;  // of the places: one column and row of absent pixels around the sub-image
  std::vector<std::int32_t> parent_;  // [place]
  std::vector<std::uint8_t> level_;   // [place]; a root's is the maximum of its component
  std::vector<Node> nodes_;
};

}  // namespace cu264::vision
