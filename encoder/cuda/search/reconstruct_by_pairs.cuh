// Encodes each macroblock row with two warps, for batches that are too small to fill the device. What counts
// there is the length of a macroblock's chain of dependent instructions.
#pragma once

#include <cstdint>

#include "encoder/cuda/search/constants_by_qp.cuh"
#include "encoder/cuda/search/macroblock_search.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/tagged_row.cuh"
#include "encoder/cuda/search/warps_in_step.cuh"
#include "encoder/cuda/search/wavefront.cuh"
#include "encoder/cuda/tuned.h"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

inline constexpr unsigned kAnyCost = 1u << 26;  // above any cost by SATD

// A barrier that the two warps reach at different points of the code.
__device__ inline void wait_for_both_warps() {
  asm volatile("barrier.sync 1, 64;" ::: "memory");
}

// The second warp's results for the first warp, in shared memory.
struct SideResults {
  unsigned highest_cost;  // upper bound of Intra_16x16's cost by SATD for every chroma pattern
  int satd[core::kIntra16x16Modes];
  Intra16x16Neighbours neighbours;
  core::MacroblockRecord record;  // the members that describe chroma
  std::int64_t cost;
};

// The other warp searches chroma and measures the SATD of Intra_16x16.
template <class MacroblockMarks>
struct SideSearchByOtherWarp {
  SideResults& side;
  MacroblockMarks marks;
  static constexpr bool kWaits = true;

  __device__ unsigned ask_highest_cost() const {
    return (threadIdx.x & 31) == 0 ? atomicOr(&side.highest_cost, 0u) : 0;
  }
  // The result is the same in all lanes.
  __device__ unsigned highest_cost(unsigned asked) const { return __shfl_sync(kWarp, asked, 0); }
  __device__ unsigned settled_highest_cost() const {
    unsigned cost = highest_cost(ask_highest_cost());
    for (; cost == kAnyCost; cost = highest_cost(ask_highest_cost())) __nanosleep(20);
    return cost;
  }
  __device__ void join(const LaneIndices& lane, LumaStart& start, MacroblockResult& result) const {
    wait_for_both_warps();
    start.neighbours = side.neighbours;
    start.satd = side.satd[lane.lane & 3];
    result.record = side.record;
    result.cost = side.cost;
  }
};

// The second warp's share of a macroblock: the cost of Intra_16x16 by SATD, then chroma.
template <bool kRd, bool kRdoq, class Lists>
__device__ void search_side(WarpState<kRd>& s, const SearchConstants& constants,
                            const LaneConstants<Lists>& mine, const MacroblockPosition& position,
                            SideResults& side) {
  const LaneIndices& lane = mine.lane;
  const int slopes = plane_slopes(s, lane);
  const Intra16x16Neighbours neighbours = measure_luma_neighbours(s, position, lane, slopes);
  const int satd = measure_intra16x16(s, lane, mine.matrix, neighbours);
  const unsigned highest =
      highest_intra16x16_cost(constants, lane, position, satd, 0, SearchRate::kCostliestChromaPattern);
  if (lane.lane == 0) {
    atomicExch(&side.highest_cost, highest);
    side.neighbours = neighbours;
  }
  if (lane.lane < core::kIntra16x16Modes) side.satd[lane.lane] = satd;

  MacroblockResult chroma;
  search_chroma<kRd, kRdoq>(s, constants, mine, position, slopes, chroma);
  if (lane.lane == 0) {
    side.record = chroma.record;
    side.cost = chroma.cost;
  }
}

// The words of the BottomRow above the row's current macroblock, one in each lane.
__device__ inline std::uint32_t wait_for_word_above(const Row<TaggedRow>& row, const BatchView& batch,
                                                    int mb_x, const LaneIndices& lane) {
  if (!row.position.above) return word_of_nothing_above(lane);
  return wait_for_tagged(row.bottom[mb_x - batch.mb_width], lane);
}

// The first warp searches luma and publishes what the row below needs. The second warp searches chroma,
// stores the finished macroblock, fetches and measures the source of the next one, and waits for the row
// above.
template <bool kRd, bool kRdoq, bool kQpVaries, bool kIntra8x8, class BatchMarks, class Lists>
__global__ void __launch_bounds__(64, tuned::kPairsOfMultiprocessor)
    reconstruct_by_pairs_kernel(const __grid_constant__ BatchView batch,
                                const __grid_constant__ ConstantsByQp<kQpVaries> constants,
                                const __grid_constant__ Wavefront<TaggedRow> wavefront,
                                const __grid_constant__ BatchMarks mark_table,
                                const __grid_constant__ Lists lists) {
  __shared__ WarpState<kRd> s;
  __shared__ RateTables rate_tables;
  __shared__ Intra8x8Shared<kIntra8x8> intra8x8;
  __shared__ typename Intra8x8Shared<kIntra8x8>::Space intra8x8_space;
  __shared__ SideResults side;
  __shared__ core::MacroblockRecord record;
  __shared__ std::uint32_t above[32];  // words of the BottomRow above the next macroblock, by lane
  __shared__ unsigned shared_ticket;
  const bool first_warp = threadIdx.x < 32;
  if constexpr (kRd) rate_tables.fill();
  intra8x8.fill();
  LaneConstants mine(static_cast<int>(threadIdx.x & 31), constants.initial(), rate_tables, lists);
  const LaneIndices& lane = mine.lane;
  if (first_warp) s.counts[lane.lane] = 0;  // slots 27 to 31 stay zero

  if (threadIdx.x == 0) shared_ticket = atomicAdd(wavefront.ticket, 1u);
  wait_for_both_warps();
  Row row(batch, wavefront, shared_ticket);
  row.move_to(batch, 0);
  SourceWords source;
  SourceMeasures<kIntra8x8> measure;
  auto marks = mark_table.of(batch, row.position);
  if (!first_warp) {
    source = fetch_source(batch, row.position, lane);
    measure = measure_source<kIntra8x8>(lane, mine.matrix, source);
    above[lane.lane] = wait_for_word_above(row, batch, 0, lane);
  }
  wait_for_both_warps();
  for (int mb_x = 0; mb_x < batch.mb_width; ++mb_x) {
    // Both warps have finished the previous macroblock.
    if (first_warp) {
      row.move_to(batch, mb_x);
      marks = mark_table.of(batch, row.position);
      shift_left_neighbours(s, row.position, lane);
      put_above_neighbours(s, lane, above[lane.lane]);
    } else {
      put_source(s, batch.format, lane, source);
      if (lane.lane == 0) atomicExch(&side.highest_cost, kAnyCost);
      put_measure(s, lane, measure);
      if (mb_x > 0) store_macroblock(s, batch, row.position, lane, record);
      row.move_to(batch, mb_x);
    }
    wait_for_both_warps();
    if (first_warp) {
      const SearchConstants& here = constants.of(batch, row.position, mine);
      MacroblockResult result;
      TaggedRow* const above_right =
          row.position.above_right ? row.bottom + mb_x + 1 - batch.mb_width : nullptr;
      search_luma<kRd, kRdoq>(s, here, mine, row.position, LumaStart{},
                              SideSearchByOtherWarp<decltype(marks)>{side, marks}, WarpsThatNeverMeet(),
                              intra8x8.workspace(intra8x8_space, AboveRightTagged{above_right}), result);
      finish_macroblock<kIntra8x8>(s, here, mine, result);
      __syncwarp();
      publish_tagged(s, row.bottom[mb_x], lane);
      if (lane.lane == 0) record = result.record;
    } else {
      const bool last = mb_x + 1 == batch.mb_width;
      if (!last) {
        MacroblockPosition next = row.position;
        ++next.mb_x;
        source = fetch_source(batch, next, lane);
      }
      search_side<kRd, kRdoq>(s, constants.of(batch, row.position, mine), mine, row.position, side);
      wait_for_both_warps();  // the first warp waits for this in join()
      if (!last) {
        measure = measure_source<kIntra8x8>(lane, mine.matrix, source);
        above[lane.lane] = wait_for_word_above(row, batch, mb_x + 1, lane);
      }
    }
    wait_for_both_warps();
  }
  if (!first_warp) store_macroblock(s, batch, row.position, lane, record);
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
