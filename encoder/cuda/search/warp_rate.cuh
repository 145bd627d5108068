// The rate model of the search (core/rate_model.h) on a warp: the bits of a block, counted by the lanes that
// hold its levels.
#pragma once

#include <cstdint>

#include "core/level_masks.h"
#include "core/rate_model.h"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_cavlc.cuh"
#if defined(CU264_COUNTS_CABAC)
#include "encoder/cuda/search/warp_cabac.cuh"
#endif
#include "encoder/presets.h"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// What RDOQ chooses for a lane: a level, and a share of the bits of its half's block. The shares of all lanes
// of the half add up to the block's bits.
struct RdoqLevel {
  int level;
  int share;
};

#if defined(CU264_COUNTS_CABAC)

// SearchRate on a warp. It needs no shared memory.
struct WarpRate : core::CabacRate {
  __device__ WarpRate(const core::CabacRate& rate) : core::CabacRate(rate) {}

  // The lane's share of the bits of its half's block, whose levels the lanes pass in coding order. Every lane
  // of the warp must call it. Inherited functions count the bits of a whole block in one lane.
  __device__ int share(LaneInHalf lane, int level, core::BlockCategory category, int context) const {
    return cabac_share(*this, lane, level, category, context);
  }
};
struct RateTables {
  __device__ void fill() {}
};
__device__ inline WarpRate rate_on_warp(const SearchRate& rate, const RateTables&) {
  return rate;
}

#else

// The same, with what it needs in shared memory.
struct WarpRate : core::CavlcRate {
  const CavlcLengths& lengths;

  __device__ WarpRate(const CavlcLengths& cavlc_lengths) : lengths(cavlc_lengths) {}

  __device__ int share(LaneInHalf lane, int level, core::BlockCategory category, int nC) const {
    return cavlc_share(lengths, lane, level, core::max_num_coeff(category), nC);
  }
};
using RateTables = CavlcLengths;
__device__ inline WarpRate rate_on_warp(const SearchRate&, const RateTables& tables) {
  return tables;
}

#endif

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
