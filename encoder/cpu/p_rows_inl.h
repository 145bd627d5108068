// The passes over a P picture (encoder/cpu/p_passes.h), a row at a time.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/intra_trial.h"
#include "core/mb_qp_delta.h"
#include "core/motion_prediction.h"
#include "core/p_lambda.h"
#include "encoder/cpu/inter_coding_inl.h"
#include "encoder/cpu/intra_estimate_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/macroblock_search_inl.h"
#include "encoder/cpu/motion_refinement_inl.h"
#include "encoder/cpu/motion_search_inl.h"
#include "encoder/cpu/p_passes.h"
#include "encoder/cpu/qp_settings_inl.h"
#include "encoder/cpu/skip_decision_inl.h"

namespace cu264::encoder::CU264_ISA {

static inline bool row_above_in_slice(const CpuPicture& picture, int mb_y) {
  const int slice = core::slice_of_row(mb_y, picture.slices, picture.mb_height);
  return mb_y > core::slice_first_row(slice, picture.slices, picture.mb_height);
}

static inline void set_place(MacroblockContext& mb, const CpuPicture& picture, int mb_x, bool above) {
  mb.left = mb_x > 0;
  mb.above = above;
  mb.corner = mb.left && mb.above;
  mb.above_right = mb.above && mb_x + 1 < picture.mb_width;
}

// Sets the context's QP to that of macroblocks of the picture, one after another.
class QpSetter {
 public:
  QpSetter(MacroblockContext& mb, const PPicture& p, const core::QpSettings& settings)
      : mb_(mb), picture_(p.picture), picture_qp_(p.qp), settings_(settings) {}

  // Returns the macroblock's QP.
  int set(std::size_t index) {
    const int qp = picture_.qp_offsets.empty() ? picture_qp_
                                               : core::macroblock_qp(picture_qp_, picture_.qp_offsets[index]);
    if (qp != qp_) set_qp(mb_, picture_.scaling_lists, qp, settings_);
    return qp_ = qp;
  }

 private:
  MacroblockContext& mb_;
  const CpuPicture& picture_;
  const int picture_qp_;
  const core::QpSettings settings_;
  int qp_ = -1;
};

static inline void begin_context(MacroblockContext& mb, const PPicture& p) {
  mb.search = search_params(p.preset, p.picture.transform_8x8_mode);
  mb.rate.transform_8x8_mode = p.picture.transform_8x8_mode;
  mb.weighted = false;
}

static inline void code_row(const PPicture& p, int mb_y) {
  CpuPicture& picture = p.picture;
  GopChain& chain = p.chain;
  MacroblockContext mb;
  begin_context(mb, p);
  QpSetter qps(mb, p, core::kInterOfP);
  const bool above = row_above_in_slice(picture, mb_y);
  for (int mb_x = 0; mb_x < picture.mb_width; ++mb_x) {
    const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
    const int qp = qps.set(index);
    mb.inter_limits = mb.search.rd_candidates > 0 ? nullptr : &inter_level_limits(qp);
    set_place(mb, picture, mb_x, above);
    load_source(mb, picture, mb_x, mb_y);
    InterChoice& choice = chain.choices[index];
    LumaCandidate luma;
    ChromaCandidate chroma;
    code_inter(mb, chain, mb_x, mb_y, choice, chain.fields[0][index], luma, chroma);
    settle_macroblock(mb, picture, mb_x, mb_y, qp, luma, chroma);
    picture.motion[index] = chain.fields[0][index];
    const int inter = choice.satd_cost(mb.satd_lambda);
    choice.intra_is_likely = false;
    if (core::inter_is_good(inter, mb.satd_lambda)) continue;
    const int limit = core::likely_intra_cost(inter, mb.satd_lambda, mb.search.rd_candidates > 0);
    choice.intra_is_likely =
        intra_costs_less(mb, chain.source[chain.current][0], 16 * mb_x, 16 * mb_y, limit);
  }
}

static inline void decide_skips_row(const PPicture& p, int mb_y) {
  const CpuPicture& picture = p.picture;
  MacroblockContext mb;
  begin_context(mb, p);
  QpSetter qps(mb, p, core::kInterOfP);
  const bool above = row_above_in_slice(picture, mb_y);
  for (int mb_x = 0; mb_x < picture.mb_width; ++mb_x) {
    const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
    p.rows_in_order->wait_above(mb_y, mb_x + 2);
    qps.set(index);
    decide_skip(mb, p, core::motion_place(mb_x, above, picture.mb_width), mb_x, mb_y);
    p.rows_in_order->set_done(mb_y, mb_x + 1);
  }
}

static inline void intra_row(const PPicture& p, int mb_y) {
  CpuPicture& picture = p.picture;
  MacroblockContext mb;
  begin_context(mb, p);
  QpSetter qps(mb, p, core::kIntraOfP);
  const bool above = row_above_in_slice(picture, mb_y);
  for (int mb_x = 0; mb_x < picture.mb_width; ++mb_x) {
    const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
    const InterChoice& choice = p.chain.choices[index];
    core::MacroblockRecord* const here = picture.macroblocks.data() + index;
    if (!choice.intra_is_likely || here->kind == core::MacroblockKind::pcm) continue;
    p.rows_in_order->set_done(mb_y, mb_x);
    p.rows_in_order->wait_above(mb_y, mb_x + 2);
    const int qp = qps.set(index);
    set_place(mb, picture, mb_x, above);
    mb.left_mb = mb.left ? here - 1 : nullptr;
    mb.above_mb = mb.above ? here - picture.mb_width : nullptr;
    LumaCandidate luma;
    ChromaCandidate chroma;
    search_macroblock(mb, picture, mb_x, mb_y, luma, chroma);
    const bool is_better = mb.search.rd_candidates > 0
                               ? luma.cost + chroma.cost + header_cost(mb, core::kPMbTypes) < choice.rd_cost
                               : luma.cost < choice.satd_cost(mb.satd_lambda);
    if (!is_better) continue;
    settle_macroblock(mb, picture, mb_x, mb_y, qp, luma, chroma);
  }
  p.rows_in_order->set_done(mb_y, picture.mb_width);
}

static inline void finish_row(const PPicture& p, int mb_y) {
  CpuPicture& picture = p.picture;
  const bool above = row_above_in_slice(picture, mb_y);
  for (int mb_x = 0; mb_x < picture.mb_width; ++mb_x) {
    const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
    p.chain.skips[index] =
        core::finish_motion(core::motion_place(mb_x, above, picture.mb_width),
                            picture.macroblocks.data() + index, picture.motion.data() + index)
            ? 1
            : 0;
  }
}

void run_p_pass(const PPicture& p, PPass pass, int row) {
  GopChain& chain = p.chain;
  const int lambda = core::p_satd_lambda<SearchRate>(p.qp);
  const bool partitions = p.preset != Preset::fast;
  const auto above = [&] { return row_above_in_slice(p.picture, row); };
  switch (pass) {
    case PPass::half_size:
      return shrink_row(chain.source[chain.current][0], chain.source[chain.current][1], row);
    case PPass::quarter_size:
      return shrink_row(chain.source[chain.current][1], chain.source[chain.current][2], row);
    case PPass::sum_blocks: {
      const PaddedPlane& plane = chain.source[chain.current][2];
      return sum_blocks_row(plane, chain.sums[chain.current], row - plane.pad);
    }
    case PPass::search_quarter:
      return search_quarter_row(chain, core::sad_lambda(lambda), row);
    case PPass::search_half:
      return search_half_row(chain, core::sad_lambda(lambda), row);
    case PPass::search_whole:
      return search_whole_row(chain, core::sad_lambda(lambda), 0, row);
    case PPass::search_whole_again:
      return search_whole_row(chain, core::sad_lambda(lambda), 1, row);
    case PPass::search_blocks:
      return search_blocks_row(chain, core::sad_lambda(lambda), row);
    case PPass::refine:
      return refine_row(chain, lambda, partitions, above(), row);
    case PPass::merge:
      return merge_row(chain, lambda, partitions, 0, above(), row);
    case PPass::merge_again:
      return merge_row(chain, lambda, partitions, 1, above(), row);
    case PPass::code:
      return code_row(p, row);
    case PPass::decide_skips:
      return decide_skips_row(p, row);
    case PPass::intra_search:
      return intra_row(p, row);
    case PPass::finish:
      return finish_row(p, row);
  }
}

void half_samples(GopChain& chain, int row) {
  half_sample_row(chain, row);
}

}  // namespace cu264::encoder::CU264_ISA
