#include "encoder/cuda/inter/chain_planner.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace cu264::encoder::cuda {

ChainPlanner::ChainPlanner(int chains, int streams, bool in_order)
    : chains_(chains),
      in_order_(in_order),
      chain_of_(static_cast<std::size_t>(streams), kNone),
      stream_of_(static_cast<std::size_t>(chains), kNone) {}

// The chain that is free first, among those that no other stream continues.
int ChainPlanner::take_chain(std::uint32_t stream, const std::vector<int>& free_from) const {
  const int own = chain_of_[stream];
  if (in_order_ && own != kNone) return own;
  int best = kNone;
  for (int chain = 0; chain < chains_; ++chain) {
    const auto c = static_cast<std::size_t>(chain);
    if (stream_of_[c] != kNone && chain != own) continue;
    if (best == kNone || free_from[c] < free_from[static_cast<std::size_t>(best)]) best = chain;
  }
  return best;
}

std::vector<PlannedPicture> ChainPlanner::plan(std::span<const core::PictureParams> pictures) {
  std::vector<int> free_from(static_cast<std::size_t>(chains_), 0);  // [chain]: the first step without it
  std::vector<PlannedPicture> planned;
  planned.reserve(pictures.size());
  for (const core::PictureParams& picture : pictures) {
    int& chain = chain_of_[picture.stream];
    if (picture.key) {
      const int next = take_chain(picture.stream, free_from);
      if (chain != kNone) stream_of_[static_cast<std::size_t>(chain)] = kNone;
      chain = next;
      stream_of_[static_cast<std::size_t>(chain)] = static_cast<int>(picture.stream);
    }
    const int step = free_from[static_cast<std::size_t>(chain)]++;
    planned.push_back({static_cast<int>(planned.size()), step, chain});
  }
  std::stable_sort(planned.begin(), planned.end(), [&](const PlannedPicture& a, const PlannedPicture& b) {
    const auto rank = [&](const PlannedPicture& p) {
      return std::tuple(p.step, !pictures[static_cast<std::size_t>(p.picture)].key);
    };
    return rank(a) < rank(b);
  });
  return planned;
}

}  // namespace cu264::encoder::cuda
