// The input of one macroblock's search (source, neighbours), and the result of a candidate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/block.h"
#include "core/quant.h"
#include "encoder/cpu/block8x8_coding_inl.h"
#include "encoder/cpu/block_coding_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/reconstruct_isa.h"
#include "encoder/cpu_picture.h"
#include "encoder/presets.h"

namespace cu264::encoder::CU264_ISA {

// total_coeff of the blocks around and in a macroblock for one colour component, so that nA and nB of block
// (x, y) are at (x - 1, y) and (x, y - 1). Blocks that are not available hold kUnavailable.
template <int kBlocks>
struct CoeffCounts {
  static constexpr int kUnavailable = -1;
  std::int8_t count[kBlocks + 1][kBlocks + 1];
  std::int8_t& at(int x, int y) { return count[y + 1][x + 1]; }
  int at(int x, int y) const { return count[y + 1][x + 1]; }

  // The rate model's context of block (x, y).
  template <class Rate>
  int context(const Rate& rate, int x, int y) const {
    return rate.block_context(at(x - 1, y), at(x, y - 1));
  }
};

struct MacroblockContext {
  // Lambdas, quantisers and what the preset asks for: fixed for the slice.
  SearchParams search;
  SearchRate rate;
  int satd_lambda = 0;
  int chroma_satd_lambda = 0;
  int rd_lambda = 0;
  int chroma_error_weight = 0;
  PlaneQuantiser luma_quantiser;
  PlaneQuantiser chroma_quantisers[2];  // of Cb and Cr
  Quantiser8x8At luma_quantiser8x8;
  bool weighted = false;                           // the scaling lists are not flat
  const InterLevelLimits* inter_limits = nullptr;  // where inter macroblocks are coded by the dead zone

  // This macroblock.
  bool left = false;
  bool above = false;
  bool above_right = false;
  bool corner = false;
  const core::MacroblockRecord* left_mb = nullptr;  // null where not available
  const core::MacroblockRecord* above_mb = nullptr;

  alignas(32) std::uint8_t luma[16][16];        // source
  alignas(32) std::uint8_t chroma[8][16];       // source: Cb in columns 0..7, Cr in 8..15
  alignas(32) std::uint8_t luma_above[1 + 16];  // reconstructed: corner, row above
  alignas(32) std::uint8_t luma_left[1 + 16];   // corner, column to the left
  std::uint8_t luma_above_right[8];             // the row above goes on
  alignas(32) std::uint8_t chroma_above[2][1 + 8];
  alignas(32) std::uint8_t chroma_left[2][1 + 8];
  std::uint32_t marks = 0;  // protect/watermark.h
  bool mark_parity = false;
  CoeffCounts<4> luma_counts;
  CoeffCounts<2> chroma_counts[2];
};

struct LumaCandidate {
  std::int64_t cost = 0;  // by SATD, or by rate and distortion where these decide
  core::MacroblockKind kind = core::MacroblockKind::intra4x4;
  int intra16x16_pred_mode = 0;
  bool inter_transform_8x8 = false;
  int coded_block_pattern = 0;  // luma: 0..15
  std::uint8_t intra4x4_pred_mode[16];
  int mode_bits = 0;  // of the modes of Intra_4x4 or Intra_8x8; an upper bound of an inter header
  std::uint32_t nonzero_blocks = 0;  // by slot: kSlotLumaDc and kSlotLuma ..
  std::uint8_t total_coeff[17];      // by slot
  alignas(32) std::int16_t levels[17][16];
  alignas(32) std::uint8_t reconstruction[16][16];
};

struct ChromaCandidate {
  std::int64_t cost = 0;
  int mode = 0;
  int coded_block_pattern = 0;  // chroma: 0..2
  std::uint32_t nonzero_blocks = 0;
  std::uint8_t total_coeff[10];  // slots kSlotChromaDc ..
  alignas(32) std::int16_t levels[10][16];
  alignas(32) std::uint8_t reconstruction[8][16];  // Cb beside Cr, as the source
};

static inline void load_source(MacroblockContext& mb, const CpuPicture& picture, int mb_x, int mb_y) {
  for (int y = 0; y < 16; ++y) std::memcpy(mb.luma[y], picture.source[0].row(16 * mb_y + y) + 16 * mb_x, 16);
  for (int c = 0; c < 2; ++c) {
    for (int y = 0; y < 8; ++y) {
      std::memcpy(mb.chroma[y] + 8 * c, picture.source[1 + c].row(8 * mb_y + y) + 8 * mb_x, 8);
    }
  }
}

// Loads the samples next to the macroblock. Where there are none the value is 128, which no prediction uses.
static inline void load_neighbours(MacroblockContext& mb, const CpuPicture& picture, int mb_x, int mb_y) {
  const Plane& y_plane = picture.reconstruction[0];
  std::memset(mb.luma_above, 128, sizeof mb.luma_above);
  std::memset(mb.luma_left, 128, sizeof mb.luma_left);
  std::memset(mb.luma_above_right, 128, sizeof mb.luma_above_right);
  std::memset(mb.chroma_above, 128, sizeof mb.chroma_above);
  std::memset(mb.chroma_left, 128, sizeof mb.chroma_left);
  const int x0 = 16 * mb_x, y0 = 16 * mb_y;
  if (mb.above) std::memcpy(mb.luma_above + 1, y_plane.row(y0 - 1) + x0, 16);
  if (mb.above_right) std::memcpy(mb.luma_above_right, y_plane.row(y0 - 1) + x0 + 16, 8);
  if (mb.left) {
    for (int y = 0; y < 16; ++y) mb.luma_left[1 + y] = y_plane.row(y0 + y)[x0 - 1];
  }
  if (mb.corner) mb.luma_above[0] = mb.luma_left[0] = y_plane.row(y0 - 1)[x0 - 1];
  for (int c = 0; c < 2; ++c) {
    const Plane& plane = picture.reconstruction[1 + c];
    const int cx = 8 * mb_x, cy = 8 * mb_y;
    if (mb.above) std::memcpy(mb.chroma_above[c] + 1, plane.row(cy - 1) + cx, 8);
    if (mb.left) {
      for (int y = 0; y < 8; ++y) mb.chroma_left[c][1 + y] = plane.row(cy + y)[cx - 1];
    }
    if (mb.corner) mb.chroma_above[c][0] = mb.chroma_left[c][0] = plane.row(cy - 1)[cx - 1];
  }
}

// Loads total_coeff of the blocks to the left and above. The macroblock's own counts are filled in as it is
// coded.
static inline void load_counts(MacroblockContext& mb, const CpuPicture& picture, int mb_x, int mb_y) {
  using core::kSlotChromaAc, core::kSlotLuma;
  const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
  const std::uint8_t* here = picture.total_coeff.data() + index * core::kTotalCoeffStride;
  const std::uint8_t* left = here - core::kTotalCoeffStride;
  const std::uint8_t* above = here - static_cast<std::ptrdiff_t>(core::kTotalCoeffStride) * picture.mb_width;
  const auto unavailable = static_cast<std::int8_t>(CoeffCounts<4>::kUnavailable);
  for (int i = 0; i < 4; ++i) {
    mb.luma_counts.at(-1, i) =
        mb.left ? static_cast<std::int8_t>(left[kSlotLuma + core::luma_block_index(3, i)]) : unavailable;
    mb.luma_counts.at(i, -1) =
        mb.above ? static_cast<std::int8_t>(above[kSlotLuma + core::luma_block_index(i, 3)]) : unavailable;
  }
  for (int c = 0; c < 2; ++c) {
    const int slot = kSlotChromaAc + 4 * c;
    for (int i = 0; i < 2; ++i) {
      mb.chroma_counts[c].at(-1, i) =
          mb.left ? static_cast<std::int8_t>(left[slot + 2 * i + 1]) : unavailable;
      mb.chroma_counts[c].at(i, -1) = mb.above ? static_cast<std::int8_t>(above[slot + 2 + i]) : unavailable;
    }
  }
}

}  // namespace cu264::encoder::CU264_ISA
