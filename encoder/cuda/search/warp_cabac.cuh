// core::CabacRate on a warp: each lane counts the level that it holds, because what a level costs follows
// from its position, its magnitude and the masks of the block.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/cabac_rate.h"
#include "encoder/cuda/search/warp_block.cuh"
#include "encoder/cuda/search/warp_cavlc.cuh"

namespace cu264::encoder::cuda {

static __device__ const core::CabacCostTable d_cabac_costs = core::make_cabac_cost_table();

// The cost of a level that is not zero, at a position of CabacCosts. ones, nonzero: the levels above it. The
// last one pays for the positions of zeros.
__device__ inline int cabac_level_share(const core::CabacCosts& costs, int category, int position, int level,
                                        int ones, int nonzero) {
  return core::cabac_position_cost(costs, position) +
         (nonzero == 0 ? core::cabac_last_cost(costs, position) : 0) +
         core::cabac_level_cost(core::level_cost(costs.level[category], ones, nonzero - ones), abs(level));
}

// The lane's share of the cost of its half's block; the sum over the half is core::CabacRate::block_bits.
// Levels that the category does not have must be 0. Every lane of the warp must call it.
__device__ inline int cabac_share(const core::CabacRate& rate, LaneInHalf lane, int level,
                                  core::BlockCategory category, int context) {
  const core::LevelMasks masks = half_masks(lane, level);
  const int cat = static_cast<int>(category), k = lane.position;
  int bits = k == 0 ? rate.costs->coded_block_flag[cat][context][masks.nonzero != 0 ? 1 : 0] : 0;
  if (level != 0) {
    const unsigned above = 0xfffffffeu << k;
    bits += cabac_level_share(*rate.costs, cat, 16 * cat + k, level, __popc(masks.ones & above),
                              __popc(masks.nonzero & above));
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
  // Counts the bits of a pair of masks above position 2 * lane + odd.
  static __device__ int count_above(unsigned even, unsigned odd, int lane, int is_odd) {
    const unsigned above = 0xfffffffeu << lane;
    return __popc(even & above) + __popc(odd & (is_odd != 0 ? above : above | 1u << lane));
  }
};

// The lane's share of the cost of an 8x8 block.
__device__ inline int cabac_share8x8(const core::CabacRate& rate, int lane, const int (&level)[2],
                                     const Masks8x8& masks) {
  int bits = 0;
#pragma unroll
  for (int odd = 0; odd < 2; ++odd) {
    if (level[odd] == 0) continue;
    const int ones = Masks8x8::count_above(masks.ones[0], masks.ones[1], lane, odd);
    const int nonzero = Masks8x8::count_above(masks.nonzero[0], masks.nonzero[1], lane, odd);
    bits += cabac_level_share(*rate.costs, core::kCost8x8, core::kCostPositions8x8 + 2 * lane + odd,
                              level[odd], ones, nonzero);
  }
  return bits;
}

}  // namespace cu264::encoder::cuda
