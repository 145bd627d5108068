// P_Skip by what the neighbours of each macroblock have become (core/skip_decision.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "core/p_lambda.h"
#include "core/skip_decision.h"
#include "encoder/cpu/inter_coding_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/motion_refinement_inl.h"
#include "encoder/cpu/p_passes.h"

namespace cu264::encoder::CU264_ISA {

static inline void become_skip(CpuPicture& picture, std::size_t index, int mb_x, int mb_y,
                               const InterPrediction& from, core::MotionVector vector) {
  core::MacroblockRecord& record = picture.macroblocks[index];
  record.kind = core::MacroblockKind::p16x16;
  record.coded_block_pattern = 0, record.nonzero_blocks = 0;
  record.inter_transform_8x8 = false;
  for (core::MotionVector& v : picture.motion[index].vector) v = vector;
  std::memset(picture.total_coeff.data() + index * core::kTotalCoeffStride, 0, core::kTotalCoeffStride);
  std::memset(picture.levels.data() + index * core::kLevelsPerMacroblock, 0,
              core::kLevelsPerMacroblock * sizeof(std::int16_t));
  for (int y = 0; y < 16; ++y) {
    std::memcpy(picture.reconstruction[0].row(16 * mb_y + y) + 16 * mb_x, from.luma[y], 16);
  }
  for (int c = 0; c < 2; ++c) {
    for (int y = 0; y < 8; ++y) {
      std::memcpy(picture.reconstruction[1 + c].row(8 * mb_y + y) + 8 * mb_x, from.chroma[y] + 8 * c, 8);
    }
  }
}

// The motion in and around a macroblock, to which all pointers are.
struct SettledMotion {
  const core::MacroblockRecord* mb;
  const core::MotionRecord* motion;
  const InterChoice* choice;
  bool by_rd;

  core::MotionNeighbour operator()(int offset, int block) const {
    if (core::will_be_intra(mb[offset].kind, choice[offset].intra_is_likely, by_rd)) return {true, false, {}};
    return {true, true, motion[offset].vector[block]};
  }
};

// Decides a macroblock; `mb` has its QP.
static inline void decide_skip(MacroblockContext& mb, const PPicture& p, const core::MotionPlace& place,
                               int mb_x, int mb_y) {
  CpuPicture& picture = p.picture;
  const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
  const core::MacroblockRecord& record = picture.macroblocks[index];
  const core::MotionRecord& motion = picture.motion[index];
  InterChoice& choice = p.chain.choices[index];
  const bool by_rd = mb.search.rd_candidates > 0;
  if (core::will_be_intra(record.kind, choice.intra_is_likely, by_rd)) return;
  const SettledMotion field{&record, &motion, &choice, by_rd};
  const core::SkipOffer offer =
      core::offer_skip(place, record.kind, record.coded_block_pattern, motion.vector[0], field);
  if (offer.taken) return;
  const int header_bits = core::inter_header_bits(place, record.kind, motion.vector, field);
  if (by_rd) choice.rd_cost = core::with_header(choice.rd_cost, choice.bits, header_bits, mb.rd_lambda);
  const int satd_lambda = core::p_satd_lambda<SearchRate>(p.qp);
  const RefinedMacroblock macroblock(p.chain, mb_x, mb_y, satd_lambda);
  if (!macroblock.limits.allow(offer.vector)) return;
  if (!by_rd) {
    // The cost of levels is not known.
    if (record.coded_block_pattern != 0) return;
    if (macroblock.satd_of_partition(0, offer.vector) > choice.satd + satd_lambda * header_bits) return;
  }
  InterPrediction from;
  core::MotionRecord skip;
  skip.vector[0] = offer.vector;
  predict_inter(p.chain, mb_x, mb_y, skip, core::MacroblockKind::p16x16, from);
  if (by_rd) {
    load_source(mb, picture, mb_x, mb_y);
    const std::int64_t cost = core::skip_rd_cost(squared_error<16, 16>(&mb.luma[0][0], &from.luma[0][0]),
                                                 squared_error<16, 8>(&mb.chroma[0][0], &from.chroma[0][0]),
                                                 mb.rd_lambda, mb.chroma_error_weight);
    if (cost > choice.rd_cost) return;
    choice.rd_cost = cost;
  }
  become_skip(picture, index, mb_x, mb_y, from, offer.vector);
}

}  // namespace cu264::encoder::CU264_ISA
