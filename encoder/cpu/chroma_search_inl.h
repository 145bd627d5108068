// Chroma of 4:2:0: four modes for both components together, DC blocks of 2x2 and AC blocks coded all or none.
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

namespace cu264::encoder::CU264_ISA {

static inline void predict_chroma(const MacroblockContext& mb, int mode, std::uint8_t (&out)[8][16]) {
  for (int c = 0; c < 2; ++c) {
    const std::uint8_t *above = mb.chroma_above[c] + 1, *left = mb.chroma_left[c] + 1;
    switch (mode) {
      case core::kIntraChromaVertical:
        for (int y = 0; y < 8; ++y) std::memcpy(out[y] + 8 * c, above, 8);
        break;
      case core::kIntraChromaHorizontal:
        for (int y = 0; y < 8; ++y) std::memset(out[y] + 8 * c, left[y], 8);
        break;
      case core::kIntraChromaDc:
        for (int block = 0; block < 4; ++block) {
          const int bx = block & 1, by = block >> 1;
          int sum_above = 0, sum_left = 0;
          for (int i = 0; i < 4; ++i) sum_above += above[4 * bx + i], sum_left += left[4 * by + i];
          const int dc = core::intra_chroma_dc(bx, by, mb.left, sum_left, mb.above, sum_above, 8);
          for (int y = 0; y < 4; ++y) std::memset(out[4 * by + y] + 8 * c + 4 * bx, dc, 4);
        }
        break;
      default: {
        const core::PlanePrediction plane = core::intra_chroma_plane(above, left);
        for (int y = 0; y < 8; ++y) {
          for (int x = 0; x < 8; ++x) {
            out[y][8 * c + x] = static_cast<std::uint8_t>(core::plane_sample(plane, x, y, 3, 8));
          }
        }
      }
    }
  }
}

static inline int satd_chroma(const MacroblockContext& mb, const std::uint8_t (&prediction)[8][16]) {
  UnsignedLanes total{};
  for (int y = 0; y < 8; y += 4) {
    Lanes row[4];
    for (int i = 0; i < 4; ++i) {
      Lanes predicted;
      load_samples(mb.chroma[y + i], row[i]);
      load_samples(prediction[y + i], predicted);
      row[i] -= predicted;
    }
    accumulate_satd(row, total);
  }
  return sum(total);
}

inline constexpr std::uint32_t kChromaDcBlocks = 3u << core::kSlotChromaDc;
inline constexpr std::uint32_t kChromaAcBlocks = 0xffu << core::kSlotChromaAc;

// Reconstructs with the parts that CodedBlockPatternChroma `pattern` keeps; returns the squared error.
static inline int reconstruct_chroma(const MacroblockContext& mb, const std::uint8_t (&prediction)[8][16],
                                     const std::int32_t (&dc)[2][4], int pattern, ChromaCandidate& result) {
  int error = 0;
  for (int i = 0; i < 8; ++i) {
    const int c = i >> 2, block = i & 3, x = 8 * c + 4 * (block & 1), y = 4 * (block >> 1);
    const bool ac = pattern == 2 && result.total_coeff[2 + i] > 0;
    const std::int32_t block_dc = pattern > 0 ? dc[c][block] : 0;
    std::uint8_t* const out = &result.reconstruction[y][x];
    if (!ac && block_dc == 0) {
      error += copy_block(&prediction[y][x], 16, out, 16, &mb.chroma[y][x], 16);
      continue;
    }
    std::int32_t coefficients[16] = {};
    if (ac) dequantise_block(result.levels[2 + i], 1, mb.chroma_quantisers[c], coefficients);
    coefficients[0] = block_dc;
    error += reconstruct_block(coefficients, &prediction[y][x], 16, out, 16, &mb.chroma[y][x], 16);
  }
  return error;
}

// A trial of one mode: its levels, which are in `candidate`, and their bits.
struct ChromaTrial {
  const MacroblockContext* mb;
  const std::uint8_t (*prediction)[8][16];
  ChromaCandidate* candidate;
  int shown = -1;              // the pattern that candidate->reconstruction is of
  std::int32_t dc[2][4] = {};  // coefficients to reconstruct with
  std::int64_t dc_bits = 0;    // where rate decides
  std::int64_t ac_bits = 0;

  int highest_pattern() const {
    const std::uint32_t blocks = candidate->nonzero_blocks;
    const bool ac =
        mb->search.rd_candidates > 0
            ? (blocks & kChromaAcBlocks) != 0
            : ac_is_worth_coding(candidate->levels + 2, candidate->total_coeff + 2, 8, core::kTooFewChromaAc);
    return core::chroma_pattern((blocks & kChromaDcBlocks) != 0, ac);
  }
  int squared_error(int pattern) {
    shown = pattern;
    return reconstruct_chroma(*mb, *prediction, dc, pattern, *candidate);
  }
  std::int64_t bits(int pattern) const {
    return core::chroma_bits(mb->rate, candidate->mode, pattern, dc_bits, ac_bits);
  }
};

// Quantises the DC coefficients of a component, which are in trial.dc, and leaves there what they become.
static inline void quantise_chroma_dc(const MacroblockContext& mb, int c, bool rdoq, ChromaTrial& trial) {
  const PlaneQuantiser& q = mb.chroma_quantisers[c];
  const int dc_context = mb.rate.chroma_dc_context();
  ChromaCandidate& result = *trial.candidate;
  std::int32_t(&dc)[4] = trial.dc[c];
  core::hadamard2x2(dc);
  const int total_coeff = quantise_dc(mb.rate, dc, core::BlockCategory::chroma_dc, q,
                                      core::kChromaDcExtraShift, rdoq, dc_context, result.levels[c]);
  result.total_coeff[c] = static_cast<std::uint8_t>(total_coeff);
  result.nonzero_blocks |= static_cast<std::uint32_t>(total_coeff > 0) << (core::kSlotChromaDc + c);
  if (mb.search.rd_candidates > 0) {
    trial.dc_bits += mb.rate.block_bits(result.levels[c], core::BlockCategory::chroma_dc, dc_context);
  }
  for (int k = 0; k < 4; ++k) dc[k] = result.levels[c][k];
  core::hadamard2x2(dc);
  for (std::int32_t& value : dc) value = core::dequantise_chroma_dc(value, q);
}

// Transforms and quantises chroma with one mode.
static inline ChromaTrial quantise_chroma(MacroblockContext& mb, int mode,
                                          const std::uint8_t (&prediction)[8][16], bool rdoq,
                                          ChromaCandidate& result) {
  const bool by_rd = mb.search.rd_candidates > 0;
  ChromaTrial trial{&mb, &prediction, &result};
  result.mode = mode;
  result.nonzero_blocks = 0;
  for (int c = 0; c < 2; ++c) {
    const PlaneQuantiser& q = mb.chroma_quantisers[c];
    std::int32_t(&dc)[4] = trial.dc[c];
    for (int block = 0; block < 4; ++block) {
      const int bx = block & 1, by = block >> 1, i = 2 + 4 * c + block;
      const int context = mb.chroma_counts[c].context(mb.rate, bx, by);
      std::int32_t coefficients[16];
      forward_block(&mb.chroma[4 * by][8 * c + 4 * bx], 16, &prediction[4 * by][8 * c + 4 * bx], 16,
                    coefficients);
      dc[block] = coefficients[0];
      const int total_coeff = quantise_block(mb.rate, coefficients, core::BlockCategory::chroma_ac, q, rdoq,
                                             context, result.levels[i]);
      mb.chroma_counts[c].at(bx, by) = static_cast<std::int8_t>(total_coeff);
      result.total_coeff[i] = static_cast<std::uint8_t>(total_coeff);
      result.nonzero_blocks |= static_cast<std::uint32_t>(total_coeff > 0) << (core::kSlotChromaDc + i);
      if (by_rd) {
        trial.ac_bits += mb.rate.block_bits(result.levels[i], core::BlockCategory::chroma_ac, context);
      }
    }
    quantise_chroma_dc(mb, c, rdoq, trial);
  }
  return trial;
}

// Removes from the trial's candidate what `pattern` does not code, and reconstructs it.
static inline void settle_chroma(ChromaTrial& trial, int pattern) {
  ChromaCandidate& result = *trial.candidate;
  if (trial.shown != pattern) trial.squared_error(pattern);
  result.coded_block_pattern = pattern;
  if (pattern < 2) {
    std::memset(result.levels[2], 0, 8 * sizeof result.levels[0]);
    std::memset(result.total_coeff + 2, 0, 8);
    result.nonzero_blocks &= ~kChromaAcBlocks;
  }
  if (pattern < 1) {
    std::memset(result.levels, 0, 2 * sizeof result.levels[0]);
    std::memset(result.total_coeff, 0, 2);
    result.nonzero_blocks = 0;
  }
}

// The trials of core::choose_mode. A trial that is kept swaps places with the best so far.
struct ChromaTrials {
  MacroblockContext& mb;
  const std::uint8_t (&predictions)[core::kIntraChromaModes][8][16];
  ChromaCandidate* best;
  ChromaCandidate* other;

  bool rdoq() const { return mb.search.rdoq; }
  std::int64_t cost(int squared_error, std::int64_t bits) const {
    return core::chroma_rd_cost<SearchRate>(squared_error, bits, mb.rd_lambda, mb.chroma_error_weight);
  }
  ChromaTrial code(int mode, bool by_rdoq) {
    return quantise_chroma(mb, mode, predictions[mode], by_rdoq, *other);
  }
  void keep(ChromaTrial& trial, int pattern) {
    settle_chroma(trial, pattern);
    std::swap(best, other);
  }
};

static inline void search_chroma(MacroblockContext& mb, ChromaCandidate& best) {
  std::uint8_t predictions[core::kIntraChromaModes][8][16];
  core::SatdRank ranks[core::kIntraChromaModes];
  for (int mode = 0; mode < core::kIntraChromaModes; ++mode) {
    ranks[mode] = core::kNoRank;
    if (!core::intra_chroma_mode_available(mode, mb.left, mb.above)) continue;
    predict_chroma(mb, mode, predictions[mode]);
    ranks[mode] = core::satd_rank<SearchRate>(satd_chroma(mb, predictions[mode]), mb.chroma_satd_lambda,
                                              mb.rate.chroma_mode_bits(mode), mode);
  }
  core::sort_ranks(ranks);
  if (mb.search.rd_candidates == 0) {
    const int mode = core::mode_of_rank(ranks[0]);
    ChromaTrial trial = quantise_chroma(mb, mode, predictions[mode], false, best);
    settle_chroma(trial, trial.highest_pattern());
    return;
  }
  ChromaCandidate spare;
  ChromaTrials trials{mb, predictions, &best, &spare};
  const core::ModeChoice choice =
      core::choose_mode(trials, ranks, mb.search.rd_candidates, core::kNothingToBeat);
  if (trials.best != &best) best = spare;
  best.cost = choice.cost;
}

}  // namespace cu264::encoder::CU264_ISA
