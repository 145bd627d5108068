// core::CabacRate on a warp: each lane counts the level that it holds, because what a level costs follows
// from its position, its magnitude and the masks of the block.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/cabac_rate.h"
#include "encoder/cuda/warp_block.cuh"
#include "encoder/cuda/warp_cavlc.cuh"

namespace cu264::encoder::cuda {

static __device__ const core::CabacCostTable d_cabac_costs = core::make_cabac_cost_table();

// The cost of position k of a block whose last level is at `last`.
__device__ inline int cabac_position_share(const core::PositionCost& cost, int k, int last, int level) {
  return k > last ? 0 : k == last ? cost.last() : level != 0 ? cost.level() : cost.zero();
}

// The lane's share of the cost of its half's block; the sum over the half is core::CabacRate::block_bits.
// Levels that the category does not have must be 0. Every lane of the warp must call it.
__device__ inline int cabac_share(const core::CabacRate& rate, LaneInHalf lane, int level,
                                  core::BlockCategory category, int context) {
  const core::LevelMasks masks = half_masks(lane, level);
  const int cat = static_cast<int>(category), k = lane.position;
  int bits = k == 0 ? rate.costs->coded_block_flag[cat][context][masks.nonzero != 0 ? 1 : 0] : 0;
  if (masks.nonzero == 0) return bits;
  bits +=
      cabac_position_share(rate.costs->position[16 * cat + k], k, core::highest_bit(masks.nonzero), level);
  const unsigned above = 0xfffffffeu << k;
  if (level != 0) {
    bits += core::cabac_level_cost(core::level_cost(rate.costs->level[cat], __popc(masks.ones & above),
                                                    __popc(masks.nonzero & ~masks.ones & above)),
                                   abs(level));
  }
  return bits;
}

// The masks of an 8x8 block whose levels 2 * lane and 2 * lane + 1 the lanes hold.
struct Masks8x8 {
  unsigned nonzero[2];  // of the even and of the odd positions, by lane
  unsigned ones[2];

  // Every lane of the warp must call it.
  __device__ Masks8x8(const int (&level)[2]) {
    for (int odd = 0; odd < 2; ++odd) {
      nonzero[odd] = __ballot_sync(kWarp, level[odd] != 0);
      ones[odd] = __ballot_sync(kWarp, abs(level[odd]) == 1);
    }
  }
  __device__ bool any() const { return (nonzero[0] | nonzero[1]) != 0; }
  __device__ int last() const {
    const int even = 31 - __clz(static_cast<int>(nonzero[0])), odd = 31 - __clz(static_cast<int>(nonzero[1]));
    return max(2 * even, 2 * odd + 1);
  }
  // Counts the bits of a pair of masks above position 2 * lane + odd.
  static __device__ int count_above(unsigned even, unsigned odd, int lane, int is_odd) {
    const unsigned above = 0xfffffffeu << lane;
    return __popc(even & above) + __popc(odd & (is_odd != 0 ? above : above | 1u << lane));
  }
};

// The lane's share of the cost of an 8x8 block.
__device__ inline int cabac_share8x8(const core::CabacRate& rate, int lane, const int (&level)[2],
                                     const Masks8x8& masks) {
  if (!masks.any()) return 0;
  const core::LevelCosts& level_costs = rate.costs->level[core::kCost8x8];
  const int last = masks.last();
  int bits = 0;
#pragma unroll
  for (int odd = 0; odd < 2; ++odd) {
    const int k = 2 * lane + odd;
    bits += cabac_position_share(rate.costs->position[core::kCostPositions8x8 + k], k, last, level[odd]);
    if (level[odd] == 0) continue;
    const int ones = Masks8x8::count_above(masks.ones[0], masks.ones[1], lane, odd);
    const int nonzero = Masks8x8::count_above(masks.nonzero[0], masks.nonzero[1], lane, odd);
    bits += core::cabac_level_cost(core::level_cost(level_costs, ones, nonzero - ones), abs(level[odd]));
  }
  return bits;
}

}  // namespace cu264::encoder::cuda
