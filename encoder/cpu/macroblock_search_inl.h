// One macroblock: chroma, then the best of Intra_16x16, Intra_8x8 and Intra_4x4, or I_PCM; then its records
// are written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/luma_decision.h"
#include "core/pcm_decision.h"
#include "encoder/cpu/chroma_search_inl.h"
#include "encoder/cpu/intra16x16_search_inl.h"
#include "encoder/cpu/intra4x4_search_inl.h"
#include "encoder/cpu/intra8x8_search_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/macroblock_inl.h"
#include "encoder/cpu/residual_range_inl.h"
#include "encoder/cpu/source_activity_inl.h"

namespace cu264::encoder::CU264_ISA {

// The search of luma: what the functions of core/luma_decision.h ask for.
struct LumaSearch {
  MacroblockContext& mb;
  const int pattern;  // CodedBlockPatternChroma
  LumaCandidate& best;
  static constexpr bool kHasIntra8x8 = true;
  std::uint8_t predictions[core::kIntra16x16Modes][16][16];
  core::SatdRank ranks[core::kIntra16x16Modes];
  LumaCandidate whole[2];  // the best of Intra_16x16 so far and the one being tried
  const LumaCandidate* chosen = nullptr;
  LumaCandidate large;  // Intra_8x8

  LumaSearch(MacroblockContext& context, int chroma_pattern_found, LumaCandidate& result)
      : mb(context), pattern(chroma_pattern_found), best(result) {
    encoder::CU264_ISA::rank_intra16x16(mb, pattern, predictions, ranks);
  }
  const SearchRate& rate() const { return mb.rate; }
  int satd_lambda() const { return mb.satd_lambda; }
  int rd_lambda() const { return mb.rd_lambda; }
  int chroma_pattern() const { return pattern; }
  core::EarlyDecision early_decision() const { return mb.search.early_decision; }

  bool transform_8x8_mode() const { return mb.rate.transform_8x8_mode; }
  const core::SizeRules& size_rules() const { return mb.search.sizes; }
  core::SourceActivity activity() const { return measure_activity(mb.luma); }

  core::IntraNxNResult search_intra8x8(const core::IntraNxNStop& stop) {
    const std::uint32_t intra16x16_cost = highest_intra16x16_cost();
    if (stop.excludes(intra16x16_cost)) return {};
    return encoder::CU264_ISA::search_intra8x8(mb, stop, intra16x16_cost, large);
  }
  core::IntraNxNResult search_intra4x4(const core::IntraNxNStop& stop) {
    if (transform_8x8_mode() && stop.excludes(highest_intra16x16_cost())) return {};
    return encoder::CU264_ISA::search_intra4x4(mb, stop, core::cost_of_rank(ranks[0]), best);
  }
  void rank_intra16x16(core::SatdRank (&out)[core::kIntra16x16Modes]) const {
    std::copy_n(ranks, core::kIntra16x16Modes, out);
  }
  core::ModeChoice choose_intra16x16(const core::SatdRank (&sorted)[core::kIntra16x16Modes],
                                     std::int64_t cost_to_beat) {
    Intra16x16Trials trials{mb, predictions, pattern, &whole[0], &whole[1]};
    const core::ModeChoice choice = core::choose_mode(trials, sorted, mb.search.rd_candidates, cost_to_beat);
    chosen = trials.best;
    return choice;
  }
  void take_intra4x4(const core::IntraNxNResult&, std::int64_t cost) { best.cost = cost; }
  void take_intra8x8(const core::IntraNxNResult&, std::int64_t cost) {
    best = large;
    best.cost = cost;
  }
  void take_intra16x16(const core::ModeChoice& choice) {
    best = *chosen;
    best.cost = choice.cost;
  }
  // The cost by SATD with SearchRate::kCostliestChromaPattern.
  std::uint32_t highest_intra16x16_cost() const {
    const auto header_cost = [this](int mode, int chroma_pattern) {
      const int bits = rate().intra16x16_header_bits(mode, 0, chroma_pattern);
      return static_cast<std::uint32_t>(core::bits_cost<SearchRate, int>(bits, satd_lambda()));
    };
    std::uint32_t least = UINT32_MAX;
    for (const core::SatdRank rank : ranks) {
      if (rank == core::kNoRank) continue;
      const int mode = core::mode_of_rank(rank);
      least = std::min(least, core::cost_of_rank(rank) - header_cost(mode, pattern) +
                                  header_cost(mode, SearchRate::kCostliestChromaPattern));
    }
    return least;
  }
  void code_intra16x16(int mode, std::int64_t cost) {
    Intra16x16Trial trial = quantise_intra16x16(mb, mode, predictions[mode], pattern, false, best);
    settle_intra16x16(trial, trial.highest_pattern());
    best.cost = cost;
  }
};

static inline void search_luma(MacroblockContext& mb, int chroma_pattern, LumaCandidate& best) {
  LumaSearch search(mb, chroma_pattern, best);
  if (mb.search.rd_candidates > 0) {
    core::decide_luma_by_rd(search);
  } else {
    core::decide_luma_by_satd(search);
  }
}

static inline core::MacroblockRecord make_record(const LumaCandidate& luma, const ChromaCandidate& chroma,
                                                 bool transform_8x8_mode, int qp) {
  core::MacroblockRecord record;
  record.transform_8x8_mode = transform_8x8_mode;
  record.kind = luma.kind;
  record.inter_transform_8x8 = luma.inter_transform_8x8;
  record.intra_chroma_pred_mode = static_cast<std::uint8_t>(chroma.mode);
  record.coded_block_pattern =
      static_cast<std::uint8_t>(luma.coded_block_pattern | (chroma.coded_block_pattern << 4));
  record.qp = static_cast<std::uint8_t>(qp);
  record.nonzero_blocks = luma.nonzero_blocks | chroma.nonzero_blocks;
  if (core::is_i_nxn(luma.kind)) {
    std::memcpy(record.intra4x4_pred_mode, luma.intra4x4_pred_mode, 16);
  } else {
    record.intra16x16_pred_mode = static_cast<std::uint8_t>(luma.intra16x16_pred_mode);
    std::memset(record.intra4x4_pred_mode, core::kIntra4x4Dc, 16);
  }
  return record;
}

// What core/pcm_decision.h asks to decide between the macroblock as found and I_PCM.
struct PcmSearch {
  MacroblockContext& mb;
  const core::MacroblockRecord& record;
  const LumaCandidate& luma;
  const ChromaCandidate& chroma;

  int rd_lambda() const { return mb.rd_lambda; }
  int qp() const { return record.qp; }
  int last_clipping_qp() const { return mb.weighted ? core::kLastWeightedClippingQp : core::kLastClippingQp; }
  bool leaves_range() const { return mb.weighted && residual_leaves_range(mb, record, luma, chroma); }
  bool by_rd() const { return mb.search.rd_candidates > 0; }
  std::int64_t cost() const { return luma.cost + chroma.cost; }
  const std::int16_t* levels(int slot) const {
    return slot < core::kSlotChromaDc ? luma.levels[slot] : chroma.levels[slot - core::kSlotChromaDc];
  }
  int total_coeff(int slot) const {
    return slot < core::kSlotChromaDc ? luma.total_coeff[slot]
                                      : chroma.total_coeff[slot - core::kSlotChromaDc];
  }

  bool any_is_clipped() const {
    const auto clipped = [this](int slot, int count) {
      return std::any_of(levels(slot), levels(slot) + count,
                         [](int level) { return core::is_clipped(level); });
    };
    if (core::has_large_transform(record) || mb.weighted) {
      for (int block = 0; block < 16; ++block) {
        if (clipped(core::kSlotLuma + block, 16)) return true;
      }
    }
    if (mb.weighted) {
      for (int block = 0; block < 8; ++block) {
        if (clipped(core::kSlotChromaAc + block, 15)) return true;
      }
    }
    return (record.kind == core::MacroblockKind::intra16x16 && clipped(core::kSlotLumaDc, 16)) ||
           clipped(core::kSlotChromaDc, 4) || clipped(core::kSlotChromaDc + 1, 4);
  }
  int count_levels() const {
    int count = 0;
    for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) count += total_coeff(slot);
    return count;
  }
  int sum_of_magnitudes() const {
    int sum = 0;
    for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
      if (total_coeff(slot) == 0) continue;
      const int count = core::max_num_coeff(core::slot_category(record.kind, slot));
      for (int k = 0; k < count; ++k) sum += core::absolute<int>(levels(slot)[k]);
    }
    return sum;
  }
  int macroblock_bits() const {
    for (int block = 0; block < 16; ++block) {
      mb.luma_counts.at(core::luma_block_x(block), core::luma_block_y(block)) =
          static_cast<std::int8_t>(total_coeff(core::kSlotLuma + block));
    }
    for (int i = 0; i < 8; ++i) {
      mb.chroma_counts[i >> 2].at(i & 1, (i >> 1) & 1) =
          static_cast<std::int8_t>(total_coeff(core::kSlotChromaAc + i));
    }
    const core::CavlcRate rate{mb.rate.transform_8x8_mode};
    const bool known = std::is_same_v<SearchRate, core::CavlcRate> || core::is_inter(record.kind);
    const int mode_bits = known ? luma.mode_bits : core::most_mode_bits(record.kind);
    int bits = rate.macroblock_header_bits(record, mode_bits);
    for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
      bits += core::slot_bits(rate, record, slot, levels(slot), mb.luma_counts, mb.chroma_counts);
    }
    return bits;
  }
};

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
  if (record.kind != core::MacroblockKind::intra16x16) std::memset(levels, 0, sizeof luma.levels[0]);
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

// Finds how to code the macroblock as an I macroblock.
static inline void search_macroblock(MacroblockContext& mb, const CpuPicture& picture, int mb_x, int mb_y,
                                     LumaCandidate& luma, ChromaCandidate& chroma) {
  load_source(mb, picture, mb_x, mb_y);
  load_neighbours(mb, picture, mb_x, mb_y);
  load_counts(mb, picture, mb_x, mb_y);
  search_chroma(mb, chroma);
  search_luma(mb, chroma.coded_block_pattern, luma);
}

// Stores a macroblock as it was found, or as I_PCM.
static inline void settle_macroblock(MacroblockContext& mb, CpuPicture& picture, int mb_x, int mb_y, int qp,
                                     const LumaCandidate& luma, const ChromaCandidate& chroma) {
  const core::MacroblockRecord record = make_record(luma, chroma, mb.rate.transform_8x8_mode, qp);
  if (core::pcm_is_better(PcmSearch{mb, record, luma, chroma})) {
    store_pcm(picture, mb_x, mb_y, qp);
  } else {
    store_macroblock(picture, mb_x, mb_y, record, luma, chroma);
  }
}

static inline void reconstruct_macroblock(MacroblockContext& mb, CpuPicture& picture, int mb_x, int mb_y,
                                          int qp) {
  ChromaCandidate chroma;
  LumaCandidate luma;
  search_macroblock(mb, picture, mb_x, mb_y, luma, chroma);
  if (mb.marks != 0 && luma.kind == core::MacroblockKind::intra16x16) mark_intra16x16(mb, luma);
  settle_macroblock(mb, picture, mb_x, mb_y, qp, luma, chroma);
}

}  // namespace cu264::encoder::CU264_ISA
