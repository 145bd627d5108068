// The search of one macroblock on one warp: chroma, then luma, then the decision for or against I_PCM.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/pcm_decision.h"
#include "encoder/cuda/search/chroma_search.cuh"
#include "encoder/cuda/search/luma_search.cuh"
#include "encoder/cuda/search/residual_range.cuh"
#include "encoder/cuda/search/search_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// What core/pcm_decision.h asks to decide between the macroblock as searched and I_PCM.
template <bool kRd, bool kIntra8x8, class Lists>
struct PcmSearch {
  const WarpState<kRd>& s;
  const SearchConstants& constants;
  const LaneConstants<Lists>& mine;
  const LaneIndices& lane;
  const MacroblockResult& result;

  __device__ int rd_lambda() const { return constants.rd_lambda; }
  __device__ int qp() const { return constants.qp; }
  static constexpr __device__ int last_clipping_qp() {
    return Lists::kFlat ? core::kLastClippingQp : core::kLastWeightedClippingQp;
  }
  __device__ bool leaves_range() const {
    if constexpr (Lists::kFlat) {
      return false;
    } else {
      return residual_leaves_range(s, mine, result.record, constants.qp);
    }
  }
  static constexpr __device__ bool by_rd() { return kRd; }
  __device__ std::int64_t cost() const { return result.cost; }

  __device__ bool any_is_clipped() const {
    int level = 0;
    if (lane.lane < 16) {
      if (result.record.kind == core::MacroblockKind::intra16x16)
        level = s.levels[core::kSlotLumaDc][lane.lane];
    } else if (lane.lane < 24) {
      level = s.levels[core::kSlotChromaDc + ((lane.lane >> 2) & 1)][lane.lane & 3];
    }
    bool clipped = core::is_clipped(level);
    if constexpr (!Lists::kFlat) clipped = clipped || any_block_is_clipped(s, lane);
    if constexpr (kIntra8x8) {
      if (core::has_large_transform(result.record)) {
        for (int i = 0; i < 8; ++i) {
          clipped = clipped || core::is_clipped(s.levels[core::kSlotLuma + 2 * i + lane.half][lane.position]);
        }
      }
    }
    return __any_sync(kWarp, clipped);
  }
  __device__ int count_levels() const {
    return warp_sum(lane.lane < core::kBlocksPerMacroblock ? s.counts[lane.lane] : 0);
  }
  // The sum over all coded levels; stale levels of empty blocks may be counted too.
  __device__ int sum_of_magnitudes() const {
    constexpr int kWords = core::kLevelsPerMacroblock / 2;
    const std::uint32_t* const words = reinterpret_cast<const std::uint32_t*>(s.levels);
    int sum = 0;
#pragma unroll 1
    for (int k = lane.lane; k < kWords; k += 32) {
      const int word = static_cast<int>(words[k]);
      sum += abs(static_cast<std::int16_t>(word)) + abs(word >> 16);
    }
    return warp_sum(sum);
  }
  // Each lane counts the bits of one block.
  __device__ int macroblock_bits() const {
    const core::CavlcRate rate{constants.transform_8x8_mode};
    const bool known = std::is_same_v<SearchRate, core::CavlcRate> || core::is_inter(result.record.kind);
    const int mode_bits = known ? result.mode_bits : core::most_mode_bits(result.record.kind);
    int bits = 0;
    const int slot = lane.lane;
    if (slot < core::kBlocksPerMacroblock) {
      bits = core::slot_bits(rate, result.record, slot, s.levels[slot], s.luma_counts, s.chroma_counts);
    }
    return warp_sum(bits) + rate.macroblock_header_bits(result.record, mode_bits);
  }
};

template <bool kRd>
__device__ void take_pcm(WarpState<kRd>& s, const LaneIndices& lane, MacroblockResult& result) {
  const int i = lane.lane;
  result.record = core::MacroblockRecord{};
  result.record.kind = core::MacroblockKind::pcm;
  __syncwarp();  // all lanes have counted the bits of what is overwritten here
  for (int k = i; k < 64; k += 32) {
    *reinterpret_cast<std::uint32_t*>(s.canvas.at(4 * (k & 3), k >> 2)) =
        *reinterpret_cast<const std::uint32_t*>(&s.luma[k >> 2][4 * (k & 3)]);
  }
  reinterpret_cast<std::uint32_t*>(s.chroma_out)[i] = reinterpret_cast<const std::uint32_t*>(s.chroma)[i];
  const bool counted = (i >= core::kSlotLuma && i < core::kSlotChromaDc) ||
                       (i >= core::kSlotChromaAc && i < core::kBlocksPerMacroblock);
  s.counts[i] = counted ? 16 : 0;
  if (i < 16) {
    s.luma_counts.at(i & 3, i >> 2) = 16;
    s.modes.at(i & 3, i >> 2) = core::kIntra4x4Dc;
  } else if (i < 24) {
    s.chroma_counts[(i >> 2) & 1].at(i & 1, (i >> 1) & 1) = 16;
  }
  __syncwarp();
}

// Replaces the macroblock by I_PCM where that is better, and otherwise records which blocks are not empty.
template <bool kIntra8x8, bool kRd, class Lists>
__device__ void finish_macroblock(WarpState<kRd>& s, const SearchConstants& constants,
                                  const LaneConstants<Lists>& mine, MacroblockResult& result) {
  const LaneIndices& lane = mine.lane;
  if constexpr (kIntra8x8) result.record.transform_8x8_mode = true;
  if (core::pcm_is_better(PcmSearch<kRd, kIntra8x8, Lists>{s, constants, mine, lane, result})) {
    take_pcm(s, lane, result);
  } else {
    const int count = lane.lane < core::kBlocksPerMacroblock ? s.counts[lane.lane] : 0;
    result.record.nonzero_blocks = __ballot_sync(kWarp, count != 0);
  }
  result.record.qp = static_cast<std::uint8_t>(constants.qp);
}

// `warps`: those of the block, which meet between the steps of the search.
template <bool kRd, bool kRdoq, class Lists, class MacroblockMarks, class Warps, class Workspace>
__device__ MacroblockResult search_macroblock(WarpState<kRd>& s, const SearchConstants& constants,
                                              const LaneConstants<Lists>& mine,
                                              const MacroblockPosition& position,
                                              const MacroblockMarks& marks, const Warps& warps,
                                              const Workspace& workspace) {
  MacroblockResult result;
  const int slopes = plane_slopes(s, mine.lane);
  search_chroma<kRd, kRdoq>(s, constants, mine, position, slopes, result);
  measure_source<Workspace::kAny>(s, mine.lane, mine.matrix);
  LumaStart start;
  start.neighbours = measure_luma_neighbours(s, position, mine.lane, slopes);
  start.satd = measure_intra16x16(s, mine.lane, mine.matrix, start.neighbours);
  __syncwarp();
  // Intra_8x8 is measured against the highest cost that Intra_16x16 may have (core/luma_decision.h).
  const int pattern =
      Workspace::kAny ? SearchRate::kCostliestChromaPattern : result.record.coded_block_pattern >> 4;
  const SideSearchDone<MacroblockMarks> side_search{
      highest_intra16x16_cost(constants, mine.lane, position, start.satd, pattern, pattern), marks};
  if constexpr (kRd) warps.meet();
  search_luma<kRd, kRdoq>(s, constants, mine, position, start, side_search, warps, workspace, result);
  finish_macroblock<Workspace::kAny>(s, constants, mine, result);
  return result;
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
