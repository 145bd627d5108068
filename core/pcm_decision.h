// Whether I_PCM is better than what the search found for a macroblock, or needed because that is too long.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cost.h"
#include "core/hd.h"
#include "core/mb_syntax.h"
#include "core/quant.h"
#include "core/rate_model.h"

namespace cu264::core {

// mb_type (9 bits), the longest alignment, 384 samples: what I_PCM costs at most (H.264 7.3.5).
inline constexpr int kPcmBits = 9 + 7 + 384 * 8;

// No header is longer: Intra_4x4 takes 1 bit for mb_type, 64 for its modes, 5 for intra_chroma_pred_mode, 11
// for coded_block_pattern and up to 11 for mb_qp_delta.
inline constexpr int kMostHeaderBits = 100;

// With no more non-zero levels than this no macroblock can be longer than I_PCM: 39 bits a level (28 for the
// level, 11 for its run) and 16 for each block's coeff_token.
inline constexpr int kSurelyBelowPcm = 64;

// Only DC levels reach kMaxLevel: luma's, of 256 differences of 255, up to this QP.
inline constexpr int kLastClippingQp = 9;

CU264_HD bool is_clipped(int level) {
  return (level < 0 ? -level : level) >= kMaxLevel;
}

// What a slot's block takes in the bitstream; the grids hold total_coeff and give the rate model's contexts.
template <class Rate, class LumaCounts, class ChromaCounts>
CU264_FLOW int slot_bits(const Rate& rate, const MacroblockRecord& mb, int slot, const std::int16_t* levels,
                         const LumaCounts& luma_counts, const ChromaCounts (&chroma_counts)[2]) {
  if (!slot_is_coded(mb, slot)) return 0;
  int context = rate.chroma_dc_context();
  if (slot < kSlotChromaDc) {
    const int block = slot == kSlotLumaDc ? 0 : slot - kSlotLuma;
    context = luma_counts.context(rate, luma_block_x(block), luma_block_y(block));
  } else if (slot >= kSlotChromaAc) {
    const int i = slot - kSlotChromaAc;
    context = chroma_counts[i >> 2].context(rate, i & 1, (i >> 1) & 1);
  }
  return rate.block_bits(levels, slot_category(mb.kind, slot), context);
}

// Search computes:
//   rate(), rd_lambda(), qp()
//   by_rd()                   whether rate and distortion decide; then cost() is the macroblock's
//   dc_is_clipped()           whether is_clipped() holds for a DC level of Intra_16x16 or chroma
//   count_levels(), sum_of_magnitudes()   of all levels, or of more
//   macroblock_bits()         the exact size of macroblock_layer
template <class Search>
CU264_FLOW bool pcm_is_better(Search&& search) {
  if (search.by_rd()) {
    if (rd_cost(0, kPcmBits, search.rd_lambda()) < search.cost()) return true;
  } else if (search.qp() <= kLastClippingQp && search.dc_is_clipped()) {
    // A clipped level leaves its block far from the source, and SATD of predictions does not see it.
    return true;
  }
  const int levels = search.count_levels();
  if (levels <= kSurelyBelowPcm) return false;
  const int bound = kMostHeaderBits + search.rate().residual_bits_bound(levels, search.sum_of_magnitudes());
  return bound > kPcmBits && search.macroblock_bits() > kPcmBits;
}

}  // namespace cu264::core
