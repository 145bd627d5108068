// The searches' rate model (core/rate_model.h) on a warp: the same bits of a block, counted by the lanes that
// hold its levels.
#pragma once

#include <cstdint>

#include "core/level_masks.h"
#include "core/rate_model.h"
#include "encoder/cuda/warp_cavlc.cuh"
#include "encoder/presets.h"

namespace cu264::encoder::cuda {

static __device__ __noinline__ int call_cavlc_share(const CavlcLengths& lengths, LaneInHalf lane, int level,
                                                    int max_num_coeff, int nC) {
  return cavlc_share(lengths, lane, level, max_num_coeff, nC);
}

static __device__ __noinline__ int call_cavlc_bits(const std::int16_t* levels, core::LevelMasks masks,
                                                   int max_num_coeff, int nC) {
  return core::cavlc_bits_of_masks(levels, masks, max_num_coeff, nC);
}

// core::CavlcRate on a warp. kCalled: kernels with RDOQ count by calls, since the code would stand in them a
// dozen times and the search is bound by the fetching of instructions; the others count in line.
template <bool kCalled>
struct WarpCavlcRate : core::CavlcRate {
  const CavlcLengths& lengths;

  __device__ WarpCavlcRate(const CavlcLengths& cavlc_lengths) : lengths(cavlc_lengths) {}

  // What this lane adds to the bits of its half's block, whose levels the lanes bring in coding order. Every
  // lane of the warp must call it.
  __device__ int share(LaneInHalf lane, int level, core::BlockCategory category, int nC) const {
    if constexpr (kCalled) return call_cavlc_share(lengths, lane, level, core::max_num_coeff(category), nC);
    return cavlc_share(lengths, lane, level, core::max_num_coeff(category), nC);
  }
  // Of a block a lane.
  __device__ int block_bits(const std::int16_t* levels, core::LevelMasks masks, core::BlockCategory category,
                            int nC) const {
    if constexpr (kCalled) return call_cavlc_bits(levels, masks, core::max_num_coeff(category), nC);
    return core::cavlc_bits_of_masks(levels, masks, core::max_num_coeff(category), nC);
  }
};

// The warp's form of SearchRate.
template <bool kCalled>
using WarpRate = WarpCavlcRate<kCalled>;

}  // namespace cu264::encoder::cuda
