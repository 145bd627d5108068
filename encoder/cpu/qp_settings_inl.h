// What depends on a macroblock's QP: its lambdas and quantisers.
#pragma once

#include "core/cost.h"
#include "core/quant.h"
#include "core/quant8x8.h"
#include "core/rdoq.h"
#include "cu264/scaling_lists.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/macroblock_inl.h"
#include "encoder/cpu/reconstruct_isa.h"

namespace cu264::encoder::CU264_ISA {

// What differs between I pictures and the two kinds of macroblocks of P pictures. Lambdas are in twelfths of
// those in core/cost.h. Errors of a P picture matter less than those of a key picture, from which others are
// predicted, so its lambdas are greater. All were measured.
struct QpSettings {
  core::DeadZone luma, chroma, luma8x8;
  int rd_lambda, satd_lambda;
};
inline constexpr int kDefaultLambda = 12;
inline constexpr int kPRdLambda = 16, kPSatdLambda = 15;
inline constexpr QpSettings kIPictures = {core::kDeadZoneLuma, core::kDeadZoneChroma, core::kDeadZoneLuma8x8,
                                          kDefaultLambda, kDefaultLambda};
inline constexpr QpSettings kIntraOfP = {core::kDeadZoneLuma, core::kDeadZoneChroma, core::kDeadZoneLuma8x8,
                                         kPRdLambda, kPSatdLambda};
inline constexpr QpSettings kInterOfP = {core::kDeadZoneInterLuma, core::kDeadZoneInterChroma,
                                         core::kDeadZoneInterLuma8x8, kPRdLambda, kPSatdLambda};

static inline int p_satd_lambda(int qp) {
  return core::satd_lambda<SearchRate>(qp) * kPSatdLambda / kDefaultLambda;
}

static inline void set_quantisers(MacroblockContext& mb, const ScalingLists& lists, int qp,
                                  const QpSettings& settings) {
  const auto weights = [&](const auto& list) { return mb.weighted ? list.data() : nullptr; };
  const int chroma_qp = core::chroma_qp(qp);
  PlaneQuantiser(&chroma)[2] = mb.chroma_quantisers;
  set_quantiser(mb.luma_quantiser, qp, settings.luma, weights(lists.luma4x4));
  set_quantiser(chroma[0], chroma_qp, settings.chroma, weights(lists.cb4x4));
  if (!mb.weighted || lists.cr4x4 == lists.cb4x4) {
    chroma[1] = chroma[0];
  } else {
    set_quantiser(chroma[1], chroma_qp, settings.chroma, weights(lists.cr4x4));
  }
  const std::int64_t rdoq_lambda = core::kRdoqLambda * settings.rd_lambda / kDefaultLambda;
  mb.luma_quantiser.rdoq_lambda = chroma[0].rdoq_lambda = chroma[1].rdoq_lambda = rdoq_lambda;
  mb.luma_quantiser8x8.rdoq_lambda = rdoq_lambda;
  if (!mb.rate.transform_8x8_mode) return;
  set_quantiser8x8(mb.luma_quantiser8x8, qp, settings.luma8x8, weights(lists.luma8x8));
}

static inline void set_qp(MacroblockContext& mb, const ScalingLists& lists, int qp,
                          const QpSettings& settings) {
#if defined(CU264_COUNTS_CABAC)
  mb.rate.costs = &cabac_costs(qp);
#endif
  mb.satd_lambda = core::satd_lambda<SearchRate>(qp) * settings.satd_lambda / kDefaultLambda;
  mb.chroma_satd_lambda = core::chroma_satd_lambda(qp);
  mb.rd_lambda = core::rd_lambda(qp) * settings.rd_lambda / kDefaultLambda;
  mb.chroma_error_weight = core::chroma_error_weight(qp);
  set_quantisers(mb, lists, qp, settings);
}

}  // namespace cu264::encoder::CU264_ISA
