// Rate-distortion-optimised quantisation of one block: it lowers levels that cost more than they are worth.
//
// Everything is in level units (core/quant.h), where the trade between squared error and bits does not depend
// on the QP. The search is a steepest descent that starts from rounding to nearest and takes bits from a rate
// model (core/rate_model.h). Each round lowers the level whose next step towards zero saves most; at the end
// the whole tail above some position may go. All steps of a round are independent, so a GPU gives each a
// lane.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/hd.h"
#include "core/level_masks.h"
#include "core/quant.h"
#include "core/rate_model.h"

namespace cu264::core {

// Lambda per bit in squared level units with 16 fractional bits: a twentieth more than mode decisions use,
// which is rd_lambda of core/cost.h over step^2. The value was measured.
inline constexpr std::int64_t kRdoqLambda = 5150;

inline constexpr int kRdoqRounds = 12;

// Scaled coefficients are compared with 8 fractional bits.
CU264_HD std::int32_t rdoq_value(std::int32_t scaled, int shift) {
  return scaled >> (shift - 8);
}

// How much the squared error grows when a level of this magnitude (1 or more) drops by one: (e + 1)^2 - e^2,
// where e is the rounding error.
CU264_HD std::int64_t rdoq_growth_of_step(std::int32_t value, int magnitude) {
  return 512 * (value - 256 * static_cast<std::int64_t>(magnitude)) + 65536;
}

// How much more it grows with the next step of the same level.
inline constexpr int kRdoqGrowthOfGrowth = 2 * 65536;

// The same when the level drops to zero: value^2 - (value - level)^2.
CU264_HD std::int64_t rdoq_growth_of_zero(std::int32_t value, int magnitude) {
  const std::int64_t level = 256 * static_cast<std::int64_t>(magnitude);
  return level * (2 * static_cast<std::int64_t>(value) - level);
}

// Returns what a cut saves: the cost of its bits less the growth of the squared error, which is never
// negative. A cut pays if the result is above 0. The remaining levels may take more bits than the whole block
// did, because their contexts change. A cut that saves no bits never pays, so the growth may be as large as
// Growth allows.
template <class Growth>
CU264_HD Growth rdoq_saved_by_cut(int fewer_bits, Growth growth, std::int64_t lambda = kRdoqLambda) {
  return static_cast<Growth>(lambda) * (fewer_bits > 0 ? fewer_bits : 0) - growth;
}

CU264_HD int towards_zero(int level) {
  return level < 0 ? level + 1 : level > 0 ? level - 1 : 0;
}

// scaled[k]: |coefficient| x multiplier in coding order, with `shift` fractional bits; bit k of `negative`:
// its sign. Writes `count` signed levels. bits_of(masks) counts the bits of `levels` as the masks tell, with
// kFraction fractional bits. steps_of(masks, changes) stores for each level what lowering it by one changes,
// if kHasSteps. Ties go to the higher position.
template <int kFraction, bool kHasSteps, int kMaxLevels, class Word, class BitsOf, class StepsOf>
CU264_HD void rdoq_levels(const std::int32_t* scaled, Word negative, int count, int shift, int rounds,
                          const BitsOf& bits_of, const StepsOf& steps_of, std::int16_t* levels,
                          std::int64_t lambda = kRdoqLambda) {
  std::int32_t value[kMaxLevels];
  BasicLevelMasks<Word> masks;
  for (int k = 0; k < count; ++k) {
    const int level = quantise(scaled[k], shift, 1 << (shift - 1));
    value[k] = rdoq_value(scaled[k], shift);
    levels[k] = static_cast<std::int16_t>((negative >> k) & 1 ? -level : level);
    masks = with_level(masks, k, level);
  }
  if (masks.nonzero == 0) return;

  const auto growth_of = [](std::int64_t growth) { return growth * (1 << kFraction); };
  std::int64_t rate = lambda * bits_of(masks);
  int changes[kMaxLevels];
  for (int round = 0; round < rounds; ++round) {
    std::int64_t least = rate, least_growth = 0;
    int lowered = -1;
    if constexpr (kHasSteps) steps_of(masks, changes);
    for (Word rest = masks.nonzero; rest != 0;) {
      const int k = highest_bit(rest);
      rest ^= Word{1} << k;
      const std::int16_t before = levels[k];
      const std::int64_t growth = growth_of(rdoq_growth_of_step(value[k], before < 0 ? -before : before));
      if (growth >= least) continue;
      std::int64_t cost = growth;
      if constexpr (kHasSteps) {
        cost += rate + lambda * changes[k];
      } else {
        levels[k] = static_cast<std::int16_t>(towards_zero(before));
        cost += lambda * bits_of(with_level(masks, k, levels[k]));
        levels[k] = before;
      }
      if (cost < least) least = cost, least_growth = growth, lowered = k;
    }
    if (lowered < 0) break;
    levels[lowered] = static_cast<std::int16_t>(towards_zero(levels[lowered]));
    masks = with_level(masks, lowered, levels[lowered]);
    rate = least - least_growth;
  }

  // Cut the tail where that saves most: position `cut` and all above it become zero.
  const int bits = static_cast<int>(rate / lambda);
  std::int64_t growth = 0, most = 0;
  int cut = count;
  while (masks.nonzero != 0) {
    const int k = highest_bit(masks.nonzero);
    growth += growth_of(rdoq_growth_of_zero(value[k], levels[k] < 0 ? -levels[k] : levels[k]));
    masks = with_level(masks, k, 0);
    if (growth >= rate - most) continue;
    const std::int64_t saved = rdoq_saved_by_cut(bits - bits_of(masks), growth, lambda);
    if (saved > most) most = saved, cut = k;
  }
  for (int k = cut; k < count; ++k) levels[k] = 0;
}

// A 4x4 block. Writes as many signed levels as the category has (the rest up to 16 is left alone). `context`:
// the rate model's block_context.
template <class Rate>
CU264_HD void rdoq_block(const Rate& rate_model, const std::int32_t* scaled, std::uint32_t negative,
                         BlockCategory category, int shift, int context, std::int16_t* levels,
                         std::int64_t lambda = kRdoqLambda) {
  rdoq_levels<Rate::kFraction, Rate::kHasSteps, 16>(
      scaled, negative, max_num_coeff(category), shift, kRdoqRounds,
      [&](LevelMasks masks) { return rate_model.block_bits(levels, masks, category, context); },
      [&](LevelMasks masks, int* changes) {
        if constexpr (Rate::kHasSteps) rate_model.block_steps(levels, masks, category, context, changes);
      },
      levels, lambda);
}

// An 8x8 block, which the rate model counts as one; levels in coding order.
template <class Rate>
CU264_HD void rdoq_block8x8(const Rate& rate_model, const std::int32_t* scaled, std::uint64_t negative,
                            int shift, std::int16_t* levels, std::int64_t lambda = kRdoqLambda) {
  rdoq_levels<Rate::kFraction, Rate::kHasSteps, 64>(
      scaled, negative, 64, shift, kRdoqRounds,
      [&](LevelMasks8x8 masks) {
        return rate_model.block8x8_bits(masks, [levels](int k) { return levels[k]; });
      },
      [&](LevelMasks8x8 masks, int* changes) {
        if constexpr (Rate::kHasSteps) {
          rate_model.block8x8_steps(
              masks, [levels](int k) { return static_cast<int>(levels[k]); }, changes);
        }
      },
      levels, lambda);
}

}  // namespace cu264::core
