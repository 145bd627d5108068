// What adaptive quantisation means for a picture's measure: by how many steps of QP each macroblock is coded
// more coarsely than one without variance.
#pragma once

#include <optional>

#include "core/picture_measure.h"
#include "encoder/adaptive_quantisation/qp_offsets.h"

namespace cu264::encoder {

// Offsets by edges are left to the correction that rate control learns.
inline bool weighs_macroblocks(const std::optional<AqParams>& aq) {
  return aq && aq->mode == AqMode::variance && aq->strength > 0;
}

// In steps of QP, Q8; not negative.
CU264_HD int weight_of_macroblock(const AqParams& aq, const MacroblockSums& sums) {
  return (variance_weight(sums) - variance_weight({})) * aq.strength / kStrengthOne;
}

CU264_HD int weight_steps(int weight) {
  const int steps = (weight + 128) >> 8;
  return steps < core::kLargestWeightSteps ? steps : core::kLargestWeightSteps;
}

}  // namespace cu264::encoder
