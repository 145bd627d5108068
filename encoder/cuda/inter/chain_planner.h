// Decides in which order the pictures of a batch are coded where there are P pictures. A chain is a GOP, or
// what a batch has of it. Pictures of a chain are coded one after another; a step of the batch has one
// picture of every chain. No byte depends on the plan.
#pragma once

#include <span>
#include <vector>

#include "core/picture_params.h"

namespace cu264::encoder::cuda {

struct PlannedPicture {
  int picture;  // index in the order of submission
  int step;
  int chain;  // whose memory it has
};

class ChainPlanner {
 public:
  // There is memory for `chains` chains: when pictures are planned, at least one for each of their streams
  // and for each that came before. `in_order`: the pictures of a stream are coded in the order of submission,
  // although key pictures need not wait.
  ChainPlanner(int chains, int streams, bool in_order);

  // There is memory for more of them.
  void add_chains(int chains) {
    chains_ += chains;
    stream_of_.resize(static_cast<std::size_t>(chains_), kNone);
  }

  // Returns the pictures in the order in which they are coded: by step, key pictures first. The pictures of
  // each stream must come in order; the first of a stream is a key picture.
  std::vector<PlannedPicture> plan(std::span<const core::PictureParams> pictures);

 private:
  int take_chain(std::uint32_t stream, const std::vector<int>& free_from) const;

  static constexpr int kNone = -1;
  int chains_;
  const bool in_order_;
  std::vector<int> chain_of_;   // [stream]: the chain that the stream continues, or kNone
  std::vector<int> stream_of_;  // [chain]: the stream that continues it, or kNone
};

}  // namespace cu264::encoder::cuda
