// The grid of levels on which gradients, thresholds and probabilities are compared: hundredths, 0 .. 100.
//
// "Equal to x" means nothing between floats, so the normalised gradient becomes a whole level once, at
// non-maximum suppression, and stays one byte a pixel from there on.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::vision {

inline constexpr int kTopLevel = 100;
inline constexpr int kMostCandidates = 32;  // so that a set of thresholds is a 32-bit mask

// G of a pixel that is a maximum: floor(100 * magnitude / largest), `largest` being the picture's largest
// magnitude (not the sub-image's). All others have level 0.
CU264_HD int level_of(int magnitude, int largest) {
  return largest > 0 ? kTopLevel * magnitude / largest : 0;
}

// Candidate thresholds. The candidate pairs C are all (low, high) of them with low < high.
struct CandidateSet {
  int count = 0;                             // 2 .. kMostCandidates
  std::uint8_t level[kMostCandidates] = {};  // rising, 1 .. kTopLevel
  // rank[v] is n(v), the number of candidates <= v.
  std::uint8_t rank[kTopLevel + 1] = {};
};

CU264_HD int pair_count(const CandidateSet& set) {
  return set.count * (set.count - 1) / 2;
}

// NX: distributions are looked at for x = 1 .. the highest candidate (3.4.3).
CU264_HD int highest_candidate(const CandidateSet& set) {
  return set.level[set.count - 1];
}

// What a pixel of level `level` whose component of {G > low} has the maximum `component_max` adds to its SM
// for this low: it is linked exactly for the highs with level < high <= component_max. Wants low < level.
CU264_HD int linked_highs(const CandidateSet& set, int component_max, int level) {
  return set.rank[component_max] - set.rank[level];
}

// Prob(SM): the share of the candidate pairs that link a pixel, in hundredths, rounded.
CU264_HD int probability(int sm, int pairs) {
  return (200 * sm + pairs) / (2 * pairs);
}

}  // namespace cu264::vision
