// Decides whether to code a macroblock as I_PCM, either because that is better than what the search found or
// because what the search found is too long.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cost.h"
#include "core/hd.h"
#include "core/mb_syntax.h"
#include "core/quant.h"
#include "core/rate_model.h"

namespace cu264::core {

// The most bits that I_PCM takes: mb_type (9 bits), the longest alignment and 384 samples (H.264 7.3.5).
inline constexpr int kPcmBits = 9 + 7 + 8 * MacroblockLayout::kSamples;

// The most bits of a header: Intra_4x4 takes 1 bit for mb_type, 64 for its modes, 5 for
// intra_chroma_pred_mode, 11 for coded_block_pattern and up to 11 for mb_qp_delta.
inline constexpr int kMaxHeaderBits = 100;

// A macroblock with no more non-zero levels than this is never longer than I_PCM: a level takes at most 39
// bits (28 for itself, 11 for its run), and each block's coeff_token at most 16.
inline constexpr int kSurelyBelowPcm = 64;

// Only DC levels and the levels of 8x8 blocks reach kMaxLevel. The DC levels of luma, which sum 256
// differences of up to 255, do so up to this QP, the others only up to lower QPs.
inline constexpr int kLastClippingQp = 9;

CU264_HD bool is_clipped(int level) {
  return (level < 0 ? -level : level) >= kMaxLevel;
}

// The bits of a slot's block. luma_counts and chroma_counts hold total_coeff and give the rate model's
// contexts.
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

// The most bits that CAVLC takes for the modes of I_NxN.
CU264_HD int most_mode_bits(MacroblockKind kind) {
  return is_i_nxn(kind) ? 4 * (16 / blocks_of_a_mode(kind)) : 0;
}

// Search computes:
//   rd_lambda(), qp()
//   last_clipping_qp()        kLastClippingQp, or kLastWeightedClippingQp with scaling lists
//   leaves_range()            whether the inverse transforms leave the range of core/value_range.h; false
//                             with flat lists
//   by_rd()                   whether rate and distortion decide; then cost() is the macroblock's
//   any_is_clipped()          whether is_clipped() holds for a DC level of Intra_16x16 or chroma, or a level
//                             of Intra_8x8; with scaling lists, for any level
//   count_levels(), sum_of_magnitudes() of all non-zero levels, or upper bounds of these
//   macroblock_bits()         the size of macroblock_layer with CAVLC, exact where that is the coder, else
//   not
//                             below it
template <class Search>
CU264_FLOW bool pcm_is_better(Search&& search) {
  if (search.by_rd()) {
    if (rd_cost(0, kPcmBits, search.rd_lambda()) < search.cost()) return true;
  } else if (search.qp() <= search.last_clipping_qp() && search.any_is_clipped()) {
    // A clipped level leaves its block far from the source, which the SATD of predictions does not show.
    return true;
  }
  if (search.leaves_range()) return true;
  const int levels = search.count_levels();
  if (levels <= kSurelyBelowPcm) return false;
  const int bound = kMaxHeaderBits + CavlcRate{}.residual_bits_bound(levels, search.sum_of_magnitudes());
  return bound > kPcmBits && search.macroblock_bits() > kPcmBits;
}

}  // namespace cu264::core
