// Counts and optimises an 8x8 block as one block of 64 levels, which is how CABAC codes it.
#pragma once

#include <cstdint>

#include "core/luma_decision.h"
#include "encoder/cuda/search/block8x8_coder.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_cabac_rdoq.cuh"
#include "encoder/cuda/search/warp_rate.cuh"

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

// Quantises the block by RDOQ and leaves its levels and counts in the warp's state. Returns its bits.
template <class Rate>
__device__ int quantise_by_rdoq(Coder8x8<true>& coder, const LaneIndices& lane, const Rate& rate,
                                const Block8x8& b, const Samples8x8& samples) {
  WarpState<true>& s = coder.s;
  const LaneQuantiser8x8& quantiser = coder.quantiser;
  const std::int32_t* const all_scaled = coder.scaled_coefficients(samples);
  CabacRdoq<32, 2> search(*rate.costs, core::kCost8x8, lane.lane, 0);
  bool negative[2];
  for (int i = 0; i < 2; ++i) {
    const int scaled = all_scaled[interleaved_place(2 * lane.lane + i)];
    negative[i] = scaled < 0;
    search.set(i, core::absolute(scaled), quantiser.shift);
  }
  int bits = 0;
  if (__any_sync(kWarp, (search.level[0] | search.level[1]) != 0)) bits = search.optimise();
  std::int16_t* const stored = s.levels[b.slot()];
  unsigned nonzero[2];
  for (int i = 0; i < 2; ++i) {
    const int level = negative[i] ? -search.level[i] : search.level[i];
    stored[interleaved_place(2 * lane.lane + i)] = static_cast<std::int16_t>(level);
    nonzero[i] = __ballot_sync(kWarp, level != 0);
  }
  // Interleaved block i has the levels of every fourth position from i on.
  if (lane.lane < 4) {
    const unsigned of_parity = (lane.lane & 1) != 0 ? nonzero[1] : nonzero[0];
    coder.set_count(b, lane.lane, __popc(of_parity & (lane.lane < 2 ? 0x55555555u : 0xaaaaaaaau)));
  }
  __syncwarp();
  return bits;
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
