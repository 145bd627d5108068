// The parameters of a detector as the kernels take them, and the division of a picture into sub-images.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "cu264/canny.h"
#include "vision/levels.h"

namespace cu264::vision {

using canny::Partition;

inline constexpr int kSubImageSide = 32;

struct CannyParams {
  int sigma_tenths = 14;  // 1 .. 20
  CandidateSet candidates;
  Partition partition = Partition::columns;
  // Plain Canny: these thresholds instead of a search. The partition is then `frame`.
  bool fixed = false;
  std::uint8_t fixed_low = 0;
  std::uint8_t fixed_high = 0;
  // The thresholds found are scaled by density_scale (thresholds.h).
  bool density_scaling = false;
  // Levels are relative to max(largest magnitude, noise_floor), in Q4. A value above 0 keeps the noise of
  // flat pictures from becoming edges. 0: off.
  int noise_floor = 0;
};

// The sub-images of a picture. The last one may be narrower or lower than the others. No edge is linked
// across their borders.
struct SubImageLayout {
  int width, height;  // of the picture
  Partition partition;
  int count;
};

CU264_HD SubImageLayout sub_image_layout(int width, int height, Partition partition) {
  const int count = partition == Partition::columns ? (width + kSubImageSide - 1) / kSubImageSide
                    : partition == Partition::rows  ? (height + kSubImageSide - 1) / kSubImageSide
                                                    : 1;
  return {width, height, partition, count};
}

struct Rectangle {
  int x, y, width, height;
};

CU264_HD Rectangle sub_image(const SubImageLayout& layout, int index) {
  const int at = index * kSubImageSide;
  if (layout.partition == Partition::columns) {
    return {at, 0, layout.width - at < kSubImageSide ? layout.width - at : kSubImageSide, layout.height};
  }
  if (layout.partition == Partition::rows) {
    return {0, at, layout.width, layout.height - at < kSubImageSide ? layout.height - at : kSubImageSide};
  }
  return {0, 0, layout.width, layout.height};
}

CU264_HD int sub_image_of(const SubImageLayout& layout, int x, int y) {
  return layout.partition == Partition::columns ? x / kSubImageSide
         : layout.partition == Partition::rows  ? y / kSubImageSide
                                                : 0;
}

// The magnitude that levels are relative to.
CU264_HD int level_reference(int largest_magnitude, const CannyParams& params) {
  return largest_magnitude > params.noise_floor ? largest_magnitude : params.noise_floor;
}

}  // namespace cu264::vision
