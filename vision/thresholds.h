// Steps 6 and 7 of GUD-Canny (3.4.3, 3.4.4): from the counts of a sub-image to its hysteresis thresholds.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "cu264/canny.h"
#include "vision/levels.h"

namespace cu264::vision {

// In Thresholds::low and high: above all levels, so that nothing is an edge.
inline constexpr int kNoEdges = 255;

// An edge in an edge map; all other pixels are 0.
inline constexpr std::uint8_t kEdge = 255;

using canny::Thresholds;
using canny::ThresholdSource;
static_assert(sizeof(Thresholds) == 4, "one word a sub-image");

// Counts over the pixels of a sub-image, by level x = 1 .. NX. Entry 0 and those above NX stay 0.
struct LevelCounts {
  std::int32_t with_level[kTopLevel + 1] = {};  // |F(x)|: pixels with G = x and Prob >= x
  std::int32_t histogram[kTopLevel + 1] = {};   // pixels with Prob = x
};

// Does a pixel count in with_level[level]? (P(F(x)) is non-zero exactly where |F(x)| is.)
CU264_HD bool counts_in_level(int level, int prob, int highest) {
  return level >= 1 && level <= highest && prob >= level;
}

// Does a pixel count in histogram[prob]?
CU264_HD bool counts_in_histogram(int prob, int highest) {
  return prob >= 1 && prob <= highest;
}

// First and last of something among the levels 1 .. 100; 0: there is none.
struct LevelSpan {
  int first = 0;
  int last = 0;
};

// The first and last strict local maximum of the histogram over the x that have both counts, the ends of that
// set not counting. Without the second condition C0.03, which fills nine bins only, has false maxima between.
CU264_HD LevelSpan local_maxima(const std::int32_t* with_level, const std::int32_t* histogram, int highest) {
  LevelSpan span;
  int before = 0, at = 0;  // the last two x seen; 0: none
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

// What sub-images without two maxima of their own take. `pooled` sums all sub-images of the picture.
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

// Ours, not the paper's: thresholds in proportion to how crowded the picture is. The method's thresholds
// hardly depend on how many gradients there are, but where all is texture only the strongest are structure.
// `busy` counts the picture's pixels of level >= kBusyLevel; where they are 8 % the thresholds stay, and
// never do they shrink below half or grow beyond three times.
inline constexpr int kBusyLevel = 5;

// In Q8.
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

// The caller's.
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
