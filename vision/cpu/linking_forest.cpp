#include "vision/cpu/linking_forest.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cu264::vision {

const std::vector<LinkingForest::Node>& LinkingForest::sums(const LevelView& levels,
                                                            const CandidateSet& set) {
  collect(levels, set.level[0]);
  std::size_t joined = 0;
  // The highest candidate is no low, because there is no high above it.
  for (int low = set.count - 2; low >= 0; --low) {
    while (joined < nodes_.size() && nodes_[joined].level > set.level[low]) join(nodes_[joined++].at);
    for (std::size_t i = 0; i < joined; ++i) {
      Node& node = nodes_[i];
      if (set.rank[node.level] == set.count) continue;  // no high is above it
      const int component_max = level_[root_of(node.at)];
      node.sm = static_cast<std::uint16_t>(node.sm + linked_highs(set, component_max, node.level));
    }
  }
  return nodes_;
}

// Sorts the pixels above `lowest` by falling level.
void LinkingForest::collect(const LevelView& levels, int lowest) {
  // [level]: at first the number of its pixels, then where its nodes begin
  std::array<std::size_t, kTopLevel + 2> begin{};
  for (int y = 0; y < levels.height; ++y) {
    const std::uint8_t* const row = levels.row(y);
    for (int x = 0; x < levels.width; ++x) ++begin[row[x]];
  }
  std::size_t above = 0;
  for (int level = kTopLevel; level > lowest; --level) above += std::exchange(begin[level], above);
  nodes_.resize(above);

  stride_ = levels.width + 2;
  const std::size_t size = static_cast<std::size_t>(stride_) * static_cast<std::size_t>(levels.height + 2);
  parent_.assign(size, kAbsent);
  level_.resize(size);
  for (int y = 0; y < levels.height; ++y) {
    const std::uint8_t* const row = levels.row(y);
    for (int x = 0; x < levels.width; ++x) {
      if (row[x] <= lowest) continue;
      const std::int32_t at = (y + 1) * stride_ + x + 1;
      nodes_[begin[row[x]]++] = {at, 0, row[x]};
      level_[at] = row[x];
    }
  }
}

std::int32_t LinkingForest::root_of(std::int32_t at) {
  while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
  return at;
}

// Adds the pixel to the forest and unites it with its neighbours there. The root with the higher level stays
// a root.
void LinkingForest::join(std::int32_t at) {
  parent_[at] = at;
  std::int32_t root = at;
  const std::int32_t around[8] = {at - stride_ - 1, at - stride_,     at - stride_ + 1, at - 1,
                                  at + 1,           at + stride_ - 1, at + stride_,     at + stride_ + 1};
  for (const std::int32_t neighbour : around) {
    if (parent_[neighbour] == kAbsent) continue;
    std::int32_t other = root_of(neighbour);
    if (other == root) continue;
    if (level_[other] > level_[root]) std::swap(other, root);
    parent_[other] = root;
  }
}

}  // namespace cu264::vision
