// Counts and optimises an 8x8 block as four interleaved blocks, which is how CAVLC codes it.
#pragma once

#include <cstdint>

#include "core/luma_decision.h"
#include "encoder/cuda/search/block8x8_coder.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_rate.cuh"
#include "encoder/cuda/search/warp_rdoq.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// The bits of a candidate's four interleaved blocks, the same in all lanes.
template <class Rate>
__device__ int trial_bits(const WarpState<true>& s, const LaneIndices& lane, const Rate& rate,
                          const Block8x8& b, const std::int16_t* levels, std::uint32_t counts) {
  const auto count_of = [counts](int block) { return static_cast<int>(counts >> (8 * block)) & 255; };
  int bits = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    const int i = 2 * pass + lane.half;
    const std::int8_t* const cells = s.luma_counts.cells + b.grid_of(i);
    const int left = lane.half != 0 ? count_of(i - 1) : cells[-1];
    const int above = pass != 0 ? count_of(i - 2) : cells[-BlockGrid<4>::kPitch];
    bits += rate.share(lane, levels[16 * i + lane.position], core::BlockCategory::luma_4x4,
                       rate.block_context(left, above));
  }
  return warp_sum(bits);
}

// Quantises the block by RDOQ and leaves its levels and counts in the warp's state. The context of an
// interleaved block depends on the final counts of those before it. Returns the bits of all four.
template <class Rate>
__device__ int quantise_by_rdoq(Coder8x8<true>& coder, const LaneIndices& lane, const Rate& rate,
                                const Block8x8& b, const Samples8x8& samples) {
  WarpState<true>& s = coder.s;
  const LaneQuantiser8x8& quantiser = coder.quantiser;
  const std::int32_t* const all_scaled = coder.scaled_coefficients(samples);
  int bits = 0;
#pragma unroll 1
  for (int pass = 0; pass < 3; ++pass) {  // block 0, then 1 and 2, then 3
    const bool active = pass == 1 || lane.half == 0;
    const int i = pass == 0 ? 0 : pass == 1 ? 1 + lane.half : 3;
    const std::int8_t* const cells = s.luma_counts.cells + b.grid_of(i);
    const int context = rate.block_context(cells[-1], cells[-BlockGrid<4>::kPitch]);
    const int scaled = all_scaled[16 * i + lane.position];
    const RdoqLevel chosen =
        choose_level_by_rdoq(s.rd.variants, rate, lane, core::absolute(scaled), scaled < 0,
                             core::BlockCategory::luma_4x4, quantiser.shift, context, active);
    const unsigned nonzero = (__ballot_sync(kWarp, chosen.level != 0) >> (16 * lane.half)) & 0xffff;
    __syncwarp();  // both halves have read their contexts
    if (active) {
      bits += chosen.share;
      s.levels[b.slot() + i][lane.position] = static_cast<std::int16_t>(chosen.level);
      if (lane.position == 0) coder.set_count(b, i, __popc(nonzero));
    }
    __syncwarp();
  }
  return warp_sum(bits);
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
