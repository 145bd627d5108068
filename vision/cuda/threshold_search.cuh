// Algorithm 5 by votes: a warp computes what thresholds.h computes in a loop, each lane for every 32nd level.
// Parity tests compare both.
#pragma once

#include <cstdint>

#include "common/cuda/warp.cuh"
#include "vision/thresholds.h"

namespace cu264::vision::cuda {

constexpr int kLevelWords = kTopLevel / 32 + 1;

// A set of levels, one bit each.
struct LevelMask {
  std::uint32_t word[kLevelWords];

  // The nearest level of the set below x, and above x; -1: none.
  __device__ __forceinline__ int below(int x) const {
    int found = -1;
#pragma unroll
    for (int w = 0; w < kLevelWords; ++w) {
      const std::uint32_t part = x >= 32 * (w + 1) ? ~0u : x < 32 * w ? 0u : (1u << (x & 31)) - 1;
      const std::uint32_t set = word[w] & part;
      found = set != 0 ? 32 * w + 31 - __clz(static_cast<int>(set)) : found;
    }
    return found;
  }
  __device__ __forceinline__ int above(int x) const {
    int found = -1;
#pragma unroll
    for (int w = kLevelWords - 1; w >= 0; --w) {
      const std::uint32_t part = x < 32 * w ? ~0u : x >= 32 * (w + 1) ? 0u : ~((2u << (x & 31)) - 1);
      const std::uint32_t set = word[w] & part;
      found = set != 0 ? 32 * w + __ffs(static_cast<int>(set)) - 1 : found;
    }
    return found;
  }
  __device__ __forceinline__ LevelSpan span() const {
    const int first = above(-1), last = below(32 * kLevelWords);
    return {first < 0 ? 0 : first, last < 0 ? 0 : last};
  }
};

// member(x) says whether x, 1 .. highest, belongs to the set.
template <class Member>
__device__ __forceinline__ LevelMask vote_levels(int highest, const Member& member) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  LevelMask mask;
#pragma unroll
  for (int w = 0; w < kLevelWords; ++w) {
    const int x = 32 * w + lane;
    mask.word[w] = __ballot_sync(kAllLanes, x >= 1 && x <= highest && member(x));
  }
  return mask;
}

// Computes what local_maxima (thresholds.h) does. All lanes of a warp must call it and the functions below.
// Counts are LevelCounts or have members of the same names and use.
template <class Counts>
__device__ __forceinline__ LevelSpan voted_maxima(const Counts& counts, int highest) {
  const LevelMask both =
      vote_levels(highest, [&](int x) { return counts.with_level[x] != 0 && counts.histogram[x] != 0; });
  const LevelMask maxima = vote_levels(highest, [&](int x) {
    if ((both.word[x / 32] >> (x & 31) & 1u) == 0) return false;
    const int before = both.below(x), after = both.above(x);
    return before >= 0 && after >= 0 && counts.histogram[x] > counts.histogram[before] &&
           counts.histogram[x] > counts.histogram[after];
  });
  return maxima.span();
}

// Computes what instability_zone does.
__device__ __forceinline__ LevelSpan voted_zone(const LevelCounts& counts, int highest) {
  return vote_levels(highest, [&](int x) { return counts.with_level[x] != 0; }).span();
}

// The sub-image's own thresholds; their source is `none` if there are fewer than two maxima.
template <class Counts>
__device__ __forceinline__ Thresholds voted_own(const Counts& counts, int highest) {
  const LevelSpan maxima = voted_maxima(counts, highest);
  return maxima.first < maxima.last ? thresholds_at(maxima, ThresholdSource::own) : Thresholds{};
}

// Computes what fallback_thresholds does.
__device__ __forceinline__ Thresholds voted_fallback(const LevelCounts& pooled, int highest) {
  const LevelSpan maxima = voted_maxima(pooled, highest);
  if (maxima.first < maxima.last) return thresholds_at(maxima, ThresholdSource::pooled);
  const LevelSpan zone = voted_zone(pooled, highest);
  return zone.first > 0 ? thresholds_at(zone, ThresholdSource::ends) : Thresholds{};
}

}  // namespace cu264::vision::cuda
