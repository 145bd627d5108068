// Blocks and macroblocks: their numbering, their scan, and the record that describes one coded macroblock.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "core/macroblock_layout.h"

namespace cu264::core {

// The coded blocks of a macroblock by their slots. Each block holds up to 16 levels in zigzag order: a luma
// block has 16, an AC block has 15 at indices 0..14, and a chroma DC block has 4 at 0..3. On a GPU the
// remaining entries up to 16 are zero.
inline constexpr int kBlocksPerMacroblock = MacroblockLayout::kSlots;
inline constexpr int kLevelsPerBlock = 16;
inline constexpr int kSlotLumaDc = MacroblockLayout::kSlotLumaDc;
inline constexpr int kSlotLuma = MacroblockLayout::kSlotLuma;
inline constexpr int kSlotChromaDc = MacroblockLayout::kSlotChromaDc;
inline constexpr int kSlotChromaAc = MacroblockLayout::kSlotChromaAc;
inline constexpr int kLevelsPerMacroblock = kBlocksPerMacroblock * kLevelsPerBlock;
// total_coeff has 32 entries for each macroblock, so that the GPU moves them in one aligned transaction;
// those after the last slot are zero.
inline constexpr int kTotalCoeffStride = 32;
static_assert(kBlocksPerMacroblock <= kTotalCoeffStride);

// The kinds of an I slice come first. P slices have the inter kinds as well: P_L0_16x16, P_L0_L0_16x8,
// P_L0_L0_8x16, P_8x8 with four sub-macroblocks P_L0_8x8, and P_Skip (tables 7-13, 7-17).
enum class MacroblockKind : std::uint8_t {
  intra4x4,
  intra16x16,
  pcm,
  intra8x8,
  p16x16,
  p16x8,
  p8x16,
  p8x8,
  p_skip,
};
inline constexpr int kMacroblockKinds = 4;  // of an I slice

CU264_HD constexpr bool is_inter(MacroblockKind kind) {
  return kind >= MacroblockKind::p16x16;
}

// mb_type I_NxN (table 7-11). Only these macroblocks have a mode for each block. In I pictures
// transform_size_8x8_flag is 1 only in Intra_8x8.
CU264_HD constexpr bool is_i_nxn(MacroblockKind kind) {
  return kind == MacroblockKind::intra4x4 || kind == MacroblockKind::intra8x8;
}

// Intra4x4PredMode (H.264 table 8-2); Intra8x8PredMode has the same values (table 8-3)
enum Intra4x4Mode : int {
  kIntra4x4Vertical,
  kIntra4x4Horizontal,
  kIntra4x4Dc,
  kIntra4x4DiagonalDownLeft,
  kIntra4x4DiagonalDownRight,
  kIntra4x4VerticalRight,
  kIntra4x4HorizontalDown,
  kIntra4x4VerticalLeft,
  kIntra4x4HorizontalUp,
  kIntra4x4Modes
};

// Intra16x16PredMode (H.264 table 8-4)
enum Intra16x16Mode : int {
  kIntra16x16Vertical,
  kIntra16x16Horizontal,
  kIntra16x16Dc,
  kIntra16x16Plane,
  kIntra16x16Modes
};

// intra_chroma_pred_mode (H.264 table 8-5)
enum IntraChromaMode : int {
  kIntraChromaDc,
  kIntraChromaHorizontal,
  kIntraChromaVertical,
  kIntraChromaPlane,
  kIntraChromaModes
};

// What the entropy coder must know about a macroblock besides its levels: an aligned record of 32 bytes.
struct alignas(16) MacroblockRecord {
  MacroblockKind kind = MacroblockKind::intra4x4;
  std::uint8_t intra16x16_pred_mode = 0;
  std::uint8_t intra_chroma_pred_mode = 0;
  std::uint8_t coded_block_pattern = 0;  // bits 0..3 CodedBlockPatternLuma, bits 4..5 CodedBlockPatternChroma
  std::uint8_t qp = 0;                   // QP_Y in force, as a decoder derives it
  std::int8_t mb_qp_delta = 0;
  bool transform_8x8_mode = false;   // the PPS's flag: then I_NxN has transform_size_8x8_flag
  bool inter_transform_8x8 = false;  // transform_size_8x8_flag of an inter macroblock
  // The mode by luma4x4BlkIdx; in Intra_8x8 the mode of the 8x8 block that contains the 4x4 block;
  // kIntra4x4Dc in the other kinds (H.264 8.3.1.1, 8.3.2.1)
  std::uint8_t intra4x4_pred_mode[16] = {};
  std::uint32_t nonzero_blocks = 0;  // bit s: slot s has a non-zero level
  std::uint32_t reserved2 = 0;
};
static_assert(sizeof(MacroblockRecord) == 32, "a macroblock record is two 16-byte transactions");

// transform_size_8x8_flag
CU264_HD bool has_large_transform(const MacroblockRecord& mb) {
  return mb.kind == MacroblockKind::intra8x8 || mb.inter_transform_8x8;
}

// Position of a 4x4 luma block in its macroblock, in blocks (H.264 6.4.3).
CU264_HD constexpr int luma_block_x(int luma4x4BlkIdx) {
  return (luma4x4BlkIdx & 1) | ((luma4x4BlkIdx >> 1) & 2);
}

CU264_HD constexpr int luma_block_y(int luma4x4BlkIdx) {
  return ((luma4x4BlkIdx >> 1) & 1) | ((luma4x4BlkIdx >> 2) & 2);
}

CU264_HD int luma_block_index(int x, int y) {
  return (x & 1) | ((y & 1) << 1) | ((x & 2) << 1) | ((y & 2) << 2);
}

// Raster index (4 * y + x) of the k-th coefficient of the zigzag scan of a frame macroblock (H.264 table
// 8-13).
CU264_HD int zigzag_to_raster(int k) {
  static constexpr std::uint8_t table[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
  return table[k];
}

// Raster index (8 * y + x) of the k-th coefficient of the 8x8 zigzag scan of a frame macroblock (H.264 table
// 8-14).
CU264_HD constexpr int zigzag8x8_to_raster(int k) {
  constexpr std::uint8_t table[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                      12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                      35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                      58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
  return table[k];
}

// The levels of an 8x8 block lie interleaved in the slots of its four 4x4 blocks, which is how CAVLC codes
// them (7.3.5.3.2): level k of the scan is level interleaved_level(k) of the 8x8 block's slot
// interleaved_block(k). So level j of a 4x4 block is level 4 * j + block of the 8x8 block, and a coder that
// treats an 8x8 block as 64 coefficients, as CABAC does, finds level k there. total_coeff and nonzero_blocks
// describe the interleaved blocks, which CAVLC's nC counts. For CABAC, all four blocks of an 8x8 block count
// as coded if its bit of coded_block_pattern is set.
CU264_HD constexpr int interleaved_block(int k) {
  return k & 3;
}
CU264_HD constexpr int interleaved_level(int k) {
  return k >> 2;
}

// A slice is a band of whole macroblock rows: slice s of n covers rows [first(s), first(s + 1)).
CU264_HD int slice_first_row(int slice, int slices, int mb_height) {
  return static_cast<int>(static_cast<std::int64_t>(slice) * mb_height / slices);
}

// The slice that a macroblock row lies in.
CU264_HD int slice_of_row(int row, int slices, int mb_height) {
  return static_cast<int>(((static_cast<std::int64_t>(row) + 1) * slices - 1) / mb_height);
}

}  // namespace cu264::core
