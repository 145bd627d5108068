// Adaptive quantisation by variance, as a picture's measure counts it: by how many steps of QP a macroblock
// is coded more coarsely than a flat one.
#pragma once

#include <optional>

#include "core/picture_measure.h"
#include "encoder/adaptive_quantisation/qp_offsets.h"

namespace cu264::encoder {

// Offsets by edges are left to the correction that rate control learns.
inline int variance_strength(const std::optional<AqParams>& aq) {
  return aq && aq->mode == AqMode::variance ? aq->strength : 0;
}

// log2 of the variance in Q8, from 0 of a flat macroblock.
CU264_HD int weight_above_flat(const MacroblockSums& sums) {
  return variance_weight(sums) - variance_weight({});
}

CU264_HD int weight_steps(int weight, int strength) {
  const int steps = (weight * strength / kStrengthOne + 128) >> 8;
  return core::lesser(steps, core::kMaxWeightSteps);
}

}  // namespace cu264::encoder
