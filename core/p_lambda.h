// Lambdas of motion estimation, which chooses vectors by SATD, or by sums of absolute differences.
#pragma once

#include "core/cost.h"
#include "core/hd.h"
#include "core/qp_settings.h"

namespace cu264::core {

// Lambda per bit for SATD (satd4x4) in P pictures. Rate: the rate model by whose bits the picture is
// searched.
template <class Rate>
CU264_HD int p_satd_lambda(int qp) {
  return scaled_lambda(satd_lambda<Rate>(qp), kPSatdLambda);
}

// Lambda per bit for sums of absolute differences: half of that for SATD, whose coefficients are twice as
// large.
CU264_HD int sad_lambda(int satd_lambda) {
  return (satd_lambda + 1) >> 1;
}

}  // namespace cu264::core
