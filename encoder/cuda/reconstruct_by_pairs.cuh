// Two warps a macroblock row, for batches too small to fill the device: there the length of a macroblock's
// chain of instructions is what counts.
#pragma once

#include <cstdint>

#include "encoder/cuda/constants_by_qp.cuh"
#include "encoder/cuda/macroblock_search.cuh"
#include "encoder/cuda/wavefront.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kPairsPerMultiprocessor = 8;

inline constexpr unsigned kAnyCost = 1u << 26;  // above all that SATD can come to

// A barrier that the two warps reach at places of their own.
__device__ inline void wait_for_both_warps() {
  asm volatile("barrier.sync 1, 64;" ::: "memory");
}

// What the second warp tells the first, in shared memory.
struct SideResults {
  unsigned highest_cost;  // of Intra_16x16 by SATD, whatever chroma's pattern will be
  int satd[core::kIntra16x16Modes];
  Intra16x16Neighbours neighbours;
  core::MacroblockRecord record;  // chroma's part
  std::int64_t cost;
};

// Chroma and Intra_16x16's SATD are the other warp's.
template <class MacroblockMarks>
struct PreparedByOtherWarp {
  SideResults& side;
  MacroblockMarks marks;

  // The same in all lanes.
  __device__ unsigned highest_cost() const {
    unsigned cost = 0;
    if ((threadIdx.x & 31) == 0) cost = atomicOr(&side.highest_cost, 0u);
    return __shfl_sync(kWarp, cost, 0);
  }
  __device__ void join(const LanePlace& lane, LumaStart& start, MacroblockResult& result) const {
    wait_for_both_warps();
    start.neighbours = side.neighbours;
    start.satd = side.satd[lane.lane & 3];
    result.record = side.record;
    result.cost = side.cost;
  }
};

// The second warp's share of a macroblock: what Intra_16x16 costs by SATD, then chroma.
template <bool kRd, bool kRdoq>
__device__ void search_side(WarpState<kRd>& s, const SearchConstants& constants, const LaneConstants& mine,
                            const Place& place, SideResults& side) {
  const LanePlace& lane = mine.place;
  const int slopes = plane_slopes(s, lane);
  const Intra16x16Neighbours neighbours = measure_luma_neighbours(s, place, lane, slopes);
  const int satd = measure_intra16x16(s, lane, mine.matrix, neighbours);
  const unsigned highest = highest_intra16x16_cost(constants, lane, place, satd, 0, 2);
  if (lane.lane == 0) {
    atomicExch(&side.highest_cost, highest);
    side.neighbours = neighbours;
  }
  if (lane.lane < core::kIntra16x16Modes) side.satd[lane.lane] = satd;

  MacroblockResult chroma;
  search_chroma<kRd, kRdoq>(s, constants, mine, place, slopes, chroma);
  if (lane.lane == 0) {
    side.record = chroma.record;
    side.cost = chroma.cost;
  }
}

// The first warp searches luma and hands on what the row below needs; the second searches chroma, stores what
// the macroblock came to and has the next one's source ready.
template <bool kRd, bool kRdoq, bool kQpVaries, class BatchMarking>
__global__ void __launch_bounds__(64, kPairsPerMultiprocessor)
    reconstruct_by_pairs_kernel(const __grid_constant__ BatchView batch,
                                const __grid_constant__ SearchConstants constants,
                                const __grid_constant__ Wavefront wavefront,
                                const __grid_constant__ BatchMarking marking) {
  __shared__ WarpState<kRd> s;
  __shared__ CavlcLengths lengths;
  __shared__ ConstantsByQp<kQpVaries> table;
  __shared__ SideResults side;
  __shared__ core::MacroblockRecord record;
  __shared__ unsigned shared_ticket;
  const bool first_warp = threadIdx.x < 32;
  if constexpr (kRd) lengths.fill();
  if constexpr (kQpVaries) table.fill(constants);
  LaneConstants mine(constants, lengths);
  const LanePlace& lane = mine.place;
  if (first_warp) s.counts[lane.lane] = 0;  // slots 27 to 31 stay so

  if (threadIdx.x == 0) shared_ticket = atomicAdd(wavefront.ticket, 1u);
  wait_for_both_warps();
  Row row(batch, wavefront, shared_ticket);
  row.move_to(batch, 0);
  unsigned published_above = 0;
  SourceWords source;
  auto marks = marking.of(batch, row.place);
  if (!first_warp) source = fetch_source(batch, row.place, lane);
  for (int mb_x = 0; mb_x < batch.mb_width; ++mb_x) {
    // The macroblock before has been searched.
    if (first_warp) {
      if (mb_x > 0) publish_macroblock(s, wavefront, row, lane);
      row.move_to(batch, mb_x);
      marks = marking.of(batch, row.place);
      load_neighbours(s, batch, wavefront, row, lane, published_above);
    } else {
      put_source(s, batch.format, lane, source);
      if (lane.lane == 0) atomicExch(&side.highest_cost, kAnyCost);
      __syncwarp();
      measure_source(s, lane, mine.matrix);
      if (mb_x > 0) store_macroblock(s, batch, row.place, lane, record);
      row.move_to(batch, mb_x);
    }
    wait_for_both_warps();
    if (first_warp) {
      const SearchConstants& here = table.of(constants, batch, row.place, mine);
      MacroblockResult result;
      search_luma<kRd, kRdoq>(s, here, mine, row.place, LumaStart{},
                              PreparedByOtherWarp<decltype(marks)>{side, marks}, result);
      finish_macroblock(s, here, lane, result);
      if (lane.lane == 0) record = result.record;
    } else {
      if (mb_x + 1 < batch.mb_width) {
        Place next = row.place;
        ++next.mb_x;
        source = fetch_source(batch, next, lane);
      }
      search_side<kRd, kRdoq>(s, table.of(constants, batch, row.place, mine), mine, row.place, side);
      wait_for_both_warps();  // the first warp joins here
    }
    wait_for_both_warps();
  }
  if (first_warp) {
    publish_macroblock(s, wavefront, row, lane);
  } else {
    store_macroblock(s, batch, row.place, lane, record);
  }
}

}  // namespace cu264::encoder::cuda
