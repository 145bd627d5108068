// What the decision for I_PCM asks where scaling lists are not flat: whether levels are clipped, and whether
// the residual stays within the ranges of core/value_range.h. Each lane looks at one block.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/pcm_decision.h"
#include "core/transform.h"
#include "core/value_range.h"
#include "core/weighted_quant.h"
#include "encoder/cuda/search/candidates.cuh"
#include "encoder/cuda/search/quantiser_lists.cuh"

namespace cu264::encoder::cuda {

// Returns whether a level is clipped in the block that the lane looks at, which is never a block of DC
// levels. Empty blocks hold old levels.
template <bool kRd>
__device__ bool any_block_is_clipped(const WarpState<kRd>& s, const LaneIndices& lane) {
  const bool luma = lane.lane < 16;
  const int slot = luma ? core::kSlotLuma + lane.lane : core::kSlotChromaAc + lane.lane - 16;
  if (lane.lane >= 24 || s.counts[slot] == 0) return false;
  bool clipped = false;
#pragma unroll 1
  for (int k = 0; k < 16; ++k) clipped = clipped || core::is_clipped(s.levels[slot][k]);
  return clipped;
}

// The levels of a 4x4 block in coding order from zigzag position `first` on, to coefficients in raster order.
// `levels` is null for an empty block.
__device__ inline void dequantise_block(const std::int16_t* levels, int first, int qp,
                                        const std::uint8_t* list, std::int32_t (&coefficients)[16]) {
  const core::WeightedInverse inverse = core::weighted_inverse(qp);
#pragma unroll 1
  for (int k = first; k < 16; ++k) {
    const int raster = core::zigzag_to_raster(k);
    const int level = levels == nullptr ? 0 : levels[k - first];
    coefficients[raster] =
        core::dequantise_weighted(level, core::weighted_dequant(qp, raster, list[raster]), inverse);
  }
}

// Tells whether 4x4 block `block` of luma leaves the range.
template <bool kRd>
__device__ bool luma4x4_leaves_range(const WarpState<kRd>& s, const LaneConstants<WeightedLists>& mine,
                                     bool intra16x16, int qp, int block) {
  const int slot = core::kSlotLuma + block;
  std::int32_t coefficients[16];
  dequantise_block(s.counts[slot] != 0 ? s.levels[slot] : nullptr, intra16x16 ? 1 : 0, qp, mine.lists.luma4x4,
                   coefficients);
  if (intra16x16) {
    std::int32_t levels[16], dc[16];
    for (int k = 0; k < 16; ++k) levels[core::zigzag_to_raster(k)] = s.levels[core::kSlotLumaDc][k];
    const bool left = core::dc_leaves_range(
        levels, [](auto& values) { core::hadamard4x4(values); },
        [&](int value) { return core::dequantise_luma_dc(value, mine.luma.dc); }, dc);
    if (left) return true;
    coefficients[0] = dc[4 * core::luma_block_y(block) + core::luma_block_x(block)];
  }
  return core::leaves_range4x4(coefficients);
}

// Tells whether 8x8 block `block` of luma does.
template <bool kRd>
__device__ bool luma8x8_leaves_range(const WarpState<kRd>& s, const WeightedLists& lists, int qp, int block) {
  const int slot = core::kSlotLuma + 4 * block;
  std::int32_t coefficients[64];
#pragma unroll 1
  for (int k = 0; k < 64; ++k) {
    const int raster = core::zigzag8x8_to_raster(k);
    const int level = s.levels[slot + core::interleaved_block(k)][core::interleaved_level(k)];
    coefficients[raster] =
        core::dequantise8x8(level, core::weighted_level_scale8x8(qp, raster, lists.luma8x8[raster]), qp / 6);
  }
  return core::leaves_range8x8(coefficients);
}

// Tells whether chroma block i does; those of Cb come before those of Cr.
template <bool kRd>
__device__ bool chroma_leaves_range(const WarpState<kRd>& s, const LaneConstants<WeightedLists>& mine, int qp,
                                    int i) {
  const int c = i >> 2, slot = core::kSlotChromaAc + i, dc_slot = core::kSlotChromaDc + c;
  std::int32_t levels[4], dc[4], coefficients[16];
  for (int k = 0; k < 4; ++k) levels[k] = s.counts[dc_slot] != 0 ? s.levels[dc_slot][k] : 0;
  const core::Quantiser q = of_component(mine.chroma, c).dc;
  const bool left = core::dc_leaves_range(
      levels, [](auto& values) { core::hadamard2x2(values); },
      [&](int value) { return core::dequantise_chroma_dc(value, q); }, dc);
  if (left) return true;
  dequantise_block(s.counts[slot] != 0 ? s.levels[slot] : nullptr, 1, core::chroma_qp(qp),
                   c == 0 ? mine.lists.cb4x4 : mine.lists.cr4x4, coefficients);
  coefficients[0] = dc[i & 3];
  return core::leaves_range4x4(coefficients);
}

// Tells all lanes whether the macroblock's residual leaves the range.
template <bool kRd>
__device__ bool residual_leaves_range(const WarpState<kRd>& s, const LaneConstants<WeightedLists>& mine,
                                      const core::MacroblockRecord& record, int qp) {
  const int i = mine.lane.lane;
  bool left = false;
  if (i >= 24) {
  } else if (i >= 16) {
    left = chroma_leaves_range(s, mine, qp, i - 16);
  } else if (record.kind != core::MacroblockKind::intra8x8) {
    left = luma4x4_leaves_range(s, mine, record.kind == core::MacroblockKind::intra16x16, qp, i);
  } else if (i < 4) {
    left = luma8x8_leaves_range(s, mine.lists, qp, i);
  }
  return __any_sync(kWarp, left);
}

}  // namespace cu264::encoder::cuda
