// What depends on a macroblock's QP: its lambdas and quantisers.
#pragma once

#include "core/cost.h"
#include "core/quant.h"
#include "core/quant8x8.h"
#include "cu264/scaling_lists.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/macroblock_inl.h"
#include "encoder/cpu/reconstruct_isa.h"

namespace cu264::encoder::CU264_ISA {

// The dead zones of a macroblock's quantisers.
struct QuantiserZones {
  core::DeadZone luma, chroma, luma8x8;
};
inline constexpr QuantiserZones kIntraZones = {core::kDeadZoneLuma, core::kDeadZoneChroma,
                                               core::kDeadZoneLuma8x8};
inline constexpr QuantiserZones kInterZones = {core::kDeadZoneInterLuma, core::kDeadZoneInterChroma,
                                               core::kDeadZoneInterLuma8x8};

static inline void set_quantisers(MacroblockContext& mb, const ScalingLists& lists, int qp,
                                  const QuantiserZones& zones) {
  const auto weights = [&](const auto& list) { return mb.weighted ? list.data() : nullptr; };
  const int chroma_qp = core::chroma_qp(qp);
  PlaneQuantiser(&chroma)[2] = mb.chroma_quantisers;
  set_quantiser(mb.luma_quantiser, qp, zones.luma, weights(lists.luma4x4));
  set_quantiser(chroma[0], chroma_qp, zones.chroma, weights(lists.cb4x4));
  if (!mb.weighted || lists.cr4x4 == lists.cb4x4) {
    chroma[1] = chroma[0];
  } else {
    set_quantiser(chroma[1], chroma_qp, zones.chroma, weights(lists.cr4x4));
  }
  if (!mb.rate.transform_8x8_mode) return;
  set_quantiser8x8(mb.luma_quantiser8x8, qp, zones.luma8x8, weights(lists.luma8x8));
}

static inline void set_qp(MacroblockContext& mb, const ScalingLists& lists, int qp,
                          const QuantiserZones& zones) {
#if defined(CU264_COUNTS_CABAC)
  mb.rate.costs = &cabac_costs(qp);
#endif
  mb.satd_lambda = core::satd_lambda<SearchRate>(qp);
  mb.chroma_satd_lambda = core::chroma_satd_lambda(qp);
  mb.rd_lambda = core::rd_lambda(qp);
  mb.chroma_error_weight = core::chroma_error_weight(qp);
  set_quantisers(mb, lists, qp, zones);
}

}  // namespace cu264::encoder::CU264_ISA
