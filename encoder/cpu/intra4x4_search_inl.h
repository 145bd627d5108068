// Intra_4x4: sixteen blocks in coding order, each with the best of nine modes, closed loop.
#pragma once

#include <algorithm>
#include <cstdint>

#if defined(__SSSE3__)
#include <tmmintrin.h>
#endif

#include "core/candidates.h"
#include "core/cost.h"
#include "core/intra_pred.h"
#include "core/luma_decision.h"
#include "core/mb_syntax.h"
#include "encoder/cpu/block_coding_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"
#include "encoder/cpu/macroblock_inl.h"
#include "protect/watermark.h"

namespace cu264::encoder::CU264_ISA {

// The macroblock's reconstruction so far inside a border of its neighbours.
struct Intra4x4Canvas {
  static constexpr int kPitch = 32;
  static constexpr int kOrigin = kPitch + 4;
  alignas(32) std::uint8_t samples[17 * kPitch];
  std::uint8_t* at(int x, int y) { return samples + kOrigin + y * kPitch + x; }
};

static inline void load_canvas(const MacroblockContext& mb, Intra4x4Canvas& canvas) {
  std::memcpy(canvas.at(-1, -1), mb.luma_above, sizeof mb.luma_above);
  std::memcpy(canvas.at(16, -1), mb.luma_above_right, sizeof mb.luma_above_right);
  for (int y = 0; y < 16; ++y) *canvas.at(-1, y) = mb.luma_left[1 + y];
}

// The nine predictions, lane = mode (lanes 9..15 repeat DC): [sample][mode].
struct Intra4x4Predictions {
  alignas(32) std::uint8_t sample[16][16];
};

struct Intra4x4Sources {
  std::uint8_t index[16][16] = {};
};

static constexpr Intra4x4Sources make_intra4x4_sources() {
  Intra4x4Sources sources;
  for (int i = 0; i < 16; ++i) {
    for (int mode = 0; mode < 16; ++mode) {
      sources.index[i][mode] = static_cast<std::uint8_t>(core::intra4x4_source(mode, i & 3, i >> 2));
    }
  }
  return sources;
}

#if defined(__SSSE3__)
// The same for shuffles of the values' three groups of sixteen. The DC value takes the place of the second
// group's last, which no mode uses.
struct Intra4x4Shuffles {
  alignas(16) std::uint8_t of_group[3][16][16] = {};
};

static constexpr Intra4x4Shuffles make_intra4x4_shuffles() {
  constexpr Intra4x4Sources kSources = make_intra4x4_sources();
  constexpr std::uint8_t kNone = 0x80;
  Intra4x4Shuffles shuffles;
  for (int i = 0; i < 16; ++i) {
    for (int mode = 0; mode < 16; ++mode) {
      const int from = kSources.index[i][mode], index = from == core::kIntra4x4DcValue ? 31 : from;
      for (int group = 0; group < 3; ++group) {
        shuffles.of_group[group][i][mode] =
            index >> 4 == group ? static_cast<std::uint8_t>(index & 15) : kNone;
      }
    }
  }
  return shuffles;
}
#endif

static inline void predict_all_modes(Intra4x4Canvas& canvas, int x, int y, core::Intra4x4Neighbours available,
                                     bool above_right, Intra4x4Predictions& out) {
  std::uint8_t line[core::kIntra4x4LineLength + 1];
  std::memcpy(line + core::kIntra4x4LineCorner, canvas.at(x - 1, y - 1), 9);
  if (!above_right) std::memset(line + 10, line[9], 4);
  line[14] = line[15] = line[13];
  for (int i = 0; i < 4; ++i) line[4 - i] = *canvas.at(x - 1, y + i);
  line[0] = line[1];
  std::uint8_t values[core::kIntra4x4Values];
  core::intra4x4_values(line, available, 8, values);
#if defined(__SSSE3__)
  static constexpr Intra4x4Shuffles kShuffles = make_intra4x4_shuffles();
  values[31] = values[core::kIntra4x4DcValue];
  const auto load = [](const std::uint8_t* bytes) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  };
  const __m128i groups[3] = {load(values), load(values + 16), load(values + 32)};
  for (int i = 0; i < 16; ++i) {
    const auto from = [&](int group) {
      return _mm_shuffle_epi8(groups[group], load(kShuffles.of_group[group][i]));
    };
    _mm_store_si128(reinterpret_cast<__m128i*>(out.sample[i]),
                    _mm_or_si128(_mm_or_si128(from(0), from(1)), from(2)));
  }
#else
  static constexpr Intra4x4Sources kSources = make_intra4x4_sources();
  for (int i = 0; i < 16; ++i) {
    for (int mode = 0; mode < 16; ++mode) out.sample[i][mode] = values[kSources.index[i][mode]];
  }
#endif
}

// SATD of all modes at once.
static inline void satd_all_modes(const std::uint8_t (&source)[16], const Intra4x4Predictions& predictions,
                                  Lanes& satd) {
  Lanes difference[16];
  for (int i = 0; i < 16; ++i) {
    Lanes prediction;
    load_samples(predictions.sample[i], prediction);
    difference[i] = static_cast<std::int16_t>(source[i]) - prediction;
  }
  satd = core::satd4x4(difference);
}

// Transforms and reconstructs block `block` as predicted; returns its squared error.
__attribute__((always_inline)) static inline int code_4x4_block(const MacroblockContext& mb, int x, int y,
                                                                const std::uint8_t (&prediction)[16],
                                                                bool by_rdoq, int context,
                                                                std::int16_t* levels, int& total_coeff,
                                                                std::uint8_t* out, int pitch) {
  std::int32_t coefficients[16];
  const std::uint8_t* source = &mb.luma[y][x];
  forward_block(source, 16, prediction, 4, coefficients);
  total_coeff = quantise_block(mb.rate, coefficients, core::BlockCategory::luma_4x4, mb.luma_quantiser,
                               by_rdoq, context, levels);
  if (total_coeff == 0) return copy_block(prediction, 4, out, pitch, source, 16);
  dequantise_block(levels, 0, mb.luma_quantiser, coefficients);
  return reconstruct_block(coefficients, prediction, 4, out, pitch, source, 16);
}

// Puts the watermark's mark into a coded block. Decisions do not take marks into account.
static inline void mark_intra4x4_block(const MacroblockContext& mb, int block,
                                       const std::uint8_t (&prediction)[16], std::int16_t* levels,
                                       int& total_coeff, std::uint8_t* out, int pitch) {
  if (!protect::mark_levels(levels, 16, mb.mark_parity, protect::marked_bit(mb.marks, block))) return;
  std::int32_t coefficients[16];
  dequantise_block(levels, 0, mb.luma_quantiser, coefficients);
  const std::uint8_t* const source = &mb.luma[4 * core::luma_block_y(block)][4 * core::luma_block_x(block)];
  reconstruct_block(coefficients, prediction, 4, out, pitch, source, 16);
  total_coeff = core::count_ones(core::level_masks(levels, 16).nonzero);
}

// Modes are compared with levels of the dead zone. Where the preset has RDOQ, the best two are quantised by
// it and compared once more (core::BestTwo). Fills `candidate` except for its cost, unless the search is
// abandoned for Intra_16x16, whose cost by SATD is intra16x16_cost.
static inline core::IntraNxNResult search_intra4x4(MacroblockContext& mb, const core::IntraNxNStop& stop,
                                                   std::uint32_t intra16x16_cost, LumaCandidate& candidate) {
  const bool by_rd = mb.search.rd_candidates > 0;
  Intra4x4Canvas canvas;
  load_canvas(mb, canvas);
  core::MacroblockRecord record;
  core::IntraNxNResult result;
  candidate.kind = core::MacroblockKind::intra4x4;
  candidate.nonzero_blocks = 0;
  candidate.total_coeff[0] = 0;

  for (int block = 0; block < 16; ++block) {
    const int bx = core::luma_block_x(block), by = core::luma_block_y(block), x = 4 * bx, y = 4 * by;
    const core::Intra4x4Neighbours available = {bx > 0 || mb.left, by > 0 || mb.above,
                                                (bx > 0 || mb.left) && (by > 0 || mb.above)};
    const bool reads_far = mb.rate.transform_8x8_mode;  // the macroblock above and to the right
    const bool above_right =
        core::intra4x4_above_right_available(block, mb.above, reads_far && mb.above_right);
    const bool avoid = !reads_far && core::intra4x4_avoids_above_right(block, mb.above_right);
    Intra4x4Predictions predictions;
    predict_all_modes(canvas, x, y, available, above_right, predictions);

    std::uint8_t source[16];
    for (int i = 0; i < 16; ++i) source[i] = mb.luma[y + (i >> 2)][x + (i & 3)];
    Lanes satd;
    satd_all_modes(source, predictions, satd);

    const int predicted = core::predicted_intra4x4_mode(record, mb.left_mb, mb.above_mb, block);
    core::SatdRank ranks[core::kIntra4x4Modes];
    for (int mode = 0; mode < core::kIntra4x4Modes; ++mode) {
      const bool allowed = core::intra4x4_mode_available(mode, available) &&
                           !(avoid && core::intra4x4_reads_above_right(mode));
      const int bits = mb.rate.intra4x4_mode_bits(mode, predicted);
      ranks[mode] = allowed ? core::satd_rank<SearchRate>(static_cast<std::uint16_t>(satd[mode]),
                                                          mb.satd_lambda, bits, mode)
                            : core::kNoRank;
    }
    core::SatdRank best_rank;
    if (by_rd) {
      core::sort_ranks(ranks, core::kIntra4x4Modes);
      best_rank = ranks[0];
    } else {
      best_rank = *std::min_element(ranks, ranks + core::kIntra4x4Modes);
    }
    result.satd_cost += core::cost_of_rank(best_rank);
    if (stop(result.satd_cost, intra16x16_cost)) return result;
    if ((block & 3) == 3 && block < 15 && result.satd_cost >= stop.quarter_limit[block >> 2]) return result;

    const int context = mb.luma_counts.context(mb.rate, bx, by);
    std::uint8_t prediction[16];
    const auto take_prediction = [&](int mode) {
      for (int i = 0; i < 16; ++i) prediction[i] = predictions.sample[i][mode];
    };
    std::int16_t* const levels = candidate.levels[core::kSlotLuma + block];
    int total_coeff = 0, chosen = core::mode_of_rank(best_rank);
    if (!by_rd) {
      take_prediction(chosen);
      code_4x4_block(mb, x, y, prediction, false, context, levels, total_coeff, canvas.at(x, y),
                     Intra4x4Canvas::kPitch);
    } else {
      const auto cost_of = [&](int error, int mode, const std::int16_t* block_levels) {
        const int block_bits = mb.rate.block_bits(block_levels, core::BlockCategory::luma_4x4, context);
        return core::intra_nxn_block_cost<SearchRate>(error, mb.rate.intra4x4_mode_bits(mode, predicted),
                                                      block_bits, mb.rd_lambda);
      };
      const int tried = core::count_worth(ranks, mb.search.rd_candidates, mb.search.worth_intra4x4);
      core::BestTwo best;
      std::int16_t trial_levels[16];
      std::uint8_t trial[16], kept[16];
      for (int i = 0; i < tried; ++i) {
        const int mode = core::mode_of_rank(ranks[i]);
        int trial_coeff;
        take_prediction(mode);
        const int error =
            code_4x4_block(mb, x, y, prediction, false, context, trial_levels, trial_coeff, trial, 4);
        // Some candidates lose by their error alone, without their bits being counted.
        const std::uint32_t most = mb.search.rdoq ? best.most() : best.cost[0];
        if (core::intra_nxn_block_cost<SearchRate>(error, 0, 0, mb.rd_lambda) > most) continue;
        if (!best.take(cost_of(error, mode, trial_levels), mode)) continue;
        total_coeff = trial_coeff;
        std::memcpy(levels, trial_levels, sizeof trial_levels);
        std::memcpy(kept, trial, sizeof kept);
      }
      chosen = best.mode[0];
      std::uint32_t cost = best.cost[0];
      if (mb.search.rdoq) {
        take_prediction(chosen);
        const int error = code_4x4_block(mb, x, y, prediction, true, context, levels, total_coeff, kept, 4);
        cost = cost_of(error, chosen, levels);
      }
      if (mb.search.rdoq && best.are_close()) {
        const int mode = best.mode[1];
        int trial_coeff;
        take_prediction(mode);
        const int error =
            code_4x4_block(mb, x, y, prediction, true, context, trial_levels, trial_coeff, trial, 4);
        const std::uint32_t trial_cost = cost_of(error, mode, trial_levels);
        if (core::precedes(trial_cost, mode, cost, chosen)) {
          cost = trial_cost, chosen = mode;
          total_coeff = trial_coeff;
          std::memcpy(levels, trial_levels, sizeof trial_levels);
          std::memcpy(kept, trial, sizeof kept);
        }
      }
      result.cost += cost;
      if (result.cost >= stop.cost_limit) return result;
      for (int i = 0; i < 4; ++i) std::memcpy(canvas.at(x, y + i), kept + 4 * i, 4);
    }

    if (protect::is_marked(mb.marks, block)) {
      take_prediction(chosen);
      mark_intra4x4_block(mb, block, prediction, levels, total_coeff, canvas.at(x, y),
                          Intra4x4Canvas::kPitch);
    }

    record.intra4x4_pred_mode[block] = static_cast<std::uint8_t>(chosen);
    mb.luma_counts.at(bx, by) = static_cast<std::int8_t>(total_coeff);
    candidate.total_coeff[core::kSlotLuma + block] = static_cast<std::uint8_t>(total_coeff);
    result.mode_bits += mb.rate.intra4x4_mode_bits(chosen, predicted);
    if (total_coeff > 0) {
      candidate.nonzero_blocks |= 1u << (core::kSlotLuma + block);
      result.pattern |= 1 << (block >> 2);
    }
  }
  result.kept = true;
  candidate.coded_block_pattern = result.pattern;
  candidate.mode_bits = result.mode_bits;
  std::memcpy(candidate.intra4x4_pred_mode, record.intra4x4_pred_mode, 16);
  for (int y = 0; y < 16; ++y) std::memcpy(candidate.reconstruction[y], canvas.at(0, y), 16);
  return result;
}

}  // namespace cu264::encoder::CU264_ISA
