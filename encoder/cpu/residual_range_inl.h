// Tells whether a macroblock's residual stays within the ranges of core/value_range.h.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/transform.h"
#include "core/value_range.h"
#include "encoder/cpu/macroblock_inl.h"

namespace cu264::encoder::CU264_ISA {

static inline bool luma_leaves_range(const MacroblockContext& mb, core::MacroblockKind kind,
                                     const LumaCandidate& luma) {
  if (kind == core::MacroblockKind::intra8x8) {
    for (int block = 0; block < 4; ++block) {
      InterleavedLevels levels;
      std::int16_t transposed[64];
      std::int32_t coefficients[64];
      std::memcpy(levels, luma.levels[core::kSlotLuma + 4 * block], sizeof levels);
      from_interleaved(levels, transposed);
      for (int i = 0; i < 64; ++i) {
        coefficients[8 * (i & 7) + (i >> 3)] = core::dequantise8x8(
            transposed[i], mb.luma_quantiser8x8.level_scale_at[i], mb.luma_quantiser8x8.qp_per);
      }
      if (core::leaves_range8x8(coefficients)) return true;
    }
    return false;
  }
  const bool whole = kind == core::MacroblockKind::intra16x16;
  std::int32_t dc[16] = {};
  if (whole) {
    std::int32_t levels[16];
    for (int k = 0; k < 16; ++k) levels[core::zigzag_to_raster(k)] = luma.levels[core::kSlotLumaDc][k];
    const bool left = core::dc_leaves_range(
        levels, [](auto& values) { core::hadamard4x4(values); },
        [&](int value) { return core::dequantise_luma_dc(value, mb.luma_quantiser); }, dc);
    if (left) return true;
  }
  for (int block = 0; block < 16; ++block) {
    std::int32_t coefficients[16];
    dequantise_block(luma.levels[core::kSlotLuma + block], whole ? 1 : 0, mb.luma_quantiser, coefficients);
    if (whole) coefficients[0] = dc[4 * core::luma_block_y(block) + core::luma_block_x(block)];
    if (core::leaves_range4x4(coefficients)) return true;
  }
  return false;
}

static inline bool chroma_leaves_range(const MacroblockContext& mb, const ChromaCandidate& chroma) {
  for (int c = 0; c < 2; ++c) {
    std::int32_t levels[4], dc[4];
    for (int k = 0; k < 4; ++k) levels[k] = chroma.levels[c][k];
    const bool left = core::dc_leaves_range(
        levels, [](auto& values) { core::hadamard2x2(values); },
        [&](int value) { return core::dequantise_chroma_dc(value, mb.chroma_quantisers[c]); }, dc);
    if (left) return true;
    for (int block = 0; block < 4; ++block) {
      std::int32_t coefficients[16];
      dequantise_block(chroma.levels[2 + 4 * c + block], 1, mb.chroma_quantisers[c], coefficients);
      coefficients[0] = dc[block];
      if (core::leaves_range4x4(coefficients)) return true;
    }
  }
  return false;
}

static inline bool residual_leaves_range(const MacroblockContext& mb, const core::MacroblockRecord& record,
                                         const LumaCandidate& luma, const ChromaCandidate& chroma) {
  return luma_leaves_range(mb, record.kind, luma) || chroma_leaves_range(mb, chroma);
}

}  // namespace cu264::encoder::CU264_ISA
