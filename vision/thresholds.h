// Steps 6 and 7 of GUD-Canny (3.4.3, 3.4.4): the counts of a sub-image, and its hysteresis thresholds.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "cu264/canny.h"
#include "vision/levels.h"

namespace cu264::vision {

// A value of Thresholds::low and high that is above all levels, so that nothing is an edge.
inline constexpr int kNoEdges = 255;

// The value of an edge in an edge map; all other pixels are 0.
inline constexpr std::uint8_t kEdge = 255;

using canny::Thresholds;
using canny::ThresholdSource;
static_assert(sizeof(Thresholds) == 4, "one word a sub-image");

// Counts of the pixels of a sub-image, by level x = 1 .. NX. Entry 0 and those above NX stay 0.
struct LevelCounts {
  std::int32_t with_level[kTopLevel + 1] = {};  // |F(x)|: pixels with G = x and Prob >= x
  std::int32_t histogram[kTopLevel + 1] = {};   // pixels with Prob = x
};

// Tells whether a pixel counts in with_level[level]. P(F(x)) is non-zero exactly where |F(x)| is.
CU264_HD bool counts_in_level(int level, int prob, int highest) {
  return level >= 1 && level <= highest && prob >= level;
}

// Tells whether a pixel counts in histogram[prob].
CU264_HD bool counts_in_histogram(int prob, int highest) {
  return prob >= 1 && prob <= highest;
}

// The first and the last level of a set of levels 1 .. 100; 0: the set is empty.
struct LevelSpan {
  int first = 0;
  int last = 0;
};

// The first and the last strict local maximum of the histogram, among the x for which both counts are
// non-zero; the ends of that set are no maxima. If empty bins were kept, C0.03, which fills only nine bins,
// would have false maxima at the bins between empty ones.
CU264_HD LevelSpan local_maxima(const std::int32_t* with_level, const std::int32_t* histogram, int highest) {
  LevelSpan span;
  int before = 0, at = 0;  // the last two x of the set; 0: none
  for (int x = 1; x <= highest; ++x) {
    if (with_level[x] == 0 || histogram[x] == 0) continue;
    if (before > 0 && histogram[at] > histogram[before] && histogram[at] > histogram[x]) {
      if (span.first == 0) span.first = at;
      span.last = at;
    }
    before = at, at = x;
  }
  return span;
}

// The ends of D, the x with P(F(x)) non-zero: the instability zone.
CU264_HD LevelSpan instability_zone(const std::int32_t* with_level, int highest) {
  LevelSpan span;
  for (int x = 1; x <= highest; ++x) {
    if (with_level[x] == 0) continue;
    if (span.first == 0) span.first = x;
    span.last = x;
  }
  return span;
}

CU264_HD Thresholds thresholds_at(LevelSpan span, ThresholdSource source) {
  return {static_cast<std::uint8_t>(span.first), static_cast<std::uint8_t>(span.last), source, 0};
}

// The thresholds of sub-images without two maxima of their own. `pooled` sums all sub-images of the picture.
CU264_HD Thresholds fallback_thresholds(const LevelCounts& pooled, int highest) {
  const LevelSpan maxima = local_maxima(pooled.with_level, pooled.histogram, highest);
  if (maxima.first < maxima.last) return thresholds_at(maxima, ThresholdSource::pooled);
  const LevelSpan zone = instability_zone(pooled.with_level, highest);
  if (zone.first > 0) return thresholds_at(zone, ThresholdSource::ends);
  return {kNoEdges, kNoEdges, ThresholdSource::none, 0};
}

CU264_HD Thresholds sub_image_thresholds(const LevelCounts& own, const Thresholds& fallback, int highest) {
  const LevelSpan maxima = local_maxima(own.with_level, own.histogram, highest);
  return maxima.first < maxima.last ? thresholds_at(maxima, ThresholdSource::own) : fallback;
}

// Density scaling is ours, not the paper's: thresholds in proportion to how crowded the picture is. The
// method's thresholds hardly depend on the number of gradients, but in pictures full of texture only the
// strongest ones are structure. `busy` is the number of the picture's pixels of level >= kBusyLevel; where
// that is 8 % of all, the thresholds stay as they are. The scale is at least 1/2 and at most 3.
inline constexpr int kBusyLevel = 5;

// The factor of the thresholds, in Q8.
CU264_HD int density_scale(std::int64_t busy, std::int64_t pixels) {
  const std::int64_t scale = busy * 25600 / (8 * pixels);
  return scale < 128 ? 128 : scale > 768 ? 768 : static_cast<int>(scale);
}

CU264_HD Thresholds scaled_to_density(const Thresholds& thresholds, int scale) {
  if (thresholds.source == ThresholdSource::none) return thresholds;
  const int low = (thresholds.low * scale + 128) >> 8, high = (thresholds.high * scale + 128) >> 8;
  return {static_cast<std::uint8_t>(low < 1           ? 1
                                    : low > kTopLevel ? kTopLevel
                                                      : low),
          static_cast<std::uint8_t>(high < 1           ? 1
                                    : high > kTopLevel ? kTopLevel
                                                       : high),
          thresholds.source, 0};
}

// The thresholds that the caller fixed.
CU264_HD Thresholds fixed_thresholds(int low, int high) {
  return thresholds_at({low, high}, ThresholdSource::fixed);
}

CU264_HD bool is_strong(int level, const Thresholds& thresholds) {
  return level >= thresholds.high;
}

CU264_HD bool is_weak(int level, const Thresholds& thresholds) {
  return level > thresholds.low && level < thresholds.high;
}

}  // namespace cu264::vision
