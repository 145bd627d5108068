// The grid of levels on which gradients, thresholds and probabilities are compared: hundredths, 0 .. 100.
//
// The paper tests whether gradients equal x, which floats hardly ever do. So non-maximum suppression rounds
// the normalised gradient to a whole level once, and from there on it is one byte a pixel.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::vision {

inline constexpr int kTopLevel = 100;
inline constexpr int kMaxCandidates = 32;  // so that a set of thresholds is a 32-bit mask

// G of a pixel that is a maximum: floor(100 * magnitude / largest), where `largest` is the largest magnitude
// of the picture, not of the sub-image. All other pixels have level 0.
CU264_HD int level_of(int magnitude, int largest) {
  return largest > 0 ? kTopLevel * magnitude / largest : 0;
}

// The candidate thresholds. The candidate pairs C are all their pairs (low, high) with low < high.
struct CandidateSet {
  int count = 0;                            // 2 .. kMaxCandidates
  std::uint8_t level[kMaxCandidates] = {};  // rising, 1 .. kTopLevel
  // rank[v] is n(v), the number of candidates <= v.
  std::uint8_t rank[kTopLevel + 1] = {};
};

CU264_HD int pair_count(const CandidateSet& set) {
  return set.count * (set.count - 1) / 2;
}

// NX: distributions are counted for x = 1 .. the highest candidate (3.4.3).
CU264_HD int highest_candidate(const CandidateSet& set) {
  return set.level[set.count - 1];
}

// Returns what one low adds to the SM of a pixel of level `level` > low. `component_max` is the maximum of
// the pixel's component of {G > low}: the pixel is linked exactly for the highs with level < high <=
// component_max.
CU264_HD int linked_highs(const CandidateSet& set, int component_max, int level) {
  return set.rank[component_max] - set.rank[level];
}

// Prob(SM): the share of the candidate pairs that link a pixel, in hundredths, rounded.
CU264_HD int probability(int sm, int pairs) {
  return (200 * sm + pairs) / (2 * pairs);
}

}  // namespace cu264::vision
