// level_of (vision/levels.h) without a division: it multiplies by the reciprocal of the reference, which has
// 32 fractional bits and is rounded up.
//
// The reciprocal is too large by less than 2^-32, so the product with 100 * magnitude is too large by less
// than 2^-32 * 100 * reference. That is less than 1 / reference, because 100 * 5770^2 < 2^32: never enough to
// reach the next integer. Tests compare both functions for every magnitude and reference.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "vision/levels.h"

namespace cu264::vision::cuda {

class LevelScale {
 public:
  // 0 <= reference <= kMaxMagnitude.
  CU264_HD_MEMBER explicit LevelScale(int reference)
      : reciprocal_(reference > 1 ? static_cast<std::uint32_t>(((std::uint64_t{1} << 32) +
                                                                static_cast<std::uint32_t>(reference) - 1) /
                                                               static_cast<std::uint32_t>(reference))
                                  : 0),
        one_(reference == 1) {}

  // 0 <= magnitude <= reference.
  CU264_HD_MEMBER int level(int magnitude) const {
    const std::uint64_t hundredfold = static_cast<std::uint32_t>(kTopLevel * magnitude);
    const int level = static_cast<int>(hundredfold * reciprocal_ >> 32);
    return one_ ? kTopLevel * magnitude : level;
  }

 private:
  std::uint32_t reciprocal_;
  bool one_;
};

}  // namespace cu264::vision::cuda
