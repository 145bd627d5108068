// What a detector is asked to do, as kernels take it, and how a picture falls into sub-images.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "cu264/canny.h"
#include "vision/levels.h"

namespace cu264::vision {

using canny::Partition;

inline constexpr int kSubImageSide = 32;
inline constexpr int kLargestSide = canny::kMaxSide;

struct CannyParams {
  int sigma_tenths = 14;  // 1 .. 20
  CandidateSet candidates;
  Partition partition = Partition::columns;
  // Plain Canny: these thresholds, no search. The partition is then `frame`.
  bool fixed = false;
  std::uint8_t fixed_low = 0;
  std::uint8_t fixed_high = 0;
  // The thresholds found are scaled by density_scale (thresholds.h).
  bool density_scaling = false;
  // Levels are relative to max(largest magnitude, this), in Q4: above 0 it keeps the noise of flat pictures
  // from becoming edges. 0: off.
  int noise_floor = 0;
};

// A picture's sub-images. The last may be narrower or lower than the others. No edge is linked across their
// borders.
struct SubImages {
  int width, height;  // of the picture
  Partition partition;
  int count;
};

CU264_HD SubImages sub_images(int width, int height, Partition partition) {
  const int count = partition == Partition::columns ? (width + kSubImageSide - 1) / kSubImageSide
                    : partition == Partition::rows  ? (height + kSubImageSide - 1) / kSubImageSide
                                                    : 1;
  return {width, height, partition, count};
}

struct Rectangle {
  int x, y, width, height;
};

CU264_HD Rectangle sub_image(const SubImages& all, int index) {
  const int at = index * kSubImageSide;
  if (all.partition == Partition::columns) {
    return {at, 0, all.width - at < kSubImageSide ? all.width - at : kSubImageSide, all.height};
  }
  if (all.partition == Partition::rows) {
    return {0, at, all.width, all.height - at < kSubImageSide ? all.height - at : kSubImageSide};
  }
  return {0, 0, all.width, all.height};
}

CU264_HD int sub_image_of(const SubImages& all, int x, int y) {
  return all.partition == Partition::columns ? x / kSubImageSide
         : all.partition == Partition::rows  ? y / kSubImageSide
                                             : 0;
}

// The picture's maximum that levels are relative to.
CU264_HD int level_reference(int largest_magnitude, const CannyParams& params) {
  return largest_magnitude > params.noise_floor ? largest_magnitude : params.noise_floor;
}

}  // namespace cu264::vision
