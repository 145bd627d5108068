// The rate model of the search (core/rate_model.h) on a warp: the bits of a block, counted by the lanes that
// hold its levels.
#pragma once

#include <cstdint>

#include "core/level_masks.h"
#include "core/rate_model.h"
#include "encoder/cuda/search_rate.cuh"
#include "encoder/cuda/warp_cavlc.cuh"
#if defined(CU264_COUNTS_CABAC)
#include "encoder/cuda/warp_cabac.cuh"
#endif
#include "encoder/presets.h"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// What RDOQ chooses for a lane: a level, and a share of the bits of its half's block; the shares of all lanes
// of the half add up to them.
struct RdoqLevel {
  int level;
  int share;
};

static __device__ __noinline__ int call_cavlc_share(const CavlcLengths& lengths, LaneInHalf lane, int level,
                                                    int max_num_coeff, int nC) {
  return cavlc_share(lengths, lane, level, max_num_coeff, nC);
}

static __device__ __noinline__ int call_cavlc_bits(const std::int16_t* levels, core::LevelMasks masks,
                                                   int max_num_coeff, int nC) {
  return core::cavlc_bits_of_masks(levels, masks, max_num_coeff, nC);
}

// core::CavlcRate on a warp. kCalled: kernels with RDOQ call functions that count, because inlining would
// repeat the code a dozen times and the search is bound by instruction fetch. The other kernels inline them.
template <bool kCalled>
struct WarpCavlcRate : core::CavlcRate {
  const CavlcLengths& lengths;

  __device__ WarpCavlcRate(const CavlcLengths& cavlc_lengths) : lengths(cavlc_lengths) {}

  // The lane's share of the bits of its half's block, whose levels the lanes pass in coding order. Every lane
  // of the warp must call it.
  __device__ int share(LaneInHalf lane, int level, core::BlockCategory category, int nC) const {
    if constexpr (kCalled) return call_cavlc_share(lengths, lane, level, core::max_num_coeff(category), nC);
    return cavlc_share(lengths, lane, level, core::max_num_coeff(category), nC);
  }
  // The bits of a whole block, counted by one lane.
  __device__ int block_bits(const std::int16_t* levels, core::LevelMasks masks, core::BlockCategory category,
                            int nC) const {
    if constexpr (kCalled) return call_cavlc_bits(levels, masks, core::max_num_coeff(category), nC);
    return core::cavlc_bits_of_masks(levels, masks, core::max_num_coeff(category), nC);
  }
};

#if defined(CU264_COUNTS_CABAC)

static __device__ __noinline__ int call_cabac_share(core::CabacRate rate, LaneInHalf lane, int level,
                                                    core::BlockCategory category, int context) {
  return cabac_share(rate, lane, level, category, context);
}

static __device__ __noinline__ int call_cabac_bits(core::CabacRate rate, const std::int16_t* levels,
                                                   core::LevelMasks masks, core::BlockCategory category,
                                                   int context) {
  return rate.block_bits(levels, masks, category, context);
}

// core::CabacRate on a warp; the functions are those of WarpCavlcRate.
template <bool kCalled>
struct WarpCabacRate : core::CabacRate {
  __device__ WarpCabacRate(const core::CabacRate& rate) : core::CabacRate(rate) {}

  __device__ int share(LaneInHalf lane, int level, core::BlockCategory category, int context) const {
    if constexpr (kCalled) return call_cabac_share(*this, lane, level, category, context);
    return cabac_share(*this, lane, level, category, context);
  }
  __device__ int block_bits(const std::int16_t* levels, core::LevelMasks masks, core::BlockCategory category,
                            int context) const {
    if constexpr (kCalled) return call_cabac_bits(*this, levels, masks, category, context);
    return core::CabacRate::block_bits(levels, masks, category, context);
  }
};

// SearchRate on a warp. It needs nothing of shared memory.
template <bool kCalled>
using WarpRate = WarpCabacRate<kCalled>;
struct RateTables {
  __device__ void fill() {}
};

template <bool kCalled>
__device__ WarpRate<kCalled> rate_on_warp(const SearchRate& rate, const RateTables&) {
  return rate;
}

#else

// SearchRate on a warp, and what it needs in shared memory.
template <bool kCalled>
using WarpRate = WarpCavlcRate<kCalled>;
using RateTables = CavlcLengths;

template <bool kCalled>
__device__ WarpRate<kCalled> rate_on_warp(const SearchRate&, const RateTables& tables) {
  return tables;
}

#endif

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
