// macroblock_layer of I slices (H.264 7.3.5) without the residual.
#pragma once

#include <cstdint>

#include "core/bits.h"
#include "core/block.h"
#include "core/hd.h"

namespace cu264::core {

inline constexpr int kMbTypePcm = 25;  // table 7-11

// mb_type of an I slice (table 7-11).
CU264_HD int mb_type(const MacroblockRecord& mb) {
  if (mb.kind == MacroblockKind::pcm) return kMbTypePcm;
  if (is_i_nxn(mb.kind)) return 0;
  const int luma = mb.coded_block_pattern & 15, chroma = mb.coded_block_pattern >> 4;
  return 1 + mb.intra16x16_pred_mode + 4 * chroma + (luma != 0 ? 12 : 0);
}

// codeNum of coded_block_pattern for Intra_4x4 and Intra_8x8 prediction (table 9-4).
CU264_HD int intra_pattern_code_num(int coded_block_pattern) {
  static constexpr std::uint8_t table[48] = {3,  29, 30, 17, 31, 18, 37, 8,  32, 38, 19, 9,  20, 10, 11, 2,
                                             16, 33, 34, 21, 35, 22, 39, 4,  36, 40, 23, 5,  24, 6,  7,  1,
                                             41, 42, 43, 25, 44, 26, 46, 12, 45, 47, 27, 13, 28, 14, 15, 0};
  return table[coded_block_pattern];
}

// Returns whether mb_qp_delta is present (7.3.5). In P_Skip coded_block_pattern is 0.
CU264_HD bool has_mb_qp_delta(const MacroblockRecord& mb) {
  return mb.kind == MacroblockKind::intra16x16 ||
         (mb.kind != MacroblockKind::pcm && mb.coded_block_pattern != 0);
}

// predIntra4x4PredMode of a block of `mb` (8.3.1.1). A neighbour that is not available in this slice is null.
// Macroblocks of the other kinds hold DC in all sixteen modes, since the clause counts them so. With the
// first 4x4 block of an 8x8 block this is predIntra8x8PredMode (8.3.2.1): the neighbours are the same,
// because the blocks to the left are asked for their first row and those above for their first column.
CU264_HD int predicted_intra4x4_mode(const MacroblockRecord& mb, const MacroblockRecord* left,
                                     const MacroblockRecord* above, int luma4x4BlkIdx) {
  const int x = luma_block_x(luma4x4BlkIdx), y = luma_block_y(luma4x4BlkIdx);
  const MacroblockRecord* const a = x > 0 ? &mb : left;
  const MacroblockRecord* const b = y > 0 ? &mb : above;
  if (a == nullptr || b == nullptr) return kIntra4x4Dc;
  const int mode_a = a->intra4x4_pred_mode[luma_block_index((x + 3) & 3, y)];
  const int mode_b = b->intra4x4_pred_mode[luma_block_index(x, (y + 3) & 3)];
  return mode_a < mode_b ? mode_a : mode_b;
}

// Stands for the predicted mode in arrays that hold rem_intra4x4_pred_mode in place of modes.
inline constexpr std::uint8_t kPredictedMode = 255;

// prev_intra4x4_pred_mode_flag and, if it is 0, rem_intra4x4_pred_mode.
CU264_HD int intra4x4_mode_bits(int mode, int predicted) {
  return mode == predicted ? 1 : 4;
}

// Returns how many 4x4 blocks one prediction mode is for.
CU264_HD int blocks_of_a_mode(MacroblockKind kind) {
  return kind == MacroblockKind::intra8x8 ? 4 : 1;
}

template <class Sink>
CU264_HD void put_intra4x4_mode(Sink& sink, int mode, int predicted) {
  if (mode == predicted) {
    sink.put(1, 1);
  } else {
    sink.put(static_cast<std::uint32_t>(mode < predicted ? mode : mode - 1), 4);
  }
}

// Returns whether transform_size_8x8_flag is present (7.3.5).
CU264_HD bool has_transform_size_flag(const MacroblockRecord& mb) {
  return mb.transform_8x8_mode && is_i_nxn(mb.kind);
}

template <class Sink>
CU264_HD void put_transform_size_flag(Sink& sink, const MacroblockRecord& mb) {
  if (has_transform_size_flag(mb)) sink.put(mb.kind == MacroblockKind::intra8x8 ? 1 : 0, 1);
}

// Bits of mb_type, transform_size_8x8_flag, coded_block_pattern and mb_qp_delta: the macroblock without modes
// and residual.
CU264_HD int mb_type_and_pattern_bits(const MacroblockRecord& mb) {
  int bits = ue_length(static_cast<std::uint32_t>(mb_type(mb)));
  if (is_i_nxn(mb.kind)) {
    bits += has_transform_size_flag(mb) +
            ue_length(static_cast<std::uint32_t>(intra_pattern_code_num(mb.coded_block_pattern)));
  }
  return bits + (has_mb_qp_delta(mb) ? se_length(mb.mb_qp_delta) : 0);
}

// Puts what follows the prediction modes of the luma blocks in the header; nothing for I_PCM.
template <class Sink>
CU264_HD void put_macroblock_header_end(Sink& sink, const MacroblockRecord& mb) {
  if (mb.kind == MacroblockKind::pcm) return;
  put_ue(sink, mb.intra_chroma_pred_mode);
  if (is_i_nxn(mb.kind)) {
    put_ue(sink, static_cast<std::uint32_t>(intra_pattern_code_num(mb.coded_block_pattern)));
  }
  if (has_mb_qp_delta(mb)) put_se(sink, mb.mb_qp_delta);
}

// Puts what follows mb_type in an I macroblock; nothing for I_PCM.
template <class Sink>
CU264_HD void put_macroblock_header_rest(Sink& sink, const MacroblockRecord& mb, const MacroblockRecord* left,
                                         const MacroblockRecord* above) {
  put_transform_size_flag(sink, mb);
  if (is_i_nxn(mb.kind)) {
    for (int block = 0; block < 16; block += blocks_of_a_mode(mb.kind)) {
      put_intra4x4_mode(sink, mb.intra4x4_pred_mode[block], predicted_intra4x4_mode(mb, left, above, block));
    }
  }
  put_macroblock_header_end(sink, mb);
}

// Puts everything before the residual; only mb_type for I_PCM.
template <class Sink>
CU264_HD void put_macroblock_header(Sink& sink, const MacroblockRecord& mb, const MacroblockRecord* left,
                                    const MacroblockRecord* above) {
  put_ue(sink, static_cast<std::uint32_t>(mb_type(mb)));
  put_macroblock_header_rest(sink, mb, left, above);
}

// Returns whether a slot's block is in the bitstream (7.3.5.3).
CU264_HD bool slot_is_coded(const MacroblockRecord& mb, int slot) {
  if (mb.kind == MacroblockKind::pcm) return false;
  if (slot == kSlotLumaDc) return mb.kind == MacroblockKind::intra16x16;
  if (slot < kSlotChromaDc) return ((mb.coded_block_pattern >> ((slot - kSlotLuma) >> 2)) & 1) != 0;
  return (mb.coded_block_pattern >> 4) >= (slot < kSlotChromaAc ? 1 : 2);
}

// The same for all slots at once: bit s stands for slot s.
CU264_HD std::uint32_t coded_slots(const MacroblockRecord& mb) {
  if (mb.kind == MacroblockKind::pcm) return 0;
  const std::uint32_t luma = mb.coded_block_pattern & 15, chroma = mb.coded_block_pattern >> 4;
  const std::uint32_t quarters = (luma & 1) | (luma & 2) << 3 | (luma & 4) << 6 | (luma & 8) << 9;
  return static_cast<std::uint32_t>(mb.kind == MacroblockKind::intra16x16) << kSlotLumaDc |
         15 * quarters << kSlotLuma | (chroma >= 1 ? 3u << kSlotChromaDc : 0) |
         (chroma >= 2 ? 255u << kSlotChromaAc : 0);
}

// maxNumCoeff of a slot's block.
CU264_HD int slot_max_num_coeff(MacroblockKind kind, int slot) {
  if (slot == kSlotLumaDc) return 16;
  if (slot < kSlotChromaDc) return kind == MacroblockKind::intra16x16 ? 15 : 16;
  return slot < kSlotChromaAc ? 4 : 15;
}

CU264_HD int slot_max_num_coeff(const MacroblockRecord& mb, int slot) {
  return slot_max_num_coeff(mb.kind, slot);
}

}  // namespace cu264::core
