// RDOQ by CABAC's bits on a group of lanes, with the results of core::rdoq_levels. A block's bits are a sum
// over its levels, and lowering one level changes the share of other levels only through their contexts. So
// each lane computes what a step changes in its own levels, and a sum over the lanes below adds what it
// changes in theirs.
#pragma once

#include <climits>
#include <cstdint>

#include "core/cabac_rate.h"
#include "core/quant.h"
#include "core/rdoq.h"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#include "encoder/cuda/search/warp_rate.cuh"
#include "encoder/cuda/search/warp_sums.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// A block on kLanes lanes, 16 or 32, each with kOwn neighbouring positions. With 16 lanes the warp works on
// two blocks at the same time. Every lane of the warp must call the functions.
template <int kLanes, int kOwn>
struct CabacRdoq {
  // What a unit of bits costs, in the units of squared errors used here. No block's bits cost as much as
  // kNever.
  static constexpr int kLambda = static_cast<int>(kSearchRdoqLambda);
  static constexpr int kNever = INT_MAX;

  const core::StepCosts* steps;
  const core::LevelCosts& costs;
  int lane;        // of the warp
  unsigned group;  // the lanes of the block
  int empty;       // what the block costs more without levels than its levels cost with any
  // By position:
  int level[kOwn];  // its magnitude
  std::int32_t value[kOwn];
  int growth[kOwn];    // of the squared error by the next step
  int position[kOwn];  // core::cabac_position_cost
  int last[kOwn];      // core::cabac_last_cost

  __device__ CabacRdoq(const core::CabacCosts& all, int category, int lane_of_warp, int cost_of_empty)
      : steps(kept(all.steps[category].at)),
        costs(all.level[category]),
        lane(lane_of_warp),
        group(kLanes == 32 ? kWarp : 0xffffu << (lane_of_warp & 16)),
        empty(cost_of_empty) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int at = 16 * category + kOwn * (lane & (kLanes - 1)) + i;
      position[i] = core::cabac_position_cost(all, at);
      last[i] = core::cabac_last_cost(all, at);
    }
  }

  // scaled: as core::rdoq_levels takes it.
  __device__ void set(int i, std::int32_t scaled, int shift) {
    level[i] = core::quantise(scaled, shift, 1 << (shift - 1));
    value[i] = core::rdoq_value(scaled, shift);
    // A clipped level is never lowered.
    growth[i] = limited(core::rdoq_growth_of_step(value[i], level[i]), kNever / 2);
  }

  // Lowers levels round by round and cuts the tail. Returns the block's bits, which exclude those of
  // coded_block_flag but include `empty`.
  __device__ int optimise() {
#pragma unroll 1
    for (int round = 0; round < core::kRdoqRounds && lower_one(); ++round) {
    }
    return cut_tail();
  }

 private:
  // Lowers the level whose step saves most. Returns whether there was one in any block.
  __device__ bool lower_one() {
    int ones = 0, nonzero = 0;  // of the levels above, which are coded before
    const unsigned above = (0xfffffffeu << lane) & group;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      ones += __popc(__ballot_sync(kWarp, level[i] == 1) & above);
      nonzero += __popc(__ballot_sync(kWarp, level[i] != 0) & above);
    }
    // What the block would cost for its last level if the present one goes.
    bool is_last[kOwn], any_above = nonzero != 0, follows = false;
    int next_last = last[0];
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      is_last[i] = !any_above;
      if (i > 0 && level[i] != 0 && any_above) next_last = last[i];
      follows = follows || (level[i] != 0 && any_above);
      any_above = any_above || level[i] != 0;
    }
    const unsigned following = __ballot_sync(kWarp, follows) & group;
    next_last = __shfl_sync(kWarp, next_last, highest_lane(following));
    if (following == 0) next_last = empty;

    core::StepChanges changes[kOwn];
    int of_others[kOwn], sum = 0;  // fewer_ones, and fewer_greater from bit 16 on
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      of_others[i] = 0;
      if (level[i] != 0) {
        changes[i] = core::step_changes(steps, level[i], ones, nonzero - ones);
        of_others[i] = changes[i].fewer_ones + changes[i].fewer_greater * (1 << 16);
        sum += of_others[i];
        ones += level[i] == 1;
        ++nonzero;
      }
    }
    int below = sum_from_below<kLanes>(sum) - sum;

    int saved[kOwn], most = 0;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      core::StepChanges sums;
      sums.fewer_ones = static_cast<std::int16_t>(below);
      sums.fewer_greater = (below - sums.fewer_ones) >> 16;
      const int zero = core::cabac_zero_cost(position[i], is_last[i], next_last, last[i]);
      const int bits = core::cabac_step_bits(changes[i], level[i], sums, zero);
      saved[i] = level[i] != 0 ? -(kLambda * bits + growth[i]) : 0;
      most = max(most, saved[i]);
      below += of_others[i];
    }
    const int best = group_max(most);
    if (__all_sync(kWarp, best == 0)) return false;
    bool lowers = highest_lane(__ballot_sync(kWarp, most == best) & group) == lane && best != 0;
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      const bool lowered = lowers && saved[i] == best;
      if (lowered) --level[i], growth[i] += core::kRdoqGrowthOfGrowth << core::kCabacFraction;
      lowers = lowers && !lowered;
    }
    return true;
  }

  // Cuts the tail where that is cheapest. Returns the block's bits as `optimise` does.
  __device__ int cut_tail() {
    int bits_below[kOwn], bits = add_up(bits_below);

    // The growth of the squared error when these levels, and all above, become zero.
    int own[kOwn], sum = 0;
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      own[i] = limited(core::rdoq_growth_of_zero(value[i], level[i]), kNever);
      sum = limited_sum(sum, own[i]);
    }
    int lost = limited_sum_from_above<kLanes>(sum);  // from the lane's lowest position on
    int above = 0;
    if constexpr (kOwn > 1) {
      above = __shfl_down_sync(kWarp, lost, 1);
      if (lane == 31) above = 0;
    }

    int most = 0, cut = 0, bits_of_cut = 0;
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      if (i > 0) above = limited_sum(above, own[i]);
      const int saved =
          core::rdoq_saved_by_cut(bits - bits_below[i], i > 0 ? above : lost, kSearchRdoqLambda);
      if (level[i] != 0 && saved > most) most = saved, cut = i, bits_of_cut = bits_below[i];
    }
    const int best = group_max(most);
    if (__all_sync(kWarp, best == 0)) return bits;
    const int winner = highest_lane(__ballot_sync(kWarp, most == best) & group);
    bits_of_cut = __shfl_sync(kWarp, bits_of_cut, winner);
    if (best == 0) return bits;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      if (lane > winner || (lane == winner && i >= cut)) level[i] = 0;
    }
    return bits_of_cut;
  }

  // Returns the block's bits, and stores those of the levels below each own one without the levels above.
  __device__ int add_up(int (&bits_below)[kOwn]) const {
    // The levels are added up from the lowest one on. Each lane adds what they cost after a different
    // combination of levels above: none in lanes with context 0, up to three of magnitude one, or up to four
    // greater ones.
    const int context = lane & 7, first = lane & ~(kLanes - 1);
    const core::LevelCost cost = core::level_cost(costs, context < 4 ? context : 0, max(context - 3, 0));
    const int after_one = lane + (context < 3 ? 1 : 0),
              after_greater = lane - context + max(4, min(context + 1, 7));
    unsigned rest = 0;
    int code[kOwn], places[kOwn];  // what all lanes need of a level and of its position
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      rest |= __ballot_sync(kWarp, level[i] != 0);
      code[i] = min(level[i], core::kSuffixMagnitude) | core::cabac_suffix_cost(level[i]) << 8;
      places[i] = last[i] * (1 << 16) | (position[i] & 0xffff);
      bits_below[i] = 0;
    }
    rest &= group;
    int sum = 0, positions = 0, bits = empty;
#pragma unroll 1
    while (kLanes == 32 ? rest != 0 : __any_sync(kWarp, rest != 0) != 0) {
      const bool left = rest != 0;
      const int next = __ffs(static_cast<int>(rest)) - 1;
      rest &= rest - 1;
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const int code_of_it = __shfl_sync(kWarp, code[i], next & 31);
        if (kOwn > 1 && code_of_it == 0) continue;
        const int place = __shfl_sync(kWarp, places[i], next & 31), magnitude = code_of_it & 0xff;
        if (lane == next) bits_below[i] = bits;
        sum = __shfl_sync(kWarp, sum, magnitude == 1 ? after_one : after_greater) +
              core::cabac_prefix_cost(cost, magnitude) + (code_of_it >> 8);
        positions += static_cast<std::int16_t>(place);
        const int without = __shfl_sync(kWarp, sum, first);
        if (left) bits = without + positions + (place >> 16);
      }
    }
    return bits;
  }

  static __device__ int highest_lane(unsigned lanes) {
    return 31 - __clz(static_cast<int>(lanes));
  }
  static __device__ int group_max(int value) {
    if constexpr (kLanes == 32) {
      return warp_max(value);
    } else {
#pragma unroll
      for (int step = 1; step < kLanes; step *= 2) value = max(value, __shfl_xor_sync(kWarp, value, step));
      return value;
    }
  }
  static __device__ int limited(std::int64_t growth, int most) {
    const std::int64_t scaled = growth * (1 << core::kCabacFraction);
    return scaled < most ? static_cast<int>(scaled) : most;
  }
};

// Memory that RDOQ by CAVLC's bits needs.
struct RdoqVariants {};

// `scaled` and `negative` describe the coefficient at the lane's position in coding order; positions that the
// category does not have are ignored. Returns the level at that position. A half that is not `active` gets
// levels that are zero.
template <class Rate>
static __device__ __noinline__ RdoqLevel choose_level_by_rdoq(RdoqVariants&, Rate rate, LaneInHalf lane,
                                                              std::int32_t scaled, bool negative,
                                                              core::BlockCategory category, int shift,
                                                              int context, bool active) {
  const bool inside = active && lane.position < core::max_num_coeff(category);
  const int cat = static_cast<int>(category);
  const auto& flag = rate.costs->coded_block_flag[cat][context];
  CabacRdoq<16, 1> search(*rate.costs, cat, 16 * lane.half + lane.position, flag[0] - flag[1]);
  search.set(0, inside ? scaled : 0, shift);
  if (!__any_sync(kWarp, search.level[0] != 0)) return {0, lane.position == 0 ? flag[0] : 0};
  const int bits = flag[1] + search.optimise();
  return {negative ? -search.level[0] : search.level[0], lane.position == 0 ? bits : 0};
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
