// RDOQ by CABAC's bits on a group of lanes, with the results of core::rdoq_levels. A block's bits are a sum
// over its levels, and lowering a level changes the share of others by their contexts alone. So each lane
// takes what a step changes in its own levels, and a sum over the lanes below adds what it changes in theirs.
#pragma once

#include <climits>
#include <cstdint>

#include "core/cabac_rate.h"
#include "core/quant.h"
#include "core/rdoq.h"
#include "encoder/cuda/search_rate.cuh"
#include "encoder/cuda/warp_block.cuh"
#include "encoder/cuda/warp_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// A block on kLanes lanes, 16 or 32, each with kOwn neighbouring positions. With 16 lanes the warp works on
// two blocks at the same time. Every lane of the warp must call the functions.
template <int kLanes, int kOwn>
struct CabacRdoq {
  // What a unit of bits costs, in the units that squared errors are in here. No block's bits cost kNever.
  static constexpr int kLambda = static_cast<int>(core::kRdoqLambda);
  static constexpr int kNever = INT_MAX;

  const core::StepCostTable& steps;
  const core::LevelCosts& costs;
  int lane;   // in the warp
  int empty;  // what the block costs more without levels than its levels cost with any
  // By position:
  int level[kOwn];  // its magnitude
  std::int32_t value[kOwn];
  int growth[kOwn];    // of the squared error by the next step
  int position[kOwn];  // core::cabac_position_cost
  int last[kOwn];      // core::cabac_last_cost

  __device__ CabacRdoq(const core::CabacCosts& all, int category, int lane_of_warp, int cost_of_empty)
      : steps(all.steps[category]), costs(all.level[category]), lane(lane_of_warp), empty(cost_of_empty) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int at = 16 * category + kOwn * place() + i;
      position[i] = core::cabac_position_cost(all, at);
      last[i] = core::cabac_last_cost(all, at);
    }
  }

  // scaled: as core::rdoq_levels takes it.
  __device__ void set(int i, std::int32_t scaled, int shift) {
    level[i] = core::quantise(scaled, shift, 1 << (shift - 1));
    value[i] = core::rdoq_value(scaled, shift);
    growth[i] = growth_of_step(i);
  }

  // Lowers the level whose step saves most. Returns whether there was one in any block.
  __device__ bool lower_one() {
    int ones = 0, nonzero = 0;  // of the levels above, which are coded before
    const unsigned above = 0xfffffffeu << place();
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      ones += __popc(vote(level[i] == 1) & above);
      nonzero += __popc(vote(level[i] != 0) & above);
    }
    core::StepChanges steps_of[kOwn];
    int of_others[kOwn];  // fewer_ones, and fewer_greater from bit 16 on
    bool is_last[kOwn];
    bool follows = false;  // a level that is not the last one
    int last_of_it = 0, sum = 0;
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      is_last[i] = nonzero == 0;
      of_others[i] = 0;
      if (level[i] != 0) {
        if (!is_last[i] && !follows) follows = true, last_of_it = last[i];
        steps_of[i] = core::step_changes(steps, level[i], ones, nonzero - ones);
        of_others[i] = steps_of[i].fewer_ones + steps_of[i].fewer_greater * (1 << 16);
        sum += of_others[i];
        ones += level[i] == 1;
        ++nonzero;
      }
    }
    // What the block costs for its last level if the present one goes.
    const unsigned following = vote(follows);
    const int of_next = __shfl_sync(kWarp, last_of_it, highest_lane(following), kLanes);
    const int next_last = following != 0 ? of_next : empty;

    int below = sum;
#pragma unroll
    for (int step = 1; step < kLanes; step *= 2) {
      const int before = __shfl_up_sync(kWarp, below, step, kLanes);
      if (place() >= step) below += before;
    }
    below -= sum;

    int saved[kOwn], most = 0;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      core::StepChanges sums;
      sums.fewer_ones = static_cast<std::int16_t>(below);
      sums.fewer_greater = (below - sums.fewer_ones) >> 16;
      const int zero = core::cabac_zero_cost(position[i], is_last[i], next_last, last[i]);
      const int bits = core::cabac_step_bits(steps_of[i], level[i], sums, zero);
      saved[i] = level[i] != 0 ? -(kLambda * bits + growth[i]) : 0;
      most = max(most, saved[i]);
      below += of_others[i];
    }
    const int best = group_max(most);
    if (__all_sync(kWarp, best == 0)) return false;
    const bool lowers = is_winner(most == best) && best != 0;
    bool done = !lowers;
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      if (done || saved[i] != best) continue;
      done = true;
      --level[i];
      growth[i] = growth_of_step(i);
    }
    return true;
  }

  // Cuts the tail where that is cheapest. Returns the block's bits, which exclude those of coded_block_flag
  // but include `empty`.
  __device__ int cut_tail() {
    unsigned rest = 0;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) rest |= vote(level[i] != 0);
    // The levels are added up from the lowest one on, by each lane as they cost behind another kind of levels
    // above: none in the lanes with context 0, up to three of magnitude one, up to four greater ones.
    const int context = place() & 7;
    const core::LevelCost cost = core::level_cost(costs, context < 4 ? context : 0, max(context - 3, 0));
    const int behind_one = context < 3 ? context + 1 : context, behind_greater = max(4, min(context + 1, 7));
    int sum = 0, positions = 0, bits = empty, bits_below[kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) bits_below[i] = 0;
#pragma unroll 1
    while (__any_sync(kWarp, rest != 0)) {
      const int next = __ffs(static_cast<int>(rest)) - 1;
      rest &= rest - 1;
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const int there = __shfl_sync(kWarp, level[i], next & (kLanes - 1), kLanes);
        const int magnitude = next >= 0 ? there : 0;
        if (__all_sync(kWarp, magnitude == 0)) continue;
        if (place() == next) bits_below[i] = bits;
        const int from = magnitude == 1 ? behind_one : behind_greater;
        const int behind = __shfl_sync(kWarp, sum, from, kLanes);
        const int of_position = __shfl_sync(kWarp, position[i], next & (kLanes - 1), kLanes);
        const int of_last = __shfl_sync(kWarp, last[i], next & (kLanes - 1), kLanes);
        if (magnitude != 0) sum = behind + core::cabac_level_cost(cost, magnitude), positions += of_position;
        const int without = __shfl_sync(kWarp, sum, 0, kLanes);
        if (magnitude != 0) bits = without + positions + of_last;
      }
    }

    // The growth of the squared error as these levels, and all above, become zero.
    int lost[kOwn], own = 0;
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      own = limited_sum(own, limited(core::rdoq_growth_of_zero(value[i], level[i]), kNever));
      lost[i] = own;
    }
    int from_here = own;
#pragma unroll
    for (int step = 1; step < kLanes; step *= 2) {
      const int above = __shfl_down_sync(kWarp, from_here, step, kLanes);
      if (place() + step < kLanes) from_here = limited_sum(from_here, above);
    }
    const int next = __shfl_down_sync(kWarp, from_here, 1, kLanes);
    const int above = place() + 1 < kLanes ? next : 0;

    int most = 0, cut = 0, bits_of_cut = 0;
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      const int saved = kLambda * (bits - bits_below[i]) - limited_sum(lost[i], above);
      if (level[i] != 0 && saved > most) most = saved, cut = i, bits_of_cut = bits_below[i];
    }
    const int best = group_max(most);
    if (__all_sync(kWarp, best == 0)) return bits;
    const int winner = highest_lane(vote(most == best));
    const int first = kOwn * winner + __shfl_sync(kWarp, cut, winner, kLanes);
    const int cut_bits = __shfl_sync(kWarp, bits_of_cut, winner, kLanes);
    if (best == 0) return bits;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      if (kOwn * place() + i >= first) level[i] = 0;
    }
    return cut_bits;
  }

 private:
  __device__ int place() const {
    return lane & (kLanes - 1);
  }
  __device__ unsigned vote(bool yes) const {
    const unsigned all = __ballot_sync(kWarp, yes);
    return kLanes == 32 ? all : (all >> (lane & 16)) & 0xffff;
  }
  // Any lane if there is none.
  static __device__ int highest_lane(unsigned votes) {
    return (31 - __clz(static_cast<int>(votes))) & (kLanes - 1);
  }
  __device__ bool is_winner(bool ties) const {
    return highest_lane(vote(ties)) == place();
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
  static __device__ int limited_sum(int a, int b) {
    return static_cast<int>(min(static_cast<unsigned>(a) + static_cast<unsigned>(b), unsigned{kNever}));
  }
  // The steps of levels that were clipped are out of the question.
  __device__ int growth_of_step(int i) const {
    return limited(core::rdoq_growth_of_step(value[i], level[i]), kNever / 2);
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
#pragma unroll 1
  for (int round = 0; round < core::kRdoqRounds && search.lower_one(); ++round) {
  }
  const int bits = flag[1] + search.cut_tail();
  return {negative ? -search.level[0] : search.level[0], lane.position == 0 ? bits : 0};
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
