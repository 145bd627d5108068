// Intra_16x16: four modes, a DC block of block DCs, and AC blocks that are coded all or none.
#pragma once

#include <cstdint>
#include <utility>

#include "core/candidates.h"
#include "core/cost.h"
#include "core/intra_pred.h"
#include "core/mode_trials.h"
#include "encoder/cpu/block_coding_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"
#include "encoder/cpu/macroblock_inl.h"
#include "protect/watermark.h"

namespace cu264::encoder::CU264_ISA {

static inline void predict_intra16x16(const MacroblockContext& mb, int mode, std::uint8_t (&out)[16][16]) {
  const std::uint8_t *above = mb.luma_above + 1, *left = mb.luma_left + 1;
  switch (mode) {
    case core::kIntra16x16Vertical:
      for (int y = 0; y < 16; ++y) std::memcpy(out[y], above, 16);
      break;
    case core::kIntra16x16Horizontal:
      for (int y = 0; y < 16; ++y) std::memset(out[y], left[y], 16);
      break;
    case core::kIntra16x16Dc: {
      int sum_above = 0, sum_left = 0;
      for (int i = 0; i < 16; ++i) sum_above += above[i], sum_left += left[i];
      std::memset(out, core::intra16x16_dc(mb.left, sum_left, mb.above, sum_above, 8), 256);
      break;
    }
    default: {
      const core::PlanePrediction plane = core::intra16x16_plane(above, left);
      for (int y = 0; y < 16; ++y) {
        for (int x = 0; x < 16; ++x) {
          out[y][x] = static_cast<std::uint8_t>(core::plane_sample(plane, x, y, 7, 8));
        }
      }
    }
  }
}

static inline int satd_intra16x16(const MacroblockContext& mb, const std::uint8_t (&prediction)[16][16]) {
  UnsignedLanes total{};
  for (int y = 0; y < 16; y += 4) {
    Lanes row[4];
    for (int i = 0; i < 4; ++i) {
      Lanes predicted;
      load_samples(mb.luma[y + i], row[i]);
      load_samples(prediction[y + i], predicted);
      row[i] -= predicted;
    }
    accumulate_satd(row, total);
  }
  return sum(total);
}

// Reconstructs from the DC coefficients and, if asked, the AC levels; returns the squared error.
static inline int reconstruct_intra16x16(const MacroblockContext& mb,
                                         const std::uint8_t (&prediction)[16][16],
                                         const std::int32_t (&dc)[16], bool with_ac, LumaCandidate& result) {
  int error = 0;
  for (int block = 0; block < 16; ++block) {
    const int bx = core::luma_block_x(block), by = core::luma_block_y(block), x = 4 * bx, y = 4 * by;
    const bool ac = with_ac && result.total_coeff[core::kSlotLuma + block] > 0;
    std::uint8_t* const out = &result.reconstruction[y][x];
    if (!ac && dc[4 * by + bx] == 0) {
      error += copy_block(&prediction[y][x], 16, out, 16, &mb.luma[y][x], 16);
      continue;
    }
    std::int32_t coefficients[16] = {};
    if (ac) dequantise_block(result.levels[core::kSlotLuma + block], 1, mb.luma_quantiser, coefficients);
    coefficients[0] = dc[4 * by + bx];
    error += reconstruct_block(coefficients, &prediction[y][x], 16, out, 16, &mb.luma[y][x], 16);
  }
  return error;
}

inline constexpr std::uint32_t kLumaAcBlocks = 0xffffu << core::kSlotLuma;

// A trial of one mode: its levels, which are in `candidate`, and their bits.
struct Intra16x16Trial {
  const MacroblockContext* mb;
  const std::uint8_t (*prediction)[16][16];
  int chroma_pattern;
  LumaCandidate* candidate;
  int shown = -1;            // with_ac of candidate->reconstruction
  std::int32_t dc[16] = {};  // coefficients to reconstruct with
  std::int64_t dc_bits = 0;  // where rate decides
  std::int64_t ac_bits = 0;

  int highest_pattern() const {
    if (mb->search.rd_candidates > 0) return (candidate->nonzero_blocks & kLumaAcBlocks) != 0;
    return ac_is_worth_coding(candidate->levels + core::kSlotLuma, candidate->total_coeff + core::kSlotLuma,
                              16, core::kTooFewLumaAc);
  }
  int squared_error(int with_ac) {
    shown = with_ac;
    return reconstruct_intra16x16(*mb, *prediction, dc, with_ac != 0, *candidate);
  }
  std::int64_t bits(int with_ac) const {
    return core::intra16x16_bits(mb->rate, candidate->intra16x16_pred_mode, with_ac, chroma_pattern, dc_bits,
                                 ac_bits);
  }
};

// Transforms and quantises the macroblock with one mode.
static inline Intra16x16Trial quantise_intra16x16(MacroblockContext& mb, int mode,
                                                  const std::uint8_t (&prediction)[16][16],
                                                  int chroma_pattern, bool rdoq, LumaCandidate& result) {
  const PlaneQuantiser& q = mb.luma_quantiser;
  const bool by_rd = mb.search.rd_candidates > 0;
  Intra16x16Trial trial{&mb, &prediction, chroma_pattern, &result};
  std::int32_t(&dc)[16] = trial.dc;
  result.kind = core::MacroblockKind::intra16x16;
  result.intra16x16_pred_mode = mode;
  result.mode_bits = 0;
  result.nonzero_blocks = 0;
  for (int block = 0; block < 16; ++block) {
    const int bx = core::luma_block_x(block), by = core::luma_block_y(block), x = 4 * bx, y = 4 * by;
    const int slot = core::kSlotLuma + block, context = mb.luma_counts.context(mb.rate, bx, by);
    std::int32_t coefficients[16];
    forward_block(&mb.luma[y][x], 16, &prediction[y][x], 16, coefficients);
    dc[4 * by + bx] = coefficients[0];
    const int total_coeff = quantise_block(mb.rate, coefficients, core::BlockCategory::luma_ac, q, rdoq,
                                           context, result.levels[slot]);
    mb.luma_counts.at(bx, by) = static_cast<std::int8_t>(total_coeff);
    result.total_coeff[slot] = static_cast<std::uint8_t>(total_coeff);
    result.nonzero_blocks |= static_cast<std::uint32_t>(total_coeff > 0) << slot;
    if (by_rd) {
      trial.ac_bits += mb.rate.block_bits(result.levels[slot], core::BlockCategory::luma_ac, context);
    }
  }

  core::hadamard4x4(dc);
  std::int32_t in_order[16];
  for (int k = 0; k < 16; ++k) in_order[k] = dc[core::zigzag_to_raster(k)];
  const int dc_context = mb.luma_counts.context(mb.rate, 0, 0);
  std::int16_t* const dc_levels = result.levels[core::kSlotLumaDc];
  result.total_coeff[0] =
      static_cast<std::uint8_t>(quantise_dc(mb.rate, in_order, core::BlockCategory::luma_dc, q,
                                            core::kLumaDcExtraShift, rdoq, dc_context, dc_levels));
  result.nonzero_blocks |= static_cast<std::uint32_t>(result.total_coeff[0] > 0) << core::kSlotLumaDc;
  if (by_rd) trial.dc_bits = mb.rate.block_bits(dc_levels, core::BlockCategory::luma_dc, dc_context);
  for (int k = 0; k < 16; ++k) dc[core::zigzag_to_raster(k)] = dc_levels[k];
  core::hadamard4x4(dc);
  for (std::int32_t& value : dc) value = core::dequantise_luma_dc(value, q);
  return trial;
}

// Removes the AC levels from the trial's candidate unless `with_ac` is set, and reconstructs it.
static inline void settle_intra16x16(Intra16x16Trial& trial, int with_ac) {
  LumaCandidate& result = *trial.candidate;
  if (trial.shown != with_ac) trial.squared_error(with_ac);
  result.coded_block_pattern = with_ac ? 15 : 0;
  if (!with_ac && (result.nonzero_blocks & kLumaAcBlocks) != 0) {
    std::memset(result.levels[core::kSlotLuma], 0, sizeof result.levels - sizeof result.levels[0]);
    std::memset(result.total_coeff + core::kSlotLuma, 0, 16);
    result.nonzero_blocks &= ~kLumaAcBlocks;
  }
}

// The trials of core::choose_mode. A trial that is kept swaps places with the best so far.
struct Intra16x16Trials {
  MacroblockContext& mb;
  const std::uint8_t (&predictions)[core::kIntra16x16Modes][16][16];
  int chroma_pattern;
  LumaCandidate* best;
  LumaCandidate* other;

  bool rdoq() const { return mb.search.rdoq; }
  std::int64_t cost(int squared_error, std::int64_t bits) const {
    return core::rd_cost<SearchRate>(squared_error, bits, mb.rd_lambda);
  }
  Intra16x16Trial code(int mode, bool by_rdoq) {
    return quantise_intra16x16(mb, mode, predictions[mode], chroma_pattern, by_rdoq, *other);
  }
  void keep(Intra16x16Trial& trial, int with_ac) {
    settle_intra16x16(trial, with_ac);
    std::swap(best, other);
  }
};

// Puts the watermark's marks into a macroblock that was coded as Intra_16x16.
static inline void mark_intra16x16(const MacroblockContext& mb, LumaCandidate& result) {
  if (result.coded_block_pattern == 0) return;
  bool changed = false;
  for (int block = 0; block < 16; ++block) {
    std::int16_t* const levels = result.levels[core::kSlotLuma + block];
    if (!protect::is_marked(mb.marks, block) ||
        !protect::mark_levels(levels, 15, mb.mark_parity, protect::marked_bit(mb.marks, block))) {
      continue;
    }
    changed = true;
    result.total_coeff[core::kSlotLuma + block] =
        static_cast<std::uint8_t>(core::count_ones(core::level_masks(levels, 15).nonzero));
  }
  if (!changed) return;
  std::uint8_t prediction[16][16];
  predict_intra16x16(mb, result.intra16x16_pred_mode, prediction);
  std::int32_t dc[16];
  for (int k = 0; k < 16; ++k) dc[core::zigzag_to_raster(k)] = result.levels[core::kSlotLumaDc][k];
  core::hadamard4x4(dc);
  for (std::int32_t& value : dc) value = core::dequantise_luma_dc(value, mb.luma_quantiser);
  reconstruct_intra16x16(mb, prediction, dc, true, result);
}

// All modes' predictions and ranks by SATD and mode bits, the best first.
static inline void rank_intra16x16(const MacroblockContext& mb, int chroma_pattern,
                                   std::uint8_t (&predictions)[core::kIntra16x16Modes][16][16],
                                   core::SatdRank (&ranks)[core::kIntra16x16Modes]) {
  for (int mode = 0; mode < core::kIntra16x16Modes; ++mode) {
    ranks[mode] = core::kNoRank;
    if (!core::intra16x16_mode_available(mode, mb.left, mb.above)) continue;
    predict_intra16x16(mb, mode, predictions[mode]);
    const int bits = mb.rate.intra16x16_header_bits(mode, 0, chroma_pattern);
    ranks[mode] =
        core::satd_rank<SearchRate>(satd_intra16x16(mb, predictions[mode]), mb.satd_lambda, bits, mode);
  }
  core::sort_ranks(ranks);
}

}  // namespace cu264::encoder::CU264_ISA
