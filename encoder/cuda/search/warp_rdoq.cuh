// core::rdoq_block on half a warp: lane k of the half holds position k, and all steps of a round are measured
// at once. Both halves work at the same time, each on its own block.
#pragma once

#include <cstdint>

#include "core/quant.h"
#include "core/rdoq.h"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#include "encoder/cuda/search/warp_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// Memory for the blocks of both halves, and for one variant in every lane.
struct alignas(16) RdoqVariants {
  std::int16_t base[2][16];
  std::int16_t levels[32][16];
};

__device__ inline std::int64_t half_min(std::int64_t value) {
  for (int step = 1; step < 16; step *= 2) {
    const std::int64_t other = __shfl_xor_sync(kWarp, value, step);
    value = other < value ? other : value;
  }
  return value;
}

// Lambda times the bits of the half's block with this lane's level replaced by `other` and, with
// `zero_above`, all levels above it by zero. Every lane of the warp must call it; lanes whose variant is not
// `measured` get 0.
template <class Rate>
__device__ std::int64_t rate_of_variant(RdoqVariants& variants, const Rate& rate, LaneInHalf lane, int level,
                                        int other, bool zero_above, bool measured,
                                        core::BlockCategory category, int context) {
  // The half's current levels and masks.
  __syncwarp();
  variants.base[lane.half][lane.position] = static_cast<std::int16_t>(level);
  const unsigned nonzero = __ballot_sync(kWarp, level != 0) >> (16 * lane.half);
  const unsigned ones = __ballot_sync(kWarp, abs(level) == 1) >> (16 * lane.half);
  __syncwarp();
  if (!measured) return 0;

  // This lane's variant. Levels above it that count as zero are left in memory; the mask excludes them.
  std::int16_t* const mine = variants.levels[16 * lane.half + lane.position];
  const uint4* const from = reinterpret_cast<const uint4*>(variants.base[lane.half]);
  reinterpret_cast<uint4*>(mine)[0] = from[0];
  reinterpret_cast<uint4*>(mine)[1] = from[1];
  mine[lane.position] = static_cast<std::int16_t>(other);
  const unsigned here = 1u << lane.position, kept = (zero_above ? here - 1 : ~here) & 0xffff;
  core::LevelMasks masks;
  masks.nonzero = (nonzero & kept) | (other != 0 ? here : 0);
  masks.ones = (ones & kept) | (abs(other) == 1 ? here : 0);
  return kSearchRdoqLambda * rate.block_bits(mine, masks, category, context);
}

// `scaled` and `negative` describe the coefficient at the lane's position in coding order; positions that the
// category does not have are ignored. Returns the level at that position. A half that is not `active` gets
// levels that are zero.
template <class Rate>
static __device__ __noinline__ RdoqLevel choose_level_by_rdoq(RdoqVariants& variants, Rate rate_model,
                                                              LaneInHalf lane, std::int32_t scaled,
                                                              bool negative, core::BlockCategory category,
                                                              int shift, int context, bool active) {
  const int count = core::max_num_coeff(category);
  const bool inside = active && lane.position < count;
  const int nearest = inside ? core::quantise(scaled, shift, 1 << (shift - 1)) : 0;
  const std::int32_t value = core::rdoq_value(scaled, shift);
  int level = negative ? -nearest : nearest;
  // The low bits of a rank hold the position, so that ties go to the higher position.
  const auto rank_of = [&](std::int64_t cost) { return cost * 16 + (15 - lane.position); };
  constexpr std::int64_t kNever = INT64_MAX;

  if (!__any_sync(kWarp, level != 0)) return {0, rate_model.share(lane, 0, category, context)};
  std::int64_t rate =
      kSearchRdoqLambda * half_sum_of_small(lane, rate_model.share(lane, level, category, context));
  for (int round = 0; round < core::kRdoqRounds; ++round) {
    const std::int64_t growth = core::rdoq_growth_of_step(value, abs(level)) * (1 << Rate::kFraction);
    const std::int64_t bits = rate_of_variant(variants, rate_model, lane, level, core::towards_zero(level),
                                              false, level != 0, category, context);
    const std::int64_t cost = bits + growth, mine = level != 0 && cost < rate ? rank_of(cost) : kNever;
    const std::int64_t best = half_min(mine);
    if (__all_sync(kWarp, best == kNever)) break;
    const unsigned winners = __ballot_sync(kWarp, best != kNever && mine == best);
    const int winner = __ffs(static_cast<int>((winners >> (16 * lane.half)) & 0xffff)) - 1;
    const std::int64_t new_rate = __shfl_sync(kWarp, bits, 16 * lane.half + max(winner, 0));
    if (winner >= 0) {
      rate = new_rate;
      if (winner == lane.position) level = core::towards_zero(level);
    }
  }

  // The tail: the growth of the error at this position and at all positions above it.
  std::int64_t growth =
      level != 0 ? core::rdoq_growth_of_zero(value, abs(level)) * (1 << Rate::kFraction) : 0;
  for (int step = 1; step < 16; step *= 2) {
    const std::int64_t above = __shfl_down_sync(kWarp, growth, step, 16);
    if (lane.position + step < 16) growth += above;
  }
  const std::int64_t bits =
      rate_of_variant(variants, rate_model, lane, level, 0, true, level != 0, category, context);
  const std::int64_t cost = bits + growth, mine = level != 0 && cost < rate ? rank_of(cost) : kNever;
  const std::int64_t best = half_min(mine);
  const unsigned winners = __ballot_sync(kWarp, best != kNever && mine == best);
  const int cut = __ffs(static_cast<int>((winners >> (16 * lane.half)) & 0xffff)) - 1;
  __syncwarp();
  if (cut >= 0 && lane.position >= cut) level = 0;
  return {level, rate_model.share(lane, level, category, context)};
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
