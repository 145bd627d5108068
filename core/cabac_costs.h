// The costs of CABAC's syntax elements in typical streams, by QP. CabacRate (core/cabac_rate.h) adds them up.
// A bin costs what it takes in the typical state of its context (core/cabac_typical_states.h). So a block's
// bits depend only on its levels, and blocks can be counted in any order.
#pragma once

#include <cstdint>

#include "core/cabac_block.h"
#include "core/cabac_contexts.h"
#include "core/cabac_levels.h"
#include "core/cabac_typical_states.h"
#include "core/hd.h"
#include "core/mb_qp_delta.h"
#include "core/rate_model.h"

namespace cu264::core {

// Blocks of levels by ctxBlockCat; the 8x8 block comes last.
inline constexpr int kCostCategories = 6;
inline constexpr int kCost8x8 = 5;
inline constexpr int kCostPositions8x8 = 16 * kCost8x8;  // where the positions of the 8x8 block begin
inline constexpr int kCostPositions = kCostPositions8x8 + 64;

// What a position of a block costs in significant_coeff_flag and last_significant_coeff_flag.
struct PositionCost {
  std::uint32_t packed = 0;

  static constexpr PositionCost of(int zero, int level, int last) {
    return {static_cast<std::uint32_t>(zero | level << 8 | last << 17)};
  }
  CU264_HD_MEMBER int zero() const { return static_cast<int>(packed & 255); }
  CU264_HD_MEMBER int level() const { return static_cast<int>(packed >> 8) & 511; }  // not the last one
  CU264_HD_MEMBER int last() const { return static_cast<int>(packed >> 17); }        // the last level
};

// Stands for the CodedBlockPatternChroma that costs Intra_16x16 most.
inline constexpr int kCabacCostliestChromaPattern = 3;

struct CabacCosts {
  PositionCost position[kCostPositions];  // from 16 * category on
  std::uint16_t zeros[kCostPositions];    // all positions before this one, if they are zeros
  LevelCosts level[kCostCategories];
  StepCostTable steps[kCostCategories];
  std::uint16_t coded_block_flag[5][4][2];  // by category, ctxIdxInc and value
  std::uint16_t intra_mode[2];              // another mode than the predicted one, and that
  std::uint16_t chroma_mode[4];
  std::uint16_t i_nxn[2];  // mb_type, without and with mb_qp_delta after it
  std::uint16_t transform_size[2];
  std::uint16_t luma_pattern[2];  // a bit of CodedBlockPatternLuma
  std::uint16_t chroma_pattern[3];
  std::uint16_t intra16x16_mode[4];  // mb_type's share by mode, mb_qp_delta included
  std::uint16_t intra16x16_ac[2];
  std::uint16_t intra16x16_chroma[4];
};

// Returns how much more a level at the position costs than a zero there, if a later position holds the last
// level.
CU264_HD int cabac_position_cost(const CabacCosts& costs, int position) {
  const PositionCost cost = costs.position[position];
  return cost.level() - cost.zero();
}
// Returns how the cost of a block's positions changes when the level at one of them becomes zero. If no level
// lies above it, `new_last` and `last` are cabac_last_cost of the next lower level and of this one.
CU264_HD int cabac_zero_cost(int position_cost, bool is_last, int new_last, int last) {
  return (is_last ? new_last - last : 0) - position_cost;
}

// Returns how much more the positions of a block cost than the sum of cabac_position_cost over its levels,
// the last one at `position` included.
CU264_HD int cabac_last_cost(const CabacCosts& costs, int position) {
  return costs.zeros[position] + costs.position[position].last() - cabac_position_cost(costs, position);
}

// Returns what a bin costs in a state, numbered as in kTypicalStates.
constexpr int state_cost(int state, int bin) {
  // -log2 of the probabilities of the less and of the more probable symbol, 0.5 * (0.01875 / 0.5)^(i / 63)
  // and what is left of 1, in units.
  constexpr std::uint8_t less[64] = {32,  34,  37,  39,  42,  44,  46,  49,  51,  54,  56,  58,  61,
                                     63,  66,  68,  70,  73,  75,  78,  80,  83,  85,  87,  90,  92,
                                     95,  97,  99,  102, 104, 107, 109, 111, 114, 116, 119, 121, 123,
                                     126, 128, 131, 133, 135, 138, 140, 143, 145, 147, 150, 152, 155,
                                     157, 160, 162, 164, 167, 169, 172, 174, 176, 179, 181, 184};
  constexpr std::uint8_t more[64] = {32, 30, 28, 26, 24, 22, 21, 20, 18, 17, 16, 15, 14, 14, 13, 12,
                                     11, 11, 10, 9,  9,  8,  8,  8,  7,  7,  6,  6,  6,  5,  5,  5,
                                     5,  4,  4,  4,  4,  3,  3,  3,  3,  3,  3,  3,  2,  2,  2,  2,
                                     2,  2,  2,  2,  2,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1};
  const bool one = state >= 64;
  const int index = one ? state - 64 : 63 - state;
  return one == (bin != 0) ? more[index] : less[index];
}

// The costs of bins at one QP.
struct BinCosts {
  int qp = 0;

  constexpr int state(int context) const {
    const auto& states = kTypicalStates[context];
    if (qp <= kTypicalQps[0]) return states[0];
    for (int i = 1; i < 5; ++i) {
      if (qp > kTypicalQps[i]) continue;
      const int step = kTypicalQps[i] - kTypicalQps[i - 1], above = qp - kTypicalQps[i - 1];
      return (states[i - 1] * (step - above) + states[i] * above + step / 2) / step;
    }
    return states[4];
  }
  constexpr std::uint16_t operator()(int context, int bin) const {
    return static_cast<std::uint16_t>(state_cost(state(context), bin));
  }
};

constexpr LevelCosts make_level_costs(const BinCosts& cost, int first_context, int greater_limit) {
  LevelCosts level{};
  for (int i = 0; i < 5; ++i) {
    const int next = first_context + 5 + (i < greater_limit ? i : greater_limit);
    level.one[i] = static_cast<std::uint16_t>(cost(first_context + i, 0) + kCabacBit);
    level.first[i] = static_cast<std::uint16_t>(cost(first_context + i, 1) + kCabacBit);
    level.more[i] = cost(next, 1);
    level.end[i] = cost(next, 0);
  }
  return level;
}

constexpr void set_header_costs(const BinCosts& cost, CabacCosts& costs) {
  const int same_qp = cost(kCtxMbQpDelta, 0);
  // A block that keeps the predicted mode makes later blocks cheaper. The share of the cost that remains was
  // measured.
  costs.intra_mode[1] = static_cast<std::uint16_t>(cost(kCtxPrevIntraMode, 1) * 5 / 8);
  costs.intra_mode[0] = static_cast<std::uint16_t>(
      cost(kCtxPrevIntraMode, 0) + 3 * (cost(kCtxRemIntraMode, 0) + cost(kCtxRemIntraMode, 1)) / 2);
  for (int mode = 0; mode < 4; ++mode) {
    const int first = cost(kCtxIntraChromaMode, mode > 0), rest = kCtxIntraChromaMode + 3;
    costs.chroma_mode[mode] = static_cast<std::uint16_t>(first + (mode > 0 ? cost(rest, mode > 1) : 0) +
                                                         (mode > 1 ? cost(rest, mode > 2) : 0));
    costs.intra16x16_mode[mode] = static_cast<std::uint16_t>(
        cost(kCtxMbType, 1) + cost(kCtxMbType + 6, mode >> 1) + cost(kCtxMbType + 7, mode & 1) + same_qp);
  }
  for (int value = 0; value < 2; ++value) {
    costs.i_nxn[value] = static_cast<std::uint16_t>(cost(kCtxMbType, 0) + (value != 0 ? same_qp : 0));
    costs.transform_size[value] = cost(kCtxTransformSize, value);
    costs.luma_pattern[value] = cost(kCtxPatternLuma, value);
    costs.intra16x16_ac[value] = cost(kCtxMbType + 3, value);
  }
  for (int pattern = 0; pattern < 3; ++pattern) {
    const bool any = pattern > 0;
    costs.chroma_pattern[pattern] = static_cast<std::uint16_t>(
        cost(kCtxPatternChroma, any) + (any ? cost(kCtxPatternChroma + 4, pattern > 1) : 0));
    costs.intra16x16_chroma[pattern] =
        static_cast<std::uint16_t>(cost(kCtxMbType + 4, any) + (any ? cost(kCtxMbType + 5, pattern > 1) : 0));
    std::uint16_t& longest = costs.intra16x16_chroma[kCabacCostliestChromaPattern];
    if (longest < costs.intra16x16_chroma[pattern]) longest = costs.intra16x16_chroma[pattern];
  }
}

constexpr CabacCosts make_cabac_costs(int qp) {
  const BinCosts cost{qp};
  CabacCosts costs{};
  const auto set_positions = [&](int first, int count, auto significant, auto last) {
    int zeros = 0;
    for (int k = 0; k < count; ++k) {
      costs.zeros[first + k] = static_cast<std::uint16_t>(zeros);
      if (k == count - 1) break;  // the last position has no flags
      const int zero = cost(significant(k), 0), level = cost(significant(k), 1);
      costs.position[first + k] = PositionCost::of(zero, level + cost(last(k), 0), level + cost(last(k), 1));
      zeros += zero;
    }
  };
  for (int cat = 0; cat < 5; ++cat) {
    const auto category = static_cast<BlockCategory>(cat);
    const bool chroma_dc = category == BlockCategory::chroma_dc;
    const CabacBlockContexts contexts = block_contexts(category);
    set_positions(
        16 * cat, max_num_coeff(category), [&](int k) { return contexts.significant + k; },
        [&](int k) { return contexts.last + k; });
    costs.level[cat] = make_level_costs(cost, contexts.abs_level, chroma_dc ? 3 : 4);
    for (int inc = 0; inc < 4; ++inc) {
      for (int flag = 0; flag < 2; ++flag)
        costs.coded_block_flag[cat][inc][flag] = cost(kCtxCodedBlockFlag + 4 * cat + inc, flag);
    }
  }
  constexpr SignificantInc8x8 significant8x8;
  set_positions(
      kCostPositions8x8, 64, [&](int k) { return kCtxSignificant8x8 + significant8x8.at[k]; },
      [](int k) { return kCtxLast8x8 + last_inc_8x8(k); });
  costs.level[kCost8x8] = make_level_costs(cost, kCtxAbsLevel8x8, 4);
  for (int cat = 0; cat < kCostCategories; ++cat) costs.steps[cat] = make_step_costs(costs.level[cat]);
  set_header_costs(cost, costs);
  return costs;
}

struct CabacCostTable {
  CabacCosts at[kQps];
};

constexpr CabacCostTable make_cabac_cost_table() {
  CabacCostTable table{};
  for (int qp = 0; qp < kQps; ++qp) table.at[qp] = make_cabac_costs(qp);
  return table;
}

}  // namespace cu264::core
