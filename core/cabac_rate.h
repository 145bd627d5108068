// CABAC's rate model, with the interface of core/rate_model.h: bits in units of 1 / (1 << kFraction),
// estimated from typical states by QP (core/cabac_costs.h). Some contexts depend on what the search of a
// macroblock does not know, above all the types of its neighbours; their elements cost what they cost on
// average.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/block.h"
#include "core/cabac_block.h"
#include "core/cabac_costs.h"
#include "core/hd.h"
#include "core/level_masks.h"
#include "core/rate_model.h"

namespace cu264::core {

// Returns the cost of the levels of a block that has at least one. position: the index of the block's first
// level in CabacCosts. level_at(k), the level of position k, is called only where the magnitude is greater
// than one.
template <class Word, class LevelAt>
CU264_HD int cabac_levels_cost(const CabacCosts& costs, int position, const LevelCosts& level_costs,
                               BasicLevelMasks<Word> masks, const LevelAt& level_at) {
  int bits = cabac_last_cost(costs, position + highest_bit(masks.nonzero));
  for (Word rest = masks.nonzero; rest != 0;) {
    const int k = highest_bit(rest);
    rest ^= Word{1} << k;
    bits += cabac_position_cost(costs, position + k);
  }
  // The levels of magnitude one that are coded before the first greater one, and the others.
  Word greater = masks.nonzero & ~masks.ones;
  const Word in_front =
      greater == 0 ? masks.ones : masks.ones & ~((Word{2} << highest_bit(greater)) - Word{1});
  const int ones = count_ones(in_front);
  bits += (count_ones(masks.ones) - ones) * level_costs.one[0];
  for (int i = 0; i < ones && i < 3; ++i) bits += level_costs.one[1 + i];
  if (ones > 3) bits += (ones - 3) * level_costs.one[4];
  for (int before = 0; greater != 0; ++before) {
    const int k = highest_bit(greater);
    greater ^= Word{1} << k;
    const int level = level_at(k);
    bits += cabac_level_cost(level_cost(level_costs, ones, before), level < 0 ? -level : level);
  }
  return bits;
}

// Stores for each level of a block how the block's bits change when the level is lowered by one. empty: the
// cost of the block without levels, in excess of what cabac_levels_cost counts. The other arguments are as
// there.
template <class Word, class LevelAt>
CU264_HD void cabac_steps(const CabacCosts& costs, int position, int category, int empty,
                          BasicLevelMasks<Word> masks, const LevelAt& level_at, int* step_bits) {
  int ones = count_ones(masks.ones), greater = count_ones(masks.nonzero & ~masks.ones);
  StepChanges below;
  int highest_below = -1;
  for (Word rest = masks.nonzero; rest != 0;) {
    const int k = lowest_bit(rest);
    rest &= rest - 1;
    const int level = level_at(k), magnitude = level < 0 ? -level : level;
    --(magnitude == 1 ? ones : greater);  // those above are left
    const StepChanges step = step_changes(costs.steps[category].at, magnitude, ones, greater);
    int new_last = 0, last = 0;
    if (rest == 0) {
      new_last = highest_below >= 0 ? cabac_last_cost(costs, position + highest_below) : empty;
      last = cabac_last_cost(costs, position + k);
    }
    step_bits[k] =
        cabac_step_bits(step, magnitude, below,
                        cabac_zero_cost(cabac_position_cost(costs, position + k), rest == 0, new_last, last));
    below.fewer_ones += step.fewer_ones;
    below.fewer_greater += step.fewer_greater;
    highest_below = k;
  }
}

struct CabacRate {
  static constexpr int kFraction = kCabacFraction;
  static constexpr int kSatdWeight = 26;  // found by measurement
  static constexpr bool kWhole8x8 = true;
  static constexpr bool kHasSteps = true;
  static constexpr int kCostliestChromaPattern = kCabacCostliestChromaPattern;
  bool transform_8x8_mode = false;
  const CabacCosts* costs = nullptr;

  // ---- residual blocks; the context is ctxIdxInc of coded_block_flag

  CU264_HD_MEMBER int block_context(int nA, int nB) const { return (nA != 0 ? 1 : 0) + (nB != 0 ? 2 : 0); }
  CU264_HD_MEMBER int chroma_dc_context() const { return 0; }

  CU264_HD_MEMBER int block_bits(const std::int16_t* levels, BlockCategory category, int context) const {
    return block_bits(levels, level_masks(levels, max_num_coeff(category)), category, context);
  }
  CU264_HD_MEMBER int block_bits(const std::int16_t* levels, LevelMasks masks, BlockCategory category,
                                 int context) const {
    const int cat = static_cast<int>(category);
    const int flag = costs->coded_block_flag[cat][context][masks.nonzero != 0 ? 1 : 0];
    if (masks.nonzero == 0) return flag;
    return flag + cabac_levels_cost(*costs, 16 * cat, costs->level[cat], masks,
                                    [levels](int k) { return static_cast<int>(levels[k]); });
  }
  // Computes what lowering each level by one changes; see cabac_steps.
  CU264_HD_MEMBER void block_steps(const std::int16_t* levels, LevelMasks masks, BlockCategory category,
                                   int context, int* step_bits) const {
    const int cat = static_cast<int>(category);
    const auto& flag = costs->coded_block_flag[cat][context];
    cabac_steps(
        *costs, 16 * cat, cat, flag[0] - flag[1], masks,
        [levels](int k) { return static_cast<int>(levels[k]); }, step_bits);
  }
  template <class LevelAt>
  CU264_HD_MEMBER void block8x8_steps(LevelMasks8x8 masks, const LevelAt& level_at, int* step_bits) const {
    cabac_steps(*costs, kCostPositions8x8, kCost8x8, 0, masks, level_at, step_bits);
  }
  // An 8x8 block. level_at(k): see cabac_levels_cost.
  template <class LevelAt>
  CU264_HD_MEMBER int block8x8_bits(LevelMasks8x8 masks, const LevelAt& level_at) const {
    if (masks.nonzero == 0) return 0;
    return cabac_levels_cost(*costs, kCostPositions8x8, costs->level[kCost8x8], masks, level_at);
  }

  // ---- prediction modes

  CU264_HD_MEMBER int intra4x4_mode_bits(int mode, int predicted) const {
    return costs->intra_mode[mode == predicted ? 1 : 0];
  }
  CU264_HD_MEMBER int chroma_mode_bits(int mode) const { return costs->chroma_mode[mode]; }

  // ---- headers: mb_type, coded_block_pattern and mb_qp_delta

  CU264_HD_MEMBER int i_nxn_header_bits(MacroblockKind kind, int luma_pattern, int chroma_pattern) const {
    const int set = count_ones(static_cast<std::uint32_t>(luma_pattern));
    int bits = costs->i_nxn[(luma_pattern | chroma_pattern) != 0 ? 1 : 0] + set * costs->luma_pattern[1] +
               (4 - set) * costs->luma_pattern[0] + costs->chroma_pattern[chroma_pattern];
    if (transform_8x8_mode) bits += costs->transform_size[kind == MacroblockKind::intra8x8 ? 1 : 0];
    return bits;
  }
  CU264_HD_MEMBER int intra16x16_header_bits(int mode, int luma_pattern, int chroma_pattern) const {
    return costs->intra16x16_mode[mode] + costs->intra16x16_ac[luma_pattern != 0 ? 1 : 0] +
           costs->intra16x16_chroma[chroma_pattern];
  }
  CU264_HD_MEMBER int chroma_pattern_bits(int pattern) const { return costs->chroma_pattern[pattern]; }
};

}  // namespace cu264::core
