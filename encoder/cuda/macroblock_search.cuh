// One macroblock on one warp: chroma, then luma, or I_PCM. Decides as encoder/cpu/macroblock_search_inl.h
// does.
#pragma once

#include <cstdint>

#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "encoder/cuda/chroma_search.cuh"
#include "encoder/cuda/luma_search.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kPcmBits = 9 + 7 + 384 * 8;
inline constexpr int kMostHeaderBits = 100;
inline constexpr int kSurelyBelowPcm = 64;  // levels

// Exact size of macroblock_layer: a block a lane.
template <bool kRd>
__device__ int macroblock_bits(const WarpState<kRd>& s, const SearchConstants& constants,
                               const LanePlace& lane, const MacroblockResult& result) {
  int bits = 0;
  const int slot = lane.lane;
  if (slot < core::kBlocksPerMacroblock && core::slot_is_coded(result.record, slot)) {
    int context = constants.rate.chroma_dc_context();
    if (slot < core::kSlotChromaDc) {
      const int block = slot == core::kSlotLumaDc ? 0 : slot - core::kSlotLuma;
      const int bx = core::luma_block_x(block), by = core::luma_block_y(block);
      context = s.luma_counts.context(constants.rate, bx, by);
    } else if (slot >= core::kSlotChromaAc) {
      const int i = slot - core::kSlotChromaAc, bx = i & 1, by = (i >> 1) & 1;
      context = s.chroma_counts[i >> 2].context(constants.rate, bx, by);
    }
    bits = constants.rate.block_bits(s.levels[slot], core::slot_category(result.record.kind, slot), context);
  }
  return warp_sum(bits) + constants.rate.macroblock_header_bits(result.record, result.mode_bits);
}

// Only DC levels reach the limit, at these QPs.
inline constexpr int kLastClippingQp = 3;
template <bool kRd>
__device__ bool dc_is_clipped(const WarpState<kRd>& s, const LanePlace& lane,
                              const MacroblockResult& result) {
  int level = 0;
  if (lane.lane < 16) {
    if (result.record.kind == core::MacroblockKind::intra16x16)
      level = s.levels[core::kSlotLumaDc][lane.lane];
  } else if (lane.lane < 24) {
    level = s.levels[core::kSlotChromaDc + ((lane.lane >> 2) & 1)][lane.lane & 3];
  }
  return __any_sync(kWarp, abs(level) >= core::kMaxLevel);
}

// Of all levels that are there, and perhaps of more.
template <bool kRd>
__device__ int sum_of_magnitudes(const WarpState<kRd>& s, const LanePlace& lane) {
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

template <bool kRd>
__device__ bool pcm_is_better(const WarpState<kRd>& s, const SearchConstants& constants,
                              const LanePlace& lane, const MacroblockResult& result) {
  if (kRd && core::rd_cost(0, kPcmBits, constants.rd_lambda) < result.cost) return true;
  // A decision by SATD does not see what clipping does to the picture.
  if (!kRd && constants.qp <= kLastClippingQp && dc_is_clipped(s, lane, result)) return true;
  const int levels = warp_sum(lane.lane < core::kBlocksPerMacroblock ? s.counts[lane.lane] : 0);
  if (levels <= kSurelyBelowPcm) return false;
  const int bound = kMostHeaderBits + constants.rate.residual_bits_bound(levels, sum_of_magnitudes(s, lane));
  return bound > kPcmBits && macroblock_bits(s, constants, lane, result) > kPcmBits;
}

template <bool kRd>
__device__ void take_pcm(WarpState<kRd>& s, const LanePlace& lane, MacroblockResult& result) {
  const int i = lane.lane;
  result.record = core::MacroblockRecord{};
  result.record.kind = core::MacroblockKind::pcm;
  __syncwarp();  // all lanes have counted the bits of what is replaced here
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

// I_PCM where it is better; counts the rest.
template <bool kRd>
__device__ void finish_macroblock(WarpState<kRd>& s, const SearchConstants& constants, const LanePlace& lane,
                                  MacroblockResult& result) {
  if (pcm_is_better(s, constants, lane, result)) {
    take_pcm(s, lane, result);
  } else {
    const int count = lane.lane < core::kBlocksPerMacroblock ? s.counts[lane.lane] : 0;
    result.record.nonzero_blocks = __ballot_sync(kWarp, count != 0);
  }
  result.record.qp = static_cast<std::uint8_t>(constants.qp);
}

template <bool kRd, bool kRdoq, class MacroblockMarks>
__device__ MacroblockResult search_macroblock(WarpState<kRd>& s, const SearchConstants& constants,
                                              const LaneConstants& mine, const Place& place,
                                              const MacroblockMarks& marks) {
  MacroblockResult result;
  const int slopes = plane_slopes(s, mine.place);
  search_chroma<kRd, kRdoq>(s, constants, mine, place, slopes, result);
  measure_source(s, mine.place, mine.matrix);
  LumaStart start;
  start.neighbours = measure_luma_neighbours(s, place, mine.place, slopes);
  start.satd = measure_intra16x16(s, mine.place, mine.matrix, start.neighbours);
  __syncwarp();
  const int pattern = result.record.coded_block_pattern >> 4;
  const Prepared<MacroblockMarks> prepared{
      highest_intra16x16_cost(constants, mine.place, place, start.satd, pattern, pattern), marks};
  search_luma<kRd, kRdoq>(s, constants, mine, place, start, prepared, result);
  finish_macroblock(s, constants, mine.place, result);
  return result;
}

}  // namespace cu264::encoder::cuda
