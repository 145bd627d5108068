// What differs between I pictures and the two kinds of macroblocks of P pictures at the same QP. Lambdas are
// in twelfths of those in core/cost.h. Errors of a P picture matter less than those of a key picture, from
// which others are predicted, so its lambdas are greater. All were measured.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "core/quant.h"
#include "core/quant8x8.h"
#include "core/rdoq.h"

namespace cu264::core {

struct QpSettings {
  DeadZone luma, chroma, luma8x8;
  int rd_lambda, satd_lambda;
};
inline constexpr int kDefaultLambda = 12;
inline constexpr int kPRdLambda = 16, kPSatdLambda = 15;
inline constexpr QpSettings kIPictures = {kDeadZoneLuma, kDeadZoneChroma, kDeadZoneLuma8x8, kDefaultLambda,
                                          kDefaultLambda};
inline constexpr QpSettings kIntraOfP = {kDeadZoneLuma, kDeadZoneChroma, kDeadZoneLuma8x8, kPRdLambda,
                                         kPSatdLambda};
inline constexpr QpSettings kInterOfP = {kDeadZoneInterLuma, kDeadZoneInterChroma, kDeadZoneInterLuma8x8,
                                         kPRdLambda, kPSatdLambda};

CU264_HD int scaled_lambda(int lambda, int twelfths) {
  return lambda * twelfths / kDefaultLambda;
}

CU264_HD constexpr std::int64_t rdoq_lambda(const QpSettings& settings) {
  return kRdoqLambda * settings.rd_lambda / kDefaultLambda;
}

CU264_HD constexpr std::int64_t p_rdoq_lambda() {
  return rdoq_lambda(kInterOfP);
}

}  // namespace cu264::core
