// The bits that the model predicts for a picture at one QP.
#pragma once

#include <cstdint>

#include "encoder/rate_control/bits_model.h"

namespace cu264::test {

inline std::int64_t predicted_bits(const core::PictureMeasure& measure, int qp_q8, Preset preset) {
  return encoder::bits_at(encoder::logs_of(encoder::size_curve(measure, preset)), qp_q8);
}

}  // namespace cu264::test
