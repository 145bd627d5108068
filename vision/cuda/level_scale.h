// level_of (vision/levels.h) without a division: by the reciprocal of the reference in 2^-32, rounded up.
//
// The reciprocal is too large by less than 2^-32 of the reference, so the product of 100 * magnitude <= 100 *
// reference is too large by less than 100 * 5770^2 < 2^32 in that scale divided by the reference: never
// enough to reach the next integer. Tests hold both equal for every magnitude and reference.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "vision/levels.h"

namespace cu264::vision::cuda {

class LevelScale {
 public:
  // 0 <= reference <= kLargestMagnitude.
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
