// Chroma of 4:2:0: four modes for both components together, DC blocks of 2x2 and AC blocks coded all or none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/bits.h"
#include "core/cost.h"
#include "core/intra_pred.h"
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
    if (ac) dequantise_block(result.levels[2 + i], 1, mb.chroma_quantiser, coefficients);
    coefficients[0] = block_dc;
    error += reconstruct_block(coefficients, &prediction[y][x], 16, out, 16, &mb.chroma[y][x], 16);
  }
  return error;
}

// Codes chroma with one mode. Sets everything in `result`; its cost only if the preset decides by it.
static inline void code_chroma(MacroblockContext& mb, int mode, const std::uint8_t (&prediction)[8][16],
                               bool rdoq, ChromaCandidate& result) {
  const core::Quantiser& q = mb.chroma_quantiser;
  const LevelChoice choice = {rdoq, kDeadZoneChroma};
  const bool by_rd = mb.search.rd_candidates > 0;
  const int dc_context = mb.rate.chroma_dc_context();
  std::int32_t dc[2][4];
  std::int64_t dc_bits = 0, ac_bits = 0;
  result.mode = mode;
  result.nonzero_blocks = 0;
  for (int c = 0; c < 2; ++c) {
    for (int block = 0; block < 4; ++block) {
      const int bx = block & 1, by = block >> 1, i = 2 + 4 * c + block,
                context = mb.chroma_counts[c].context(mb.rate, bx, by);
      std::int32_t coefficients[16];
      forward_block(&mb.chroma[4 * by][8 * c + 4 * bx], 16, &prediction[4 * by][8 * c + 4 * bx], 16,
                    coefficients);
      dc[c][block] = coefficients[0];
      const int total_coeff = quantise_block(mb.rate, coefficients, core::BlockCategory::chroma_ac, q, choice,
                                             context, result.levels[i]);
      mb.chroma_counts[c].at(bx, by) = static_cast<std::int8_t>(total_coeff);
      result.total_coeff[i] = static_cast<std::uint8_t>(total_coeff);
      result.nonzero_blocks |= static_cast<std::uint32_t>(total_coeff > 0) << (core::kSlotChromaDc + i);
      if (by_rd) ac_bits += mb.rate.block_bits(result.levels[i], core::BlockCategory::chroma_ac, context);
    }
    core::hadamard2x2(dc[c]);
    std::int32_t scaled[4];
    std::uint32_t negative = 0;
    for (int k = 0; k < 4; ++k) {
      scaled[k] = core::absolute(dc[c][k]) * q.multiplier[0];
      negative |= static_cast<std::uint32_t>(dc[c][k] < 0) << k;
    }
    const int total_coeff =
        choose_levels(mb.rate, scaled, negative, core::BlockCategory::chroma_dc,
                      q.shift + core::kChromaDcExtraShift, choice, dc_context, result.levels[c]);
    result.total_coeff[c] = static_cast<std::uint8_t>(total_coeff);
    result.nonzero_blocks |= static_cast<std::uint32_t>(total_coeff > 0) << (core::kSlotChromaDc + c);
    if (by_rd) dc_bits += mb.rate.block_bits(result.levels[c], core::BlockCategory::chroma_dc, dc_context);
    for (int k = 0; k < 4; ++k) dc[c][k] = result.levels[c][k];
    core::hadamard2x2(dc[c]);
    for (std::int32_t& value : dc[c]) value = core::dequantise_chroma_dc(value, q);
  }

  const std::uint32_t dc_blocks = 3u << core::kSlotChromaDc, ac_blocks = 0xffu << core::kSlotChromaAc;
  int pattern = result.nonzero_blocks & ac_blocks ? 2 : result.nonzero_blocks & dc_blocks ? 1 : 0;
  int error = reconstruct_chroma(mb, prediction, dc, pattern, result);
  if (by_rd) {
    const int mode_bits = mb.rate.chroma_mode_bits(mode);
    const auto cost_of = [&](int squared_error, int p) {
      const std::int64_t bits =
          mode_bits + mb.rate.chroma_pattern_bits(p) + (p > 0 ? dc_bits : 0) + (p == 2 ? ac_bits : 0);
      return core::rd_cost(squared_error, bits, mb.rd_lambda);
    };
    result.cost = cost_of(error, pattern);
    const int coded = pattern;
    int shown = pattern;
    for (int lower = coded - 1; lower >= 0; --lower) {
      error = reconstruct_chroma(mb, prediction, dc, lower, result);
      shown = lower;
      const std::int64_t cost = cost_of(error, lower);
      if (cost < result.cost) {
        result.cost = cost;
        pattern = lower;
      }
    }
    if (shown != pattern) reconstruct_chroma(mb, prediction, dc, pattern, result);
  }
  result.coded_block_pattern = pattern;
  if (pattern < 2) {
    std::memset(result.levels[2], 0, 8 * sizeof result.levels[0]);
    std::memset(result.total_coeff + 2, 0, 8);
    result.nonzero_blocks &= ~ac_blocks;
  }
  if (pattern < 1) {
    std::memset(result.levels, 0, 2 * sizeof result.levels[0]);
    std::memset(result.total_coeff, 0, 2);
    result.nonzero_blocks = 0;
  }
}

static inline void search_chroma(MacroblockContext& mb, ChromaCandidate& best) {
  std::uint8_t predictions[core::kIntraChromaModes][8][16];
  std::int64_t ranks[core::kIntraChromaModes];
  int candidates = 0;
  for (int mode = 0; mode < core::kIntraChromaModes; ++mode) {
    if (!core::intra_chroma_mode_available(mode, mb.left, mb.above)) continue;
    predict_chroma(mb, mode, predictions[mode]);
    const int bits = mb.rate.chroma_mode_bits(mode);
    ranks[candidates++] = core::ranked(satd_chroma(mb, predictions[mode]) + mb.satd_lambda * bits, mode);
  }
  core::sort_ranks(ranks, candidates);
  const int tried = core::count_worth(ranks, std::clamp(mb.search.rd_candidates, 1, candidates), kWorthMode);
  std::int64_t best_rank = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < tried; ++i) {
    const int mode = core::mode_of_rank(ranks[i]);
    ChromaCandidate trial;
    code_chroma(mb, mode, predictions[mode], false, tried == 1 ? best : trial);
    if (tried == 1) break;
    const std::int64_t rank = core::ranked(trial.cost, mode);
    if (rank >= best_rank) continue;
    best_rank = rank;
    best = trial;
  }
  if (mb.search.rdoq) {
    const int mode = best.mode;  // best_rank is not kept where only one mode was tried
    code_chroma(mb, mode, predictions[mode], true, best);
  }
}

}  // namespace cu264::encoder::CU264_ISA
