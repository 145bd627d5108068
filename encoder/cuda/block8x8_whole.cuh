// Counts and optimises an 8x8 block as one block of 64 levels, which is how CABAC codes it.
#pragma once

#include <cstdint>

#include "core/luma_decision.h"
#include "encoder/cuda/block8x8_coder.cuh"
#include "encoder/cuda/search_rate.cuh"
#include "encoder/cuda/warp_rate.cuh"
#include "encoder/cuda/warp_rdoq.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// Where level k of an 8x8 block lies among its interleaved blocks.
__device__ inline int interleaved_place(int k) {
  return 16 * core::interleaved_block(k) + core::interleaved_level(k);
}

// The bits of a candidate, the same in all lanes.
template <class Rate>
__device__ int trial_bits(const WarpState<true>&, const LaneIndices& lane, const Rate& rate, const Block8x8&,
                          const std::int16_t* levels, std::uint32_t) {
  const int level[2] = {levels[interleaved_place(2 * lane.lane)],
                        levels[interleaved_place(2 * lane.lane + 1)]};
  return warp_sum(cabac_share8x8(rate, lane.lane, level, Masks8x8(level)));
}

// The bits of the block in coding order with level k replaced. `masks` are those with the replacement.
static __device__ __noinline__ int call_bits8x8(core::CabacRate rate, const std::int16_t* levels,
                                                core::LevelMasks8x8 masks, int k, int other) {
  return rate.block8x8_bits(masks, [=](int i) { return i == k ? other : levels[i]; });
}

// core::rdoq_block8x8 on a warp: each lane has positions 2 * lane and 2 * lane + 1, and measures their steps.
template <class Rate>
struct Rdoq8x8 {
  const Rate& rate_model;
  const LaneIndices& lane;
  std::int16_t* levels;  // shared memory for 64 levels in coding order
  std::int32_t value[2];
  int level[2];
  std::int64_t rate = 0;

  static constexpr std::int64_t kNever = INT64_MAX;

  __device__ int position(int odd) const { return 2 * lane.lane + odd; }
  // The low bits of a rank hold the position, so that ties go to the higher one.
  __device__ std::int64_t rank_of(std::int64_t cost, int odd) const {
    return cost * 64 + (63 - position(odd));
  }
  static __device__ std::int64_t growth_of(std::int64_t growth) { return growth * (1 << Rate::kFraction); }

  // The masks of the current levels, which it also brings into memory.
  __device__ core::LevelMasks8x8 publish() {
    __syncwarp();
    levels[position(0)] = static_cast<std::int16_t>(level[0]);
    levels[position(1)] = static_cast<std::int16_t>(level[1]);
    const Masks8x8 masks(level);
    __syncwarp();
    return masks.by_position();
  }
  __device__ std::int64_t bits(core::LevelMasks8x8 masks, int k, int other) const {
    return core::kRdoqLambda * call_bits8x8(rate_model, levels, masks, k, other);
  }
  // Lowers the level whose step saves most. Returns whether there was one.
  __device__ bool lower_one() {
    const core::LevelMasks8x8 masks = publish();
    std::int64_t least = kNever, new_rate = 0;
    int which = 0;
#pragma unroll 1
    for (int odd = 1; odd >= 0; --odd) {
      const int own = odd != 0 ? level[1] : level[0], k = position(odd);
      if (own == 0) continue;
      const std::int64_t growth =
          growth_of(core::rdoq_growth_of_step(odd != 0 ? value[1] : value[0], abs(own)));
      if (growth >= rate) continue;
      const int other = core::towards_zero(own);
      const std::int64_t of_bits = bits(core::with_level(masks, k, other), k, other), cost = of_bits + growth;
      if (cost >= rate || rank_of(cost, odd) >= least) continue;
      least = rank_of(cost, odd), new_rate = of_bits, which = odd;
    }
    const std::int64_t best = warp_min(least);
    if (best == kNever) return false;
    const int winner = __ffs(static_cast<int>(__ballot_sync(kWarp, least == best))) - 1;
    rate = __shfl_sync(kWarp, new_rate, winner);
    if (lane.lane == winner) {
      if (which != 0) {
        level[1] = core::towards_zero(level[1]);
      } else {
        level[0] = core::towards_zero(level[0]);
      }
    }
    return true;
  }
  // Cuts the tail where that is cheapest.
  __device__ void cut_tail() {
    const core::LevelMasks8x8 masks = publish();
    std::int64_t growth[2];
    for (int odd = 0; odd < 2; ++odd) {
      growth[odd] = level[odd] != 0 ? growth_of(core::rdoq_growth_of_zero(value[odd], abs(level[odd]))) : 0;
    }
    growth[0] += growth[1];
    std::int64_t from_here = growth[0];
    for (int step = 1; step < 32; step *= 2) {
      const std::int64_t above = __shfl_down_sync(kWarp, from_here, step);
      if (lane.lane + step < 32) from_here += above;
    }
    const std::int64_t behind = from_here - growth[0];
    std::int64_t least = kNever;
#pragma unroll 1
    for (int odd = 1; odd >= 0; --odd) {
      const std::int64_t lost = (odd != 0 ? growth[1] : growth[0]) + behind;
      if ((odd != 0 ? level[1] : level[0]) == 0 || lost >= rate) continue;
      const int k = position(odd);
      const std::uint64_t below = (std::uint64_t{1} << k) - 1;
      const std::int64_t cost = bits({masks.nonzero & below, masks.ones & below}, 64, 0) + lost;
      if (cost < rate && rank_of(cost, odd) < least) least = rank_of(cost, odd);
    }
    const std::int64_t best = warp_min(least);
    if (best == kNever) return;
    const int cut = 63 - static_cast<int>(best & 63);
    for (int odd = 0; odd < 2; ++odd) {
      if (position(odd) >= cut) level[odd] = 0;
    }
  }
};

// Quantises the block by RDOQ and leaves its levels and counts in the warp's state. Returns its bits.
template <class Rate>
__device__ int quantise_by_rdoq(Coder8x8<true>& coder, const LaneIndices& lane, const Rate& rate,
                                const Block8x8& b, const Samples8x8& samples) {
  WarpState<true>& s = coder.s;
  const LaneQuantiser8x8& quantiser = coder.quantiser;
  const std::int32_t* const all_scaled = coder.scaled_coefficients(samples);
  Rdoq8x8<Rate> search{rate, lane, coder.space.trial_levels[0]};
  for (int i = 0; i < 2; ++i) {
    const int scaled = all_scaled[interleaved_place(search.position(i))];
    const int level = core::quantise(core::absolute(scaled), quantiser.shift, 1 << (quantiser.shift - 1));
    search.value[i] = core::rdoq_value(core::absolute(scaled), quantiser.shift);
    search.level[i] = scaled < 0 ? -level : level;
  }
  int bits = warp_sum(cabac_share8x8(rate, lane.lane, search.level, Masks8x8(search.level)));
  if (bits > 0) {  // there are levels
    search.rate = core::kRdoqLambda * bits;
#pragma unroll 1
    for (int round = 0; round < core::kRdoqRounds && search.lower_one(); ++round) {
    }
    search.cut_tail();
  }
  const Masks8x8 masks(search.level);
  bits = warp_sum(cabac_share8x8(rate, lane.lane, search.level, masks));
  std::int16_t* const stored = s.levels[b.slot()];
  stored[interleaved_place(search.position(0))] = static_cast<std::int16_t>(search.level[0]);
  stored[interleaved_place(search.position(1))] = static_cast<std::int16_t>(search.level[1]);
  // Interleaved block i has the levels of every fourth position from i on.
  if (lane.lane < 4) {
    const unsigned of_parity = masks.nonzero[lane.lane & 1];
    coder.set_count(b, lane.lane, __popc(of_parity & (lane.lane < 2 ? 0x55555555u : 0xaaaaaaaau)));
  }
  __syncwarp();
  return bits;
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
