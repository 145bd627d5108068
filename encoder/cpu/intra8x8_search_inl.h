// Intra_8x8: four blocks in coding order, each with the best of nine modes, closed loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/candidates.h"
#include "core/cost.h"
#include "core/intra8x8_pred.h"
#include "core/luma_decision.h"
#include "core/mb_syntax.h"
#include "encoder/cpu/block8x8_coding_inl.h"
#include "encoder/cpu/block_coding_inl.h"
#include "encoder/cpu/intra4x4_search_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"
#include "encoder/cpu/macroblock_inl.h"
#include "protect/watermark.h"

namespace cu264::encoder::CU264_ISA {

// The nine predictions of a block, in raster order.
struct Intra8x8Predictions {
  alignas(16) std::uint8_t sample[core::kIntra8x8Modes][64];
};

// Most modes predict a row from eight consecutive values of an array, and the next row from those one or two
// places further on. Vertical_Right has one such array for even rows and one for odd rows.
struct Intra8x8Strips {
  static constexpr int kVerticalRightFirst = 3, kHorizontalDownFirst = 14;
  std::uint8_t vertical_right[2][11] = {};  // by y & 1, x - (y >> 1) + kVerticalRightFirst
  std::uint8_t horizontal_down[22] = {};    // by x - 2 * y + kHorizontalDownFirst
  std::uint8_t horizontal_up[22] = {};      // by x + 2 * y
};

// The indices of a strip's values.
static constexpr Intra8x8Strips make_intra8x8_strips() {
  Intra8x8Strips strips;
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      const auto source = [x, y](int mode) {
        return static_cast<std::uint8_t>(core::intra8x8_source(mode, x, y));
      };
      strips.vertical_right[y & 1][x - (y >> 1) + Intra8x8Strips::kVerticalRightFirst] =
          source(core::kIntra4x4VerticalRight);
      strips.horizontal_down[x - 2 * y + Intra8x8Strips::kHorizontalDownFirst] =
          source(core::kIntra4x4HorizontalDown);
      strips.horizontal_up[x + 2 * y] = source(core::kIntra4x4HorizontalUp);
    }
  }
  return strips;
}

template <int kCount>
static inline void gather(const std::uint8_t (&index)[kCount], const std::uint8_t* values,
                          std::uint8_t (&out)[kCount]) {
  for (int i = 0; i < kCount; ++i) out[i] = values[index[i]];
}

static inline void predict_all_modes8x8(Intra4x4Canvas& canvas, int x, int y,
                                        core::Intra4x4Neighbours available, bool above_right,
                                        Intra8x8Predictions& out) {
  static constexpr Intra8x8Strips kStrips = make_intra8x8_strips();
  std::uint8_t line[core::kIntra8x8LineSize] = {};
  std::memcpy(line + core::kIntra8x8LineCorner, canvas.at(x - 1, y - 1), 17);
  for (int i = 0; i < 8; ++i) line[core::kIntra8x8LineLeft - i] = *canvas.at(x - 1, y + i);
  core::intra8x8_complete_line(line, available, above_right);
  std::uint8_t values[core::kIntra8x8Values];
  core::intra8x8_values(line, available, 8, values);
  Intra8x8Strips strips;
  for (int odd = 0; odd < 2; ++odd) {
    gather(kStrips.vertical_right[odd], values, strips.vertical_right[odd]);
  }
  gather(kStrips.horizontal_down, values, strips.horizontal_down);
  gather(kStrips.horizontal_up, values, strips.horizontal_up);
  for (int row = 0; row < 8; ++row) {
    const auto put = [&](int mode, const std::uint8_t* from) {
      std::memcpy(out.sample[mode] + 8 * row, from, 8);
    };
    const auto first = [row](int mode) { return core::intra8x8_source(mode, 0, row); };
    put(core::kIntra4x4Vertical, values + core::kIntra8x8LineTop);
    std::memset(out.sample[core::kIntra4x4Horizontal] + 8 * row, values[core::kIntra8x8LineLeft - row], 8);
    std::memset(out.sample[core::kIntra4x4Dc] + 8 * row, values[core::kIntra8x8DcValue], 8);
    put(core::kIntra4x4DiagonalDownLeft, values + first(core::kIntra4x4DiagonalDownLeft));
    put(core::kIntra4x4DiagonalDownRight, values + first(core::kIntra4x4DiagonalDownRight));
    put(core::kIntra4x4VerticalRight,
        strips.vertical_right[row & 1] + Intra8x8Strips::kVerticalRightFirst - (row >> 1));
    put(core::kIntra4x4HorizontalDown,
        strips.horizontal_down + Intra8x8Strips::kHorizontalDownFirst - 2 * row);
    put(core::kIntra4x4VerticalLeft, values + first(core::kIntra4x4VerticalLeft));
    put(core::kIntra4x4HorizontalUp, strips.horizontal_up + 2 * row);
  }
}

// core::satd8x8 of two predictions at once, which lie side by side in the lanes.
static inline void satd_of_two8x8(const Lanes (&source)[8], const std::uint8_t* first,
                                  const std::uint8_t* second, int (&satd)[2]) {
  constexpr Lanes kSwapNeighbours = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14};
  constexpr Lanes kSwapPairs = {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13};
  constexpr Lanes kSwapQuads = {4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11};
  constexpr Lanes kNegateOdd = {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1};
  constexpr Lanes kNegateOddPairs = {1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1};
  constexpr Lanes kNegateOddQuads = {1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1};
  Lanes row[8];
  for (int y = 0; y < 8; ++y) {
    std::uint8_t both[16];
    std::memcpy(both, first + 8 * y, 8);
    std::memcpy(both + 8, second + 8 * y, 8);
    Lanes predicted;
    load_samples(both, predicted);
    row[y] = source[y] - predicted;
  }
  core::hadamard8_1d(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]);
  UnsignedLanes
      total{};  // 46 160 at most: the sum of eight coefficients' magnitudes is below sqrt(8) * 16 320
  for (Lanes& r : row) {
    Lanes partner = r;
    permute(kSwapNeighbours, partner);
    r = partner + r * kNegateOdd;
    partner = r;
    permute(kSwapPairs, partner);
    r = partner + r * kNegateOddPairs;
    partner = r;
    permute(kSwapQuads, partner);
    r = partner + r * kNegateOddQuads;
    total += reinterpret_cast<UnsignedLanes>(core::absolute(r));
  }
  const WideLanes wide = __builtin_convertvector(total, WideLanes);
  for (int half = 0; half < 2; ++half) {
    std::uint32_t sum = 1;
    for (int i = 0; i < 8; ++i) sum += wide[8 * half + i];
    satd[half] = static_cast<int>(sum >> 1);
  }
}

// Ranks all modes by SATD and mode bits.
static inline void rank_modes8x8(const MacroblockContext& mb, int x, int y,
                                 const Intra8x8Predictions& predictions, core::Intra4x4Neighbours available,
                                 int predicted, core::SatdRank (&ranks)[core::kIntra8x8Modes]) {
  int mode_at[core::kIntra8x8Modes + 1], count = 0;
  for (int mode = 0; mode < core::kIntra8x8Modes; ++mode) {
    ranks[mode] = core::kNoRank;
    if (core::intra4x4_mode_available(mode, available)) mode_at[count++] = mode;
  }
  mode_at[count] = mode_at[count - 1];
  Lanes source[8];
  for (int row = 0; row < 8; ++row) {
    std::uint8_t twice[16];
    std::memcpy(twice, &mb.luma[y + row][x], 8);
    std::memcpy(twice + 8, &mb.luma[y + row][x], 8);
    load_samples(twice, source[row]);
  }
  for (int i = 0; i < count; i += 2) {
    int satd[2];
    satd_of_two8x8(source, predictions.sample[mode_at[i]], predictions.sample[mode_at[i + 1]], satd);
    for (int half = 0; half < 2; ++half) {
      const int mode = mode_at[i + half], bits = mb.rate.intra4x4_mode_bits(mode, predicted);
      ranks[mode] = core::satd_rank<SearchRate>(satd[half], mb.satd_lambda, bits, mode);
    }
  }
}

// An 8x8 block as coded with one mode.
struct Coded8x8Block {
  alignas(32) InterleavedLevels levels;
  std::uint8_t total_coeff[4];
  std::uint8_t samples[64];
  int squared_error = 0;
  int bits = 0;  // of the levels, where rate decides
};

// Counts block (bx, by), in units of 8x8, in the macroblock's counts, and in its context the bits of the
// levels.
template <class Rate>
static inline int count_block8x8(MacroblockContext& mb, const Rate& rate, int bx, int by,
                                 const Coded8x8Block& block) {
  if constexpr (Rate::kWhole8x8) return bits_of_whole(rate, block.levels);
  int bits = 0;
  for (int i = 0; i < 4; ++i) {
    const int x = 2 * bx + (i & 1), y = 2 * by + (i >> 1);
    const int context = mb.luma_counts.context(rate, x, y);
    bits += rate.block_bits(block.levels[i], core::BlockCategory::luma_4x4, context);
    mb.luma_counts.at(x, y) = static_cast<std::int8_t>(block.total_coeff[i]);
  }
  return bits;
}

// Quantises a block by RDOQ. Leaves its levels transposed as well; returns whether there is one.
template <class Rate>
static inline bool quantise8x8_by_rdoq(MacroblockContext& mb, const Rate& rate, int bx, int by,
                                       const std::int16_t (&coefficients)[64], Coded8x8Block& out,
                                       std::int16_t (&levels)[64]) {
  if constexpr (Rate::kWhole8x8) {
    return quantise8x8_whole(rate, coefficients, mb.luma_quantiser8x8, out.levels, out.total_coeff, levels);
  } else {
    const auto context = [&](int i) {
      return mb.luma_counts.context(rate, 2 * bx + (i & 1), 2 * by + (i >> 1));
    };
    const auto counted = [&](int i, int count) {
      mb.luma_counts.at(2 * bx + (i & 1), 2 * by + (i >> 1)) = static_cast<std::int8_t>(count);
      out.total_coeff[i] = static_cast<std::uint8_t>(count);
    };
    return quantise8x8_by_rdoq(rate, coefficients, mb.luma_quantiser8x8, context, counted, out.levels,
                               levels);
  }
}

// Transforms and reconstructs a block as predicted.
static inline void code_8x8_block(MacroblockContext& mb, int bx, int by, const std::uint8_t (&prediction)[64],
                                  bool by_rdoq, Coded8x8Block& out) {
  const std::uint8_t* const source = &mb.luma[8 * by][8 * bx];
  alignas(32) std::int16_t coefficients[64], levels[64];
  forward_block8x8(source, 16, prediction, 8, coefficients);
  bool any = false;
  if (by_rdoq) {
    any = quantise8x8_by_rdoq(mb, mb.rate, bx, by, coefficients, out, levels);
  } else {
    any = (mb.inter_limits == nullptr || any_reaches(coefficients, mb.inter_limits->luma8x8)) &&
          quantise8x8_by_dead_zone(coefficients, mb.luma_quantiser8x8, levels);
    if (any) {
      to_interleaved(levels, out.levels);
      for (int i = 0; i < 4; ++i) {
        out.total_coeff[i] =
            static_cast<std::uint8_t>(core::count_ones(core::level_masks(out.levels[i], 16).nonzero));
      }
    } else {
      std::memset(out.levels, 0, sizeof out.levels);
      std::memset(out.total_coeff, 0, sizeof out.total_coeff);
    }
  }
  out.squared_error =
      any ? reconstruct_block8x8(levels, mb.luma_quantiser8x8, prediction, 8, out.samples, 8, source, 16)
          : copy_block<8>(prediction, 8, out.samples, 8, source, 16);
}

// Puts the watermark's marks into the interleaved blocks of a coded block. Decisions do not take marks into
// account.
static inline void mark_intra8x8_block(const MacroblockContext& mb, int block8x8,
                                       const std::uint8_t (&prediction)[64], Coded8x8Block& coded) {
  bool changed = false;
  for (int i = 0; i < 4; ++i) {
    const int block = 4 * block8x8 + i;
    if (!protect::is_marked(mb.marks, block) ||
        !protect::mark_levels(coded.levels[i], 16, mb.mark_parity, protect::marked_bit(mb.marks, block))) {
      continue;
    }
    changed = true;
    coded.total_coeff[i] =
        static_cast<std::uint8_t>(core::count_ones(core::level_masks(coded.levels[i], 16).nonzero));
  }
  if (!changed) return;
  std::int16_t levels[64];
  from_interleaved(coded.levels, levels);
  reconstruct_block8x8(levels, mb.luma_quantiser8x8, prediction, 8, coded.samples, 8,
                       &mb.luma[8 * (block8x8 >> 1)][8 * (block8x8 & 1)], 16);
}

// Does for Intra_8x8 what search_intra4x4 does.
static inline core::IntraNxNResult search_intra8x8(MacroblockContext& mb, const core::IntraNxNStop& stop,
                                                   std::uint32_t intra16x16_cost, LumaCandidate& candidate) {
  const bool by_rd = mb.search.rd_candidates > 0;
  Intra4x4Canvas canvas;
  load_canvas(mb, canvas);
  core::MacroblockRecord record;
  core::IntraNxNResult result;
  candidate.kind = core::MacroblockKind::intra8x8;
  candidate.nonzero_blocks = 0;
  candidate.total_coeff[0] = 0;

  for (int block = 0; block < 4; ++block) {
    const int bx = block & 1, by = block >> 1, x = 8 * bx, y = 8 * by;
    const core::Intra4x4Neighbours available = {bx > 0 || mb.left, by > 0 || mb.above,
                                                (bx > 0 || mb.left) && (by > 0 || mb.above)};
    Intra8x8Predictions predictions;
    predict_all_modes8x8(canvas, x, y, available,
                         core::intra8x8_above_right_available(block, mb.above, mb.above_right), predictions);
    const int predicted = core::predicted_intra4x4_mode(record, mb.left_mb, mb.above_mb, 4 * block);
    core::SatdRank ranks[core::kIntra8x8Modes];
    rank_modes8x8(mb, x, y, predictions, available, predicted, ranks);
    core::SatdRank best_rank;
    if (by_rd) {
      core::sort_ranks(ranks, core::kIntra8x8Modes);
      best_rank = ranks[0];
    } else {
      best_rank = *std::min_element(ranks, ranks + core::kIntra8x8Modes);
    }
    result.satd_cost += core::cost_of_rank(best_rank);
    if (stop(result.satd_cost, intra16x16_cost)) return result;
    if (block < 3) result.satd_after[block] = result.satd_cost;

    Coded8x8Block trials[2];
    Coded8x8Block *best = &trials[0], *other = &trials[1];
    int chosen = core::mode_of_rank(best_rank);
    if (!by_rd) {
      code_8x8_block(mb, bx, by, predictions.sample[chosen], false, *best);
    } else {
      const auto cost_of = [&](int mode, const Coded8x8Block& coded) {
        return core::intra_nxn_block_cost<SearchRate>(
            coded.squared_error, mb.rate.intra4x4_mode_bits(mode, predicted),
            count_block8x8(mb, mb.rate, bx, by, coded), mb.rd_lambda);
      };
      const int tried = core::count_worth(ranks, mb.search.rd_candidates, mb.search.worth_intra8x8);
      core::BestTwo two;
      for (int i = 0; i < tried; ++i) {
        const int mode = core::mode_of_rank(ranks[i]);
        code_8x8_block(mb, bx, by, predictions.sample[mode], false, *other);
        // Some candidates lose by their error alone, without their bits being counted.
        const std::uint32_t most = mb.search.rdoq ? two.most() : two.cost[0];
        if (core::intra_nxn_block_cost<SearchRate>(other->squared_error, 0, 0, mb.rd_lambda) > most) continue;
        if (two.take(cost_of(mode, *other), mode)) std::swap(best, other);
      }
      chosen = two.mode[0];
      std::uint32_t cost = two.cost[0];
      if (mb.search.rdoq) {
        code_8x8_block(mb, bx, by, predictions.sample[chosen], true, *best);
        cost = cost_of(chosen, *best);
      }
      if (mb.search.rdoq && two.are_close()) {
        const int mode = two.mode[1];
        code_8x8_block(mb, bx, by, predictions.sample[mode], true, *other);
        const std::uint32_t other_cost = cost_of(mode, *other);
        if (core::precedes(other_cost, mode, cost, chosen)) {
          cost = other_cost, chosen = mode;
          std::swap(best, other);
        }
      }
      result.cost += cost;
    }
    if (mb.marks != 0) mark_intra8x8_block(mb, block, predictions.sample[chosen], *best);

    for (int i = 0; i < 8; ++i) std::memcpy(canvas.at(x, y + i), best->samples + 8 * i, 8);
    std::memcpy(candidate.levels[core::kSlotLuma + 4 * block], best->levels, sizeof best->levels);
    for (int i = 0; i < 4; ++i) {
      const int total_coeff = best->total_coeff[i];
      record.intra4x4_pred_mode[4 * block + i] = static_cast<std::uint8_t>(chosen);
      mb.luma_counts.at(2 * bx + (i & 1), 2 * by + (i >> 1)) = static_cast<std::int8_t>(total_coeff);
      candidate.total_coeff[core::kSlotLuma + 4 * block + i] = static_cast<std::uint8_t>(total_coeff);
      if (total_coeff == 0) continue;
      candidate.nonzero_blocks |= 1u << (core::kSlotLuma + 4 * block + i);
      result.pattern |= 1 << block;
    }
    result.mode_bits += mb.rate.intra4x4_mode_bits(chosen, predicted);
  }
  result.kept = true;
  candidate.coded_block_pattern = result.pattern;
  candidate.mode_bits = result.mode_bits;
  std::memcpy(candidate.intra4x4_pred_mode, record.intra4x4_pred_mode, 16);
  for (int y = 0; y < 16; ++y) std::memcpy(candidate.reconstruction[y], canvas.at(0, y), 16);
  return result;
}

}  // namespace cu264::encoder::CU264_ISA
