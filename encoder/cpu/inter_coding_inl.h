// An inter macroblock whose vectors are known: prediction, transform, quantisation and reconstruction.
// Nothing depends on a neighbour, so macroblocks can be coded in any order.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/cost.h"
#include "core/decimation.h"
#include "core/p_syntax.h"
#include "core/partitions.h"
#include "encoder/cpu/block8x8_coding_inl.h"
#include "encoder/cpu/block_coding_inl.h"
#include "encoder/cpu/chroma_search_inl.h"
#include "encoder/cpu/coefficient_test_inl.h"
#include "encoder/cpu/gop_chain.h"
#include "encoder/cpu/inter_prediction_inl.h"
#include "encoder/cpu/intra4x4_search_inl.h"
#include "encoder/cpu/intra8x8_search_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"
#include "encoder/cpu/macroblock_inl.h"
#include "encoder/cpu/source_activity_inl.h"

namespace cu264::encoder::CU264_ISA {

struct InterPrediction {
  alignas(32) std::uint8_t luma[16][16];
  alignas(32) std::uint8_t chroma[8][16];  // Cb beside Cr
};

static inline void predict_inter(const GopChain& chain, int mb_x, int mb_y, const core::MotionRecord& motion,
                                 core::MacroblockKind kind, InterPrediction& out) {
  const int x = 16 * mb_x, y = 16 * mb_y;
  if (kind == core::MacroblockKind::p16x16) {
    predict_luma<16>(chain, x, y, motion.vector[0], &out.luma[0][0]);
    predict_chroma<8>(chain, x / 2, y / 2, motion.vector[0], &out.chroma[0][0]);
    return;
  }
  for (int block = 0; block < 4; ++block) {
    const int bx = 8 * (block & 1), by = 8 * (block >> 1);
    predict_luma<8>(chain, x + bx, y + by, motion.vector[block], &out.luma[by][bx]);
    predict_chroma<4>(chain, (x + bx) / 2, (y + by) / 2, motion.vector[block], &out.chroma[by / 2][bx / 2]);
  }
}

template <int kWidth, int kHeight>
static inline int squared_error(const std::uint8_t* a, const std::uint8_t* b) {
  int sum = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int difference = a[16 * y + x] - b[16 * y + x];
      sum += difference * difference;
    }
  }
  return sum;
}

// The counts of blocks in other macroblocks are not known when a macroblock is coded.
static inline void forget_neighbouring_counts(MacroblockContext& mb) {
  const auto unknown = static_cast<std::int8_t>(SearchRate::kFraction > 0 ? 0 : CoeffCounts<4>::kUnavailable);
  for (int i = 0; i < 4; ++i) mb.luma_counts.at(-1, i) = mb.luma_counts.at(i, -1) = unknown;
  for (CoeffCounts<2>& counts : mb.chroma_counts) {
    for (int i = 0; i < 2; ++i) counts.at(-1, i) = counts.at(i, -1) = unknown;
  }
}

// The levels of an 8x8 block, either of one transform or of four.
struct CodedInterBlock {
  alignas(32) std::int16_t levels[4][16];
  std::uint8_t total_coeff[4];
  int squared_error = 0;
  int bits = 0;   // where rate decides
  int score = 0;  // core::decimation_score, where it does not
};

static inline void count_coefficients(MacroblockContext& mb, int block, const CodedInterBlock& coded) {
  for (int i = 0; i < 4; ++i) {
    const int sub = 4 * block + i;
    mb.luma_counts.at(core::luma_block_x(sub), core::luma_block_y(sub)) =
        static_cast<std::int8_t>(coded.total_coeff[i]);
  }
}

static inline void code_with_small_transforms(MacroblockContext& mb, int block, const InterPrediction& from,
                                              std::uint8_t (&out)[16][16], CodedInterBlock& coded) {
  const bool by_rd = mb.search.rd_candidates > 0;
  coded.squared_error = coded.bits = coded.score = 0;
  for (int i = 0; i < 4; ++i) {
    const int sub = 4 * block + i, bx = core::luma_block_x(sub), by = core::luma_block_y(sub);
    const int x = 4 * bx, y = 4 * by, context = mb.luma_counts.context(mb.rate, bx, by);
    std::uint8_t prediction[16];
    for (int row = 0; row < 4; ++row) std::memcpy(prediction + 4 * row, &from.luma[y + row][x], 4);
    int total_coeff = 0;
    coded.squared_error += code_4x4_block(mb, x, y, prediction, mb.search.rdoq, context, coded.levels[i],
                                          total_coeff, &out[y][x], 16);
    coded.total_coeff[i] = static_cast<std::uint8_t>(total_coeff);
    mb.luma_counts.at(bx, by) = static_cast<std::int8_t>(total_coeff);
    if (by_rd) {
      coded.bits += mb.rate.block_bits(coded.levels[i], core::BlockCategory::luma_4x4, context);
    } else {
      coded.score += core::decimation_score(core::level_masks(coded.levels[i], 16), false);
    }
  }
}

static inline void code_with_large_transform(MacroblockContext& mb, int block, const InterPrediction& from,
                                             std::uint8_t (&out)[16][16], CodedInterBlock& coded) {
  const int bx = block & 1, by = block >> 1;
  std::uint8_t prediction[64];
  for (int row = 0; row < 8; ++row) std::memcpy(prediction + 8 * row, &from.luma[8 * by + row][8 * bx], 8);
  Coded8x8Block large;
  code_8x8_block(mb, bx, by, prediction, mb.search.rdoq, large);
  if (mb.search.rd_candidates > 0) {
    coded.bits = count_block8x8(mb, mb.rate, bx, by, large);
  } else {
    core::LevelMasks8x8 masks;
    for (int i = 0; i < 4; ++i) {
      const core::LevelMasks of_block = core::level_masks(large.levels[i], 16);
      masks.nonzero |= core::four_apart(of_block.nonzero) << i;
      masks.ones |= core::four_apart(of_block.ones) << i;
    }
    coded.score = core::decimation_score(masks, true);
  }
  coded.squared_error = large.squared_error;
  std::memcpy(coded.levels, large.levels, sizeof coded.levels);
  std::memcpy(coded.total_coeff, large.total_coeff, sizeof coded.total_coeff);
  for (int row = 0; row < 8; ++row) std::memcpy(&out[8 * by + row][8 * bx], large.samples + 8 * row, 8);
  count_coefficients(mb, block, coded);
}

// Copies the prediction of an 8x8 block, and drops its levels.
static inline void drop_block(MacroblockContext& mb, int block, const InterPrediction& from,
                              LumaCandidate& luma) {
  const int x = 8 * (block & 1), y = 8 * (block >> 1);
  for (int row = 0; row < 8; ++row) std::memcpy(&luma.reconstruction[y + row][x], &from.luma[y + row][x], 8);
  const int slot = core::kSlotLuma + 4 * block;
  std::memset(luma.levels[slot], 0, 4 * sizeof luma.levels[0]);
  std::memset(luma.total_coeff + slot, 0, 4);
  luma.nonzero_blocks &= ~(15u << slot);
  luma.coded_block_pattern &= ~(1 << block);
  for (int i = 0; i < 4; ++i) {
    mb.luma_counts.at(core::luma_block_x(4 * block + i), core::luma_block_y(4 * block + i)) = 0;
  }
}

// The 8x8 blocks in which 4x4 transforms leave a level, a bit each.
static inline int blocks_with_small_levels(const MacroblockContext& mb, const InterPrediction& from) {
  int blocks = 0;
  for (int half = 0; half < 2; ++half) {
    TwoRows rows[4];
    transform_eight_rows(mb.luma[8 * half], from.luma[8 * half], rows);
    const Reaches reaches = reach_limits(rows, mb.inter_limits->luma);
    blocks |= (reaches.left ? 1 : 0) << (2 * half) | (reaches.right ? 2 : 0) << (2 * half);
  }
  return blocks;
}

// Codes luma with one size of transform. `cost` is by rate and distortion without the header.
static inline void code_inter_luma(MacroblockContext& mb, bool large, const InterPrediction& from,
                                   LumaCandidate& luma) {
  const bool by_rd = mb.search.rd_candidates > 0;
  luma.inter_transform_8x8 = large;
  luma.nonzero_blocks = 0, luma.coded_block_pattern = 0, luma.cost = 0;
  std::memset(luma.total_coeff, 0, sizeof luma.total_coeff);
  std::memset(luma.levels[0], 0, sizeof luma.levels[0]);
  int score = 0;
  const int coded_blocks = !large && mb.inter_limits != nullptr ? blocks_with_small_levels(mb, from) : 15;
  for (int block = 0; block < 4; ++block) {
    if ((coded_blocks >> block & 1) == 0) {
      drop_block(mb, block, from, luma);
      continue;
    }
    const int x = 8 * (block & 1), y = 8 * (block >> 1), slot = core::kSlotLuma + 4 * block;
    CodedInterBlock coded;
    if (large) {
      code_with_large_transform(mb, block, from, luma.reconstruction, coded);
    } else {
      code_with_small_transforms(mb, block, from, luma.reconstruction, coded);
    }
    std::memcpy(luma.levels[slot], coded.levels, sizeof coded.levels);
    for (int i = 0; i < 4; ++i) {
      luma.total_coeff[slot + i] = coded.total_coeff[i];
      if (coded.total_coeff[i] == 0) continue;
      luma.nonzero_blocks |= 1u << (slot + i);
      luma.coded_block_pattern |= 1 << block;
    }
    const bool any = (luma.coded_block_pattern >> block & 1) != 0;
    if (!by_rd) {
      if (any && coded.score < core::kDroppedBlock) {
        drop_block(mb, block, from, luma);
      } else {
        score += coded.score;
      }
      continue;
    }
    const std::int64_t cost = core::rd_cost<SearchRate>(coded.squared_error, coded.bits, mb.rd_lambda);
    const std::int64_t dropped =
        core::rd_cost<SearchRate>(squared_error<8, 8>(&mb.luma[y][x], &from.luma[y][x]), 0, mb.rd_lambda);
    if (any && cost < dropped) {
      luma.cost += cost;
    } else {
      luma.cost += dropped;
      if (any) drop_block(mb, block, from, luma);
    }
  }
  if (by_rd || luma.coded_block_pattern == 0 || score >= core::kDroppedLuma) return;
  for (int block = 0; block < 4; ++block) drop_block(mb, block, from, luma);
}

// quantise_chroma, which has less to do where all AC levels are zero.
static inline ChromaTrial quantise_inter_chroma(MacroblockContext& mb, const InterPrediction& from,
                                                ChromaCandidate& chroma) {
  if (mb.inter_limits != nullptr) {
    TwoRows rows[4];
    transform_eight_rows(mb.chroma[0], from.chroma[0], rows);
    const Reaches reaches = reach_limits(rows, mb.inter_limits->chroma);
    if (!reaches.left && !reaches.right) {
      ChromaTrial trial{&mb, &from.chroma, &chroma};
      chroma.mode = core::kIntraChromaDc;
      std::memset(chroma.levels[2], 0, 8 * sizeof chroma.levels[0]);
      std::memset(chroma.total_coeff + 2, 0, 8);
      chroma.nonzero_blocks = 0;
      for (int c = 0; c < 2; ++c) {
        for (int block = 0; block < 4; ++block) {
          trial.dc[c][block] = rows[0][16 * (block >> 1) + 8 * c + 4 * (block & 1)];
          mb.chroma_counts[c].at(block & 1, block >> 1) = 0;
        }
        quantise_chroma_dc(mb, c, false, trial);
      }
      return trial;
    }
  }
  return quantise_chroma(mb, core::kIntraChromaDc, from.chroma, mb.search.rdoq, chroma);
}

static inline void code_inter_chroma(MacroblockContext& mb, const InterPrediction& from,
                                     ChromaCandidate& chroma) {
  ChromaTrial trial = quantise_inter_chroma(mb, from, chroma);
  int pattern = trial.highest_pattern();
  if (mb.search.rd_candidates == 0) {
    int score = 0;
    for (int i = 2; pattern == 2 && i < 10; ++i)
      score += core::decimation_score(core::level_masks(chroma.levels[i], 15), false);
    if (pattern == 2 && score < core::kDroppedChroma) {
      pattern = (chroma.nonzero_blocks & kChromaDcBlocks) != 0 ? 1 : 0;
    }
    settle_chroma(trial, pattern);
    return;
  }
  chroma.cost = core::kNothingToBeat;
  int best = 0;
  for (; pattern >= 0; --pattern) {
    const std::int64_t bits = (pattern > 0 ? trial.dc_bits : 0) + (pattern == 2 ? trial.ac_bits : 0) +
                              mb.rate.chroma_pattern_bits(pattern);
    const std::int64_t cost = core::chroma_rd_cost<SearchRate>(trial.squared_error(pattern), bits,
                                                               mb.rd_lambda, mb.chroma_error_weight);
    if (cost < chroma.cost) chroma.cost = cost, best = pattern;
  }
  settle_chroma(trial, best);
}

// Compares the SATD of the residual with 4x4 transforms and with 8x8.
static inline bool prefers_large_transform(const MacroblockContext& mb, const InterPrediction& from) {
  int small = 0, large = 0;
  for (int half = 0; half < 2; ++half) {
    Lanes rows[2][4];  // of the upper and of the lower 4x4 blocks
    for (int y = 0; y < 8; ++y) {
      Lanes predicted, &row = rows[y >> 2][y & 3];
      load_samples(mb.luma[8 * half + y], row);
      load_samples(from.luma[8 * half + y], predicted);
      row -= predicted;
    }
    const SatdOfSizes satd = satd_of_sizes(rows);
    small += satd.by4x4, large += satd.by8x8;
  }
  return large < small;
}

// The cost by rate and distortion of what no block codes, and of the header.
static inline std::int64_t header_cost(const MacroblockContext& mb, int whole_bits) {
  return core::bits_cost<SearchRate>(static_cast<std::int64_t>(whole_bits) << SearchRate::kFraction,
                                     mb.rd_lambda);
}

// Drops all levels if that is better: always where rate and distortion decide and nothing is left to code.
static inline void code_inter_by_rd(MacroblockContext& mb, InterChoice& choice, const InterPrediction& from,
                                    LumaCandidate& luma, ChromaCandidate& chroma) {
  if (mb.rate.transform_8x8_mode) {
    LumaCandidate large;
    large.kind = luma.kind;
    code_inter_luma(mb, true, from, large);
    code_inter_luma(mb, false, from, luma);
    if (large.cost < luma.cost) luma = large;
  } else {
    code_inter_luma(mb, false, from, luma);
  }
  code_inter_chroma(mb, from, chroma);
  const int pattern = luma.coded_block_pattern | chroma.coded_block_pattern << 4;
  const auto header_bits = [&](int coded_block_pattern) {
    return choice.bits +
           core::ue_length(static_cast<std::uint32_t>(core::inter_pattern_code_num(coded_block_pattern)));
  };
  choice.rd_cost = luma.cost + chroma.cost + header_cost(mb, header_bits(pattern) + (pattern != 0 ? 1 : 0));
  const std::int64_t error = squared_error<16, 16>(&mb.luma[0][0], &from.luma[0][0]);
  const std::int64_t chroma_error = squared_error<16, 8>(&mb.chroma[0][0], &from.chroma[0][0]);
  const std::int64_t dropped = (error << core::kRdCostShift) + chroma_error * mb.chroma_error_weight +
                               header_cost(mb, choice.skips ? 1 : header_bits(0));
  if (pattern != 0 && dropped > choice.rd_cost) return;
  choice.rd_cost = dropped;
  if (pattern == 0) return;
  for (int block = 0; block < 4; ++block) drop_block(mb, block, from, luma);
  std::memset(chroma.levels, 0, sizeof chroma.levels);
  std::memset(chroma.total_coeff, 0, sizeof chroma.total_coeff);
  chroma.nonzero_blocks = 0, chroma.coded_block_pattern = 0;
  std::memcpy(chroma.reconstruction, from.chroma, sizeof chroma.reconstruction);
}

static inline void code_inter(MacroblockContext& mb, const GopChain& chain, int mb_x, int mb_y,
                              InterChoice& choice, const core::MotionRecord& motion, LumaCandidate& luma,
                              ChromaCandidate& chroma) {
  InterPrediction from;
  predict_inter(chain, mb_x, mb_y, motion, choice.kind, from);
  forget_neighbouring_counts(mb);
  luma.kind = choice.kind;
  chroma.mode = core::kIntraChromaDc;
  if (mb.search.rd_candidates > 0) {
    code_inter_by_rd(mb, choice, from, luma, chroma);
  } else {
    code_inter_luma(mb, mb.rate.transform_8x8_mode && prefers_large_transform(mb, from), from, luma);
    code_inter_chroma(mb, from, chroma);
  }
  if (luma.coded_block_pattern == 0) luma.inter_transform_8x8 = false;  // as a decoder infers it
  luma.mode_bits = core::most_inter_header_bits(choice.bits);
}

}  // namespace cu264::encoder::CU264_ISA
