// What depends on a macroblock's QP: its lambdas and quantisers.
#pragma once

#include "core/cost.h"
#include "core/qp_settings.h"
#include "core/rdoq.h"
#include "cu264/scaling_lists.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/macroblock_inl.h"
#include "encoder/cpu/reconstruct_isa.h"

namespace cu264::encoder::CU264_ISA {

static inline void set_quantisers(MacroblockContext& mb, const ScalingLists& lists, int qp,
                                  const core::QpSettings& settings) {
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
  const std::int64_t rdoq_lambda = core::rdoq_lambda(settings);
  mb.luma_quantiser.rdoq_lambda = chroma[0].rdoq_lambda = chroma[1].rdoq_lambda = rdoq_lambda;
  mb.luma_quantiser8x8.rdoq_lambda = rdoq_lambda;
  if (!mb.rate.transform_8x8_mode) return;
  set_quantiser8x8(mb.luma_quantiser8x8, qp, settings.luma8x8, weights(lists.luma8x8));
}

static inline void set_qp(MacroblockContext& mb, const ScalingLists& lists, int qp,
                          const core::QpSettings& settings) {
#if defined(CU264_COUNTS_CABAC)
  mb.rate.costs = &cabac_costs(qp);
#endif
  mb.satd_lambda = core::scaled_lambda(core::satd_lambda<SearchRate>(qp), settings.satd_lambda);
  mb.chroma_satd_lambda = core::chroma_satd_lambda(qp);
  mb.rd_lambda = core::scaled_lambda(core::rd_lambda(qp), settings.rd_lambda);
  mb.chroma_error_weight = core::chroma_error_weight(qp);
  set_quantisers(mb, lists, qp, settings);
}

}  // namespace cu264::encoder::CU264_ISA
