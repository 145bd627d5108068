// Rate models: the bits that the mode decision and RDOQ assign to each syntax element. Decisions use the
// functions of a rate model and know nothing of the entropy coder behind it. There are two models with the
// same functions: CavlcRate counts exactly what the CAVLC coder writes (H.264 9.1, 9.2), and CabacRate
// (core/cabac_rate.h) estimates what the CABAC coder will write, in fractions of a bit. The kernels use them
// through encoder/cuda/search/warp_rate.cuh, which counts the same bits of a block with many lanes.
#pragma once

#include <cstdint>

#include "core/bits.h"
#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/hd.h"
#include "core/level_masks.h"
#include "core/mb_syntax.h"

namespace cu264::core {

// The kinds of residual block, numbered as ctxBlockCat is (H.264 table 9-42).
enum class BlockCategory : std::uint8_t { luma_dc, luma_ac, luma_4x4, chroma_dc, chroma_ac };

// maxNumCoeff (table 9-42, 4:2:0)
CU264_HD constexpr int max_num_coeff(BlockCategory category) {
  return category == BlockCategory::chroma_dc                                         ? 4
         : category == BlockCategory::luma_ac || category == BlockCategory::chroma_ac ? 15
                                                                                      : 16;
}

CU264_HD constexpr BlockCategory slot_category(MacroblockKind kind, int slot) {
  if (slot == kSlotLumaDc) return BlockCategory::luma_dc;
  if (slot >= kSlotChromaAc) return BlockCategory::chroma_ac;
  if (slot >= kSlotChromaDc) return BlockCategory::chroma_dc;
  return kind == MacroblockKind::intra16x16 ? BlockCategory::luma_ac : BlockCategory::luma_4x4;
}

struct CavlcRate {
  static constexpr int kFraction = 0;       // bits are whole
  static constexpr int kSatdWeight = 32;    // see satd_lambda()
  static constexpr bool kWhole8x8 = false;  // an 8x8 block is coded as four interleaved blocks
  static constexpr bool kHasSteps = false;  // whether block_steps tells what lowering each level changes
  // The CodedBlockPatternChroma with which mb_type of Intra_16x16 is longest.
  static constexpr int kCostliestChromaPattern = 2;
  bool transform_8x8_mode = false;  // MacroblockRecord::transform_8x8_mode

  // ---- residual blocks; `nC` is the context that block_context() derives

  // The context from total_coeff of the blocks to the left and above; a count is negative where the block is
  // not available.
  CU264_HD_MEMBER int block_context(int nA, int nB) const { return nc_from_neighbours(nA, nB); }
  CU264_HD_MEMBER int chroma_dc_context() const { return kChromaDcNc; }

  CU264_HD_MEMBER int block_bits(const std::int16_t* levels, BlockCategory category, int nC) const {
    return cavlc_block_bits(levels, max_num_coeff(category), nC);
  }
  // The same where the masks are known. Levels that the masks show as zero need not be zero in memory.
  CU264_HD_MEMBER int block_bits(const std::int16_t* levels, LevelMasks masks, BlockCategory category,
                                 int nC) const {
    return cavlc_bits_of_masks(levels, masks, max_num_coeff(category), nC);
  }

  // ---- prediction modes

  CU264_HD_MEMBER int intra4x4_mode_bits(int mode, int predicted) const {
    return core::intra4x4_mode_bits(mode, predicted);
  }
  CU264_HD_MEMBER int chroma_mode_bits(int mode) const { return ue_length(static_cast<std::uint32_t>(mode)); }

  // ---- headers: mb_type, coded_block_pattern and mb_qp_delta

  // kind: intra4x4 or intra8x8.
  CU264_HD_MEMBER int i_nxn_header_bits(MacroblockKind kind, int luma_pattern, int chroma_pattern) const {
    MacroblockRecord record;
    record.kind = kind;
    record.transform_8x8_mode = transform_8x8_mode;
    record.coded_block_pattern = static_cast<std::uint8_t>(luma_pattern | (chroma_pattern << 4));
    return mb_type_and_pattern_bits(record);
  }
  // luma_pattern: 15 with AC levels, 0 without (table 7-11).
  CU264_HD_MEMBER int intra16x16_header_bits(int mode, int luma_pattern, int chroma_pattern) const {
    MacroblockRecord record;
    record.kind = MacroblockKind::intra16x16;
    record.intra16x16_pred_mode = static_cast<std::uint8_t>(mode);
    record.coded_block_pattern = static_cast<std::uint8_t>(luma_pattern | (chroma_pattern << 4));
    return mb_type_and_pattern_bits(record);
  }
  // The bits of CodedBlockPatternChroma while the kind of the macroblock is unknown: its share of mb_type in
  // Intra_16x16.
  CU264_HD_MEMBER int chroma_pattern_bits(int pattern) const {
    return ue_length(static_cast<std::uint32_t>(3 + 4 * pattern));
  }

  // ---- the whole macroblock_layer

  // The macroblock without its residual. mode_bits: the bits of all modes of I_NxN; 0 for the other kinds.
  CU264_HD_MEMBER int macroblock_header_bits(const MacroblockRecord& mb, int mode_bits) const {
    return mb_type_and_pattern_bits(mb) + mode_bits + chroma_mode_bits(mb.intra_chroma_pred_mode);
  }
  // An upper bound of the residual's bits; see cavlc_bits_bound.
  CU264_HD_MEMBER int residual_bits_bound(int levels, int magnitudes) const {
    return cavlc_bits_bound(kBlocksPerMacroblock, levels, magnitudes);
  }
};

}  // namespace cu264::core
