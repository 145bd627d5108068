// One macroblock: chroma, then the better of Intra_16x16 and Intra_4x4, or I_PCM; then its records are
// written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/bits.h"
#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "encoder/cpu/chroma_search_inl.h"
#include "encoder/cpu/intra16x16_search_inl.h"
#include "encoder/cpu/intra4x4_search_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/macroblock_inl.h"

namespace cu264::encoder::CU264_ISA {

// mb_type (9 bits), the longest alignment, 384 samples: what I_PCM costs at most (H.264 7.3.5).
inline constexpr int kPcmBits = 9 + 7 + 384 * 8;

// With no more non-zero levels than this no macroblock can be longer than I_PCM: 39 bits a level (28 for the
// level, 11 for its run) and 16 for each block's coeff_token.
inline constexpr int kSurelyBelowPcm = 64;

static inline void search_luma_by_satd(MacroblockContext& mb, int chroma_pattern, LumaCandidate& best) {
  std::uint8_t predictions[core::kIntra16x16Modes][16][16];
  std::int64_t ranks[core::kIntra16x16Modes];
  rank_intra16x16(mb, chroma_pattern, predictions, ranks);
  if (search_intra4x4(mb, chroma_pattern, core::cost_of_rank(ranks[0]), best)) return;
  const int mode = core::mode_of_rank(ranks[0]);
  code_intra16x16(mb, mode, predictions[mode], chroma_pattern, false, best);
}

// Intra_4x4 unless SATD speaks for Intra_16x16, then Intra_16x16 unless SATD speaks against it.
static inline void search_luma_by_rd(MacroblockContext& mb, int chroma_pattern, LumaCandidate& best) {
  std::uint8_t predictions[core::kIntra16x16Modes][16][16];
  std::int64_t ranks[core::kIntra16x16Modes];
  const int candidates = rank_intra16x16(mb, chroma_pattern, predictions, ranks);
  const std::int64_t satd = core::cost_of_rank(ranks[0]);
  const bool has_intra4x4 = search_intra4x4(mb, chroma_pattern, satd * kStopIntra4x4 / 16, best);
  if (has_intra4x4 && 16 * best.satd_cost < satd * kSureIntra4x4) return;

  std::int64_t best_rank = std::numeric_limits<std::int64_t>::max();
  LumaCandidate whole, trial;
  const int tried = core::count_worth(ranks, std::min(mb.search.rd_candidates, candidates), kWorthMode);
  for (int i = 0; i < tried; ++i) {
    const int mode = core::mode_of_rank(ranks[i]);
    code_intra16x16(mb, mode, predictions[mode], chroma_pattern, false, trial);
    const std::int64_t rank = core::ranked(trial.cost, mode);
    if (rank >= best_rank) continue;
    best_rank = rank;
    whole = trial;
  }
  if (has_intra4x4 && 16 * whole.cost > best.cost * kWorthRdoq) return;
  if (mb.search.rdoq) {
    const int mode = whole.intra16x16_pred_mode;
    code_intra16x16(mb, mode, predictions[mode], chroma_pattern, true, whole);
  }
  if (!has_intra4x4 || whole.cost <= best.cost) best = whole;
}

static inline core::MacroblockRecord make_record(const LumaCandidate& luma, const ChromaCandidate& chroma,
                                                 int qp) {
  core::MacroblockRecord record;
  record.kind = luma.kind;
  record.intra_chroma_pred_mode = static_cast<std::uint8_t>(chroma.mode);
  record.coded_block_pattern =
      static_cast<std::uint8_t>(luma.coded_block_pattern | (chroma.coded_block_pattern << 4));
  record.qp = static_cast<std::uint8_t>(qp);
  record.nonzero_blocks = luma.nonzero_blocks | chroma.nonzero_blocks;
  if (luma.kind == core::MacroblockKind::intra4x4) {
    std::memcpy(record.intra4x4_pred_mode, luma.intra4x4_pred_mode, 16);
  } else {
    record.intra16x16_pred_mode = static_cast<std::uint8_t>(luma.intra16x16_pred_mode);
    std::memset(record.intra4x4_pred_mode, core::kIntra4x4Dc, 16);
  }
  return record;
}

// Exact size of macroblock_layer.
static inline int macroblock_bits(MacroblockContext& mb, const core::MacroblockRecord& record,
                                  const LumaCandidate& luma, const ChromaCandidate& chroma) {
  core::BitCounter counter{};
  core::put_macroblock_header(counter, record, mb.left_mb, mb.above_mb);
  int bits = static_cast<int>(counter.bits);
  const bool whole = record.kind == core::MacroblockKind::intra16x16;
  if (whole)
    bits += mb.rate.block_bits(luma.levels[0], core::BlockCategory::luma_dc,
                               mb.luma_counts.context(mb.rate, 0, 0));
  for (int block = 0; block < 16; ++block) {
    const int bx = core::luma_block_x(block), by = core::luma_block_y(block), slot = core::kSlotLuma + block;
    mb.luma_counts.at(bx, by) = static_cast<std::int8_t>(luma.total_coeff[slot]);
    if ((record.coded_block_pattern >> (block >> 2)) & 1) {
      bits += mb.rate.block_bits(luma.levels[slot], core::slot_category(record.kind, slot),
                                 mb.luma_counts.context(mb.rate, bx, by));
    }
  }
  if (chroma.coded_block_pattern == 0) return bits;
  for (int c = 0; c < 2; ++c)
    bits += mb.rate.block_bits(chroma.levels[c], core::BlockCategory::chroma_dc, mb.rate.chroma_dc_context());
  for (int i = 0; i < 8 && chroma.coded_block_pattern == 2; ++i) {
    const int c = i >> 2, bx = i & 1, by = (i >> 1) & 1;
    mb.chroma_counts[c].at(bx, by) = static_cast<std::int8_t>(chroma.total_coeff[2 + i]);
    bits += mb.rate.block_bits(chroma.levels[2 + i], core::BlockCategory::chroma_ac,
                               mb.chroma_counts[c].context(mb.rate, bx, by));
  }
  return bits;
}

// Only DC levels reach the limit, at QP 0 to 3. Clipped, they leave the block far from its source.
static inline bool dc_is_clipped(const core::MacroblockRecord& record, const LumaCandidate& luma,
                                 const ChromaCandidate& chroma) {
  const auto clipped = [](const std::int16_t* levels, int count) {
    int largest = 0;
    for (int k = 0; k < count; ++k) largest = std::max(largest, levels[k] < 0 ? -levels[k] : +levels[k]);
    return largest >= core::kMaxLevel;
  };
  return (record.kind == core::MacroblockKind::intra16x16 && clipped(luma.levels[core::kSlotLumaDc], 16)) ||
         clipped(chroma.levels[0], 4) || clipped(chroma.levels[1], 4);
}

static inline bool pcm_is_better(MacroblockContext& mb, const core::MacroblockRecord& record,
                                 const LumaCandidate& luma, const ChromaCandidate& chroma) {
  if (mb.search.rd_candidates > 0 && core::rd_cost(0, kPcmBits, mb.rd_lambda) < luma.cost + chroma.cost) {
    return true;
  }
  // A decision by SATD does not see what clipping does to the picture.
  if (mb.search.rd_candidates == 0 && dc_is_clipped(record, luma, chroma)) return true;
  int nonzero_levels = 0;
  for (const std::uint8_t count : luma.total_coeff) nonzero_levels += count;
  for (const std::uint8_t count : chroma.total_coeff) nonzero_levels += count;
  return nonzero_levels > kSurelyBelowPcm && macroblock_bits(mb, record, luma, chroma) > kPcmBits;
}

static inline void store_macroblock(CpuPicture& picture, int mb_x, int mb_y,
                                    const core::MacroblockRecord& record, const LumaCandidate& luma,
                                    const ChromaCandidate& chroma) {
  const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
  picture.macroblocks[index] = record;
  std::uint8_t* const total_coeff = picture.total_coeff.data() + index * core::kTotalCoeffStride;
  std::memcpy(total_coeff, luma.total_coeff, sizeof luma.total_coeff);
  std::memcpy(total_coeff + core::kSlotChromaDc, chroma.total_coeff, sizeof chroma.total_coeff);
  std::memset(total_coeff + core::kBlocksPerMacroblock, 0,
              core::kTotalCoeffStride - core::kBlocksPerMacroblock);
  std::int16_t* const levels = picture.levels.data() + index * core::kLevelsPerMacroblock;
  std::memcpy(levels, luma.levels, sizeof luma.levels);
  if (record.kind == core::MacroblockKind::intra4x4) std::memset(levels, 0, sizeof luma.levels[0]);
  std::memcpy(levels + core::kSlotChromaDc * core::kLevelsPerBlock, chroma.levels, sizeof chroma.levels);
  for (int y = 0; y < 16; ++y) {
    std::memcpy(picture.reconstruction[0].row(16 * mb_y + y) + 16 * mb_x, luma.reconstruction[y], 16);
  }
  for (int c = 0; c < 2; ++c) {
    for (int y = 0; y < 8; ++y) {
      std::memcpy(picture.reconstruction[1 + c].row(8 * mb_y + y) + 8 * mb_x,
                  chroma.reconstruction[y] + 8 * c, 8);
    }
  }
}

static inline void store_pcm(CpuPicture& picture, int mb_x, int mb_y, int qp) {
  const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
  core::MacroblockRecord record;
  record.kind = core::MacroblockKind::pcm;
  record.qp = static_cast<std::uint8_t>(qp);
  std::memset(record.intra4x4_pred_mode, core::kIntra4x4Dc, 16);
  picture.macroblocks[index] = record;
  std::uint8_t* const total_coeff = picture.total_coeff.data() + index * core::kTotalCoeffStride;
  std::memset(total_coeff, 0, core::kTotalCoeffStride);
  std::memset(total_coeff + core::kSlotLuma, 16, 16);
  std::memset(total_coeff + core::kSlotChromaAc, 16, 8);
  std::memset(picture.levels.data() + index * core::kLevelsPerMacroblock, 0,
              core::kLevelsPerMacroblock * sizeof(std::int16_t));
  for (int c = 0; c < 3; ++c) {
    const int size = c == 0 ? 16 : 8;
    for (int y = 0; y < size; ++y) {
      std::memcpy(picture.reconstruction[c].row(size * mb_y + y) + size * mb_x,
                  picture.source[c].row(size * mb_y + y) + size * mb_x, static_cast<std::size_t>(size));
    }
  }
}

static inline void reconstruct_macroblock(MacroblockContext& mb, CpuPicture& picture, int mb_x, int mb_y,
                                          int qp) {
  load_source(mb, picture, mb_x, mb_y);
  load_neighbours(mb, picture, mb_x, mb_y);
  load_counts(mb, picture, mb_x, mb_y);
  ChromaCandidate chroma;
  LumaCandidate luma;
  search_chroma(mb, chroma);
  if (mb.search.rd_candidates > 0) {
    search_luma_by_rd(mb, chroma.coded_block_pattern, luma);
  } else {
    search_luma_by_satd(mb, chroma.coded_block_pattern, luma);
  }
  if (mb.marks != 0 && luma.kind == core::MacroblockKind::intra16x16) mark_intra16x16(mb, luma);
  const core::MacroblockRecord record = make_record(luma, chroma, qp);
  if (pcm_is_better(mb, record, luma, chroma)) {
    store_pcm(picture, mb_x, mb_y, qp);
  } else {
    store_macroblock(picture, mb_x, mb_y, record, luma, chroma);
  }
}

}  // namespace cu264::encoder::CU264_ISA
