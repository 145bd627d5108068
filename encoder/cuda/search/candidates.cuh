// The searches for chroma and for Intra_16x16 share the constants of a lane and the levels of the best
// candidate.
#pragma once

#include <cstdint>

#include "core/coded_picture.h"
#include "encoder/cuda/search/intra4x4.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/quantiser_lists.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#include "encoder/cuda/search/warp_rate.cuh"
#include "encoder/cuda/search/warp_satd.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// The constants of a lane that every macroblock needs. `Lists`: of quantiser_lists.cuh.
template <class Lists>
struct LaneConstants {
  LaneIndices lane;
  HadamardMatrix matrix;
  Intra4x4Lane intra4x4;
  typename Lists::Luma luma;
  typename Lists::Chroma chroma;
  const RateTables& rate_tables;
  [[no_unique_address]] typename Lists::Held lists;

  __device__ LaneConstants(int lane_number, const SearchConstants& constants, const RateTables& tables,
                           const Lists& scaling_lists)
      : lane(lane_number),
        matrix(lane.lane),
        intra4x4(lane),
        luma(constants.luma, lane.position, core::kDeadZoneLuma, scaling_lists.luma(constants.qp)),
        chroma(constants.chroma, lane.position, core::kDeadZoneChroma, scaling_lists.chroma(constants.qp)),
        rate_tables(tables),
        lists(scaling_lists) {}
};

// The result of a macroblock's search, the same in all lanes. Its levels, counts, modes and samples are in
// the warp's state.
struct MacroblockResult {
  core::MacroblockRecord record;  // all but intra4x4_pred_mode
  int mode_bits = 0;              // of the Intra_4x4 modes
  std::int64_t cost = 0;          // of luma by SATD, or of all by rate and distortion
};

template <bool kRdoq, class Coder>
__device__ void quantise(Coder& coder, bool by_rdoq) {
  if constexpr (kRdoq) {
    if (by_rdoq) {
      coder.quantise_by_rdoq();
      return;
    }
  }
  coder.quantise();
}

// Copies `count` 16-bit rows of levels.
__device__ inline void copy_levels(const LaneIndices& lane, const std::int16_t (*from)[16],
                                   std::int16_t (*to)[16], int count) {
#pragma unroll 1
  for (int i = lane.lane; i < 8 * count; i += 32) {
    reinterpret_cast<std::uint32_t*>(to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
  }
}

// Keeps a candidate's levels, counts and DC coefficients as the best so far.
__device__ inline void keep_trial(WarpState<true>& s, const LaneIndices& lane, int blocks) {
  copy_levels(lane, s.rd.trial_levels, s.rd.best_levels, blocks);
  if (lane.lane < blocks) s.rd.best_counts[lane.lane] = s.rd.trial_counts[lane.lane];
  if (lane.half == 0) s.rd.best_dc[lane.position] = s.dc[lane.position];
}

// Makes the best candidate the macroblock's, from slot `first` on.
__device__ inline void take_best(WarpState<true>& s, const LaneIndices& lane, int first, int blocks) {
  copy_levels(lane, s.rd.best_levels, s.levels + first, blocks);
  if (lane.lane < blocks) s.counts[first + lane.lane] = s.rd.best_counts[lane.lane];
  if (lane.half == 0) s.dc[lane.position] = s.rd.best_dc[lane.position];
  __syncwarp();
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
