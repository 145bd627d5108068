// The interface of linkers, which link the edges of a sub-image on the processor. Each thread has a linker of
// its own, which keeps its memory from one sub-image to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vision/cpu/level_view.h"
#include "vision/detector_backend.h"
#include "vision/params.h"
#include "vision/thresholds.h"

namespace cu264::vision {

class EdgeLinker {
 public:
  virtual ~EdgeLinker() = default;
  // The counts of a sub-image after hysteresis with all candidate pairs.
  virtual LevelCounts counts(const LevelView& levels, const CandidateSet& set) = 0;
  // Writes all pixels of the sub-image.
  virtual void mark_edges(const LevelView& levels, const Thresholds& thresholds, std::uint8_t* edges,
                          std::ptrdiff_t pitch) = 0;

 protected:
  // Adds a pixel that `sm` of the pairs link.
  static void count(int level, int sm, const CandidateSet& set, LevelCounts& counts) {
    const int highest = highest_candidate(set);
    const int prob = probability(sm, pair_count(set));
    counts.with_level[level] += counts_in_level(level, prob, highest);
    counts.histogram[prob] += counts_in_histogram(prob, highest);
  }
};

using MakeEdgeLinker = std::unique_ptr<EdgeLinker> (*)();

// Does what open_cpu_detector does, with another linker.
std::unique_ptr<canny::DetectorBackend> open_cpu_detector_with(MakeEdgeLinker make_linker,
                                                               const CannyParams& params, int width,
                                                               int height, int threads);

}  // namespace cu264::vision
