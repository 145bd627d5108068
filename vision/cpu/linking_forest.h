// Computes SM of a sub-image with one union-find sweep, instead of a hysteresis for each candidate pair.
//
// {G >= high} lies inside {G > low}, so hysteresis keeps the 8-connected components of {G > low} whose
// maximum reaches high. Let M_low(p) be the maximum of p's component: then p is linked by (low, high) exactly
// when low < G(p) < high <= M_low(p), and SM(p) sums n(M_low(p)) - n(G(p)) over the lows below G(p), where
// n(v) is the number of thresholds <= v. From the highest low to the lowest, components only merge.
#pragma once

#include <cstdint>
#include <vector>

#include "vision/cpu/level_view.h"
#include "vision/levels.h"

namespace cu264::vision {

// Keeps its memory from one sub-image to the next. Only one thread at a time may use it.
class LinkingForest {
 public:
  struct Node {
    std::int32_t at;  // index of the pixel in parent_ and level_
    std::uint16_t sm;
    std::uint8_t level;
  };

  // Returns the pixels above the lowest candidate, by falling level, with their SM; all others have SM 0. The
  // result is valid until the next call.
  const std::vector<Node>& sums(const LevelView& levels, const CandidateSet& set);

  // The position of a node that the last call returned.
  int x(const Node& node) const { return node.at % stride_ - 1; }
  int y(const Node& node) const { return node.at / stride_ - 1; }

 private:
  static constexpr std::int32_t kAbsent = -1;  // as a parent: the pixel is not in the forest (yet)

  void collect(const LevelView& levels, int lowest);
  std::int32_t root_of(std::int32_t at);
  void join(std::int32_t at);

  // Indices count pixels row by row, with one row and column of absent pixels around the sub-image.
  int stride_ = 0;
  std::vector<std::int32_t> parent_;  // [index]
  std::vector<std::uint8_t> level_;   // [index]; a root's is the maximum of its component
  std::vector<Node> nodes_;
};

}  // namespace cu264::vision
