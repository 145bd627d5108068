// Binarisation of macroblock_layer of I slices (H.264 7.3.5, 9.3.2, 9.3.3.1.1). Sinks are those of
// cabac_block.h. All inputs come from the macroblock and its neighbours, so macroblocks can be binarised in
// any order.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/block.h"
#include "core/cabac_block.h"
#include "core/cabac_contexts.h"
#include "core/hd.h"
#include "core/level_masks.h"
#include "core/mb_syntax.h"
#include "core/slot_neighbours.h"

namespace cu264::core {

// The properties of a neighbouring macroblock from which contexts are derived.
struct CabacNeighbour {
  std::uint32_t coded_blocks;        // coded_block_flag by slot
  std::uint8_t coded_block_pattern;  // as in MacroblockRecord
  bool has_other_type;               // mb_type is not I_NxN
  bool has_chroma_mode;              // intra_chroma_pred_mode is not DC
  bool has_large_transform;          // transform_size_8x8_flag
};

// coded_block_flag of all slots of a macroblock: bit s for slot s. An 8x8 block has no such flag in 4:2:0; to
// its neighbours it counts as coded, in all of its 4x4 blocks, if coded_block_pattern has it.
CU264_HD std::uint32_t coded_block_flags(const MacroblockRecord& mb) {
  constexpr std::uint32_t kLuma = 0xffffu << kSlotLuma;
  return coded_slots(mb) & (mb.nonzero_blocks | (has_large_transform(mb) ? kLuma : 0));
}

// `mb` is null where the neighbour is not available in the slice. Such a neighbour counts as having all luma
// blocks and no chroma in its coded_block_pattern, and all coded_block_flags; I_PCM has everything.
CU264_HD CabacNeighbour cabac_neighbour(const MacroblockRecord* mb) {
  constexpr std::uint32_t kAllBlocks = (1u << kBlocksPerMacroblock) - 1;
  if (mb == nullptr) return {kAllBlocks, 0x0f, false, false, false};
  if (mb->kind == MacroblockKind::pcm) return {kAllBlocks, 0x2f, true, false, false};
  return {coded_block_flags(*mb), mb->coded_block_pattern, mb->kind == MacroblockKind::intra16x16,
          mb->intra_chroma_pred_mode != kIntraChromaDc, has_large_transform(*mb)};
}

struct CabacNeighbours {
  CabacNeighbour left;
  CabacNeighbour above;
};

// ctxIdxInc of mb_qp_delta's first bin: whether the QP of the previous macroblock in the slice (null if there
// is none) differs from that of the macroblock before it (9.3.3.1.1.5).
CU264_HD bool changes_qp(const MacroblockRecord* before) {
  return before != nullptr && has_mb_qp_delta(*before) && before->mb_qp_delta != 0;
}

// The contexts of the first bins of mb_type, transform_size_8x8_flag and intra_chroma_pred_mode.
CU264_HD int mb_type_context(const CabacNeighbours& n) {
  return kCtxMbType + (n.left.has_other_type ? 1 : 0) + (n.above.has_other_type ? 1 : 0);
}
CU264_HD int transform_size_context(const CabacNeighbours& n) {
  return kCtxTransformSize + (n.left.has_large_transform ? 1 : 0) + (n.above.has_large_transform ? 1 : 0);
}
CU264_HD int chroma_mode_context(const CabacNeighbours& n) {
  return kCtxIntraChromaMode + (n.left.has_chroma_mode ? 1 : 0) + (n.above.has_chroma_mode ? 1 : 0);
}

// The context of coded_block_pattern's bit of an 8x8 luma block, and those of its chroma bins (9.3.3.1.1.4).
// `pattern` has the bits of the blocks before.
CU264_HD int luma_pattern_context(int block, int pattern, const CabacNeighbours& n) {
  const int left = n.left.coded_block_pattern, above = n.above.coded_block_pattern;
  const int a = (block & 1) != 0 ? pattern >> (block - 1) : left >> (block + 1);
  const int b = (block & 2) != 0 ? pattern >> (block - 2) : above >> (block + 2);
  return kCtxPatternLuma + (~a & 1) + 2 * (~b & 1);
}
CU264_HD int chroma_pattern_context(const CabacNeighbours& n) {
  const int a = n.left.coded_block_pattern >> 4, b = n.above.coded_block_pattern >> 4;
  return kCtxPatternChroma + (a != 0 ? 1 : 0) + (b != 0 ? 2 : 0);
}
CU264_HD int chroma_ac_pattern_context(const CabacNeighbours& n) {
  const int a = n.left.coded_block_pattern >> 4, b = n.above.coded_block_pattern >> 4;
  return kCtxPatternChroma + 4 + (a >> 1) + 2 * (b >> 1);
}

// The context of a bin of mb_qp_delta (9.3.3.1.1.5).
CU264_HD int qp_delta_context(int bin, bool changed_before) {
  return kCtxMbQpDelta + (bin > 1 ? 3 : bin == 1 ? 2 : changed_before ? 1 : 0);
}

// The contexts of mb_type's bins: first, the two patterns, the second bin of chroma's, and both of the mode.
struct CabacIMbTypeContexts {
  int first, luma, chroma, chroma_ac, mode_high, mode_low;
};

// mb_type (table 9-36). For I_PCM, its last bin makes the coder end its codeword.
template <class Sink>
CU264_HD void put_cabac_mb_type(Sink& sink, const MacroblockRecord& mb,
                                const CabacIMbTypeContexts& contexts) {
  const bool nxn = is_i_nxn(mb.kind);
  sink.decision(contexts.first, nxn ? 0 : 1);
  if (nxn) return;
  const bool pcm = mb.kind == MacroblockKind::pcm;
  sink.terminate(pcm ? 1 : 0);
  if (pcm) return;
  const int chroma = mb.coded_block_pattern >> 4;
  sink.decision(contexts.luma, (mb.coded_block_pattern & 15) != 0 ? 1 : 0);
  sink.decision(contexts.chroma, chroma != 0 ? 1 : 0);
  if (chroma != 0) sink.decision(contexts.chroma_ac, chroma >> 1);
  sink.decision(contexts.mode_high, mb.intra16x16_pred_mode >> 1);
  sink.decision(contexts.mode_low, mb.intra16x16_pred_mode & 1);
}
template <class Sink>
CU264_HD void put_cabac_mb_type(Sink& sink, const MacroblockRecord& mb, const CabacNeighbours& n) {
  put_cabac_mb_type(sink, mb,
                    CabacIMbTypeContexts{mb_type_context(n), kCtxMbType + 3, kCtxMbType + 4, kCtxMbType + 5,
                                         kCtxMbType + 6, kCtxMbType + 7});
}

// prev_intra4x4_pred_mode_flag and rem_intra4x4_pred_mode, or those of an 8x8 block.
template <class Sink>
CU264_HD void put_cabac_intra_mode(Sink& sink, int mode, int predicted) {
  sink.decision(kCtxPrevIntraMode, mode == predicted ? 1 : 0);
  if (mode == predicted) return;
  const int rem = mode < predicted ? mode : mode - 1;
  for (int bit = 0; bit < 3; ++bit) sink.decision(kCtxRemIntraMode, (rem >> bit) & 1);
}

template <class Sink>
CU264_HD void put_cabac_chroma_mode(Sink& sink, int mode, const CabacNeighbours& n) {
  sink.decision(chroma_mode_context(n), mode != 0 ? 1 : 0);
  if (mode == 0) return;
  sink.decision(kCtxIntraChromaMode + 3, mode > 1 ? 1 : 0);
  if (mode > 1) sink.decision(kCtxIntraChromaMode + 3, mode > 2 ? 1 : 0);
}

// coded_block_pattern of a macroblock that is not Intra_16x16.
template <class Sink>
CU264_HD void put_cabac_pattern(Sink& sink, int pattern, const CabacNeighbours& n) {
  for (int block = 0; block < 4; ++block) {
    sink.decision(luma_pattern_context(block, pattern, n), (pattern >> block) & 1);
  }
  const int chroma = pattern >> 4;
  sink.decision(chroma_pattern_context(n), chroma != 0 ? 1 : 0);
  if (chroma != 0) sink.decision(chroma_ac_pattern_context(n), chroma >> 1);
}

// mb_qp_delta: the unary code of 0, 1, -1, 2, -2 .. (9.3.2.7).
template <class Sink>
CU264_HD void put_cabac_qp_delta(Sink& sink, int delta, bool changed_before) {
  const int value = delta > 0 ? 2 * delta - 1 : -2 * delta;
  for (int i = 0; i <= value; ++i) sink.decision(qp_delta_context(i, changed_before), i < value ? 1 : 0);
}

// Puts what lies between mb_type and the residual of an I macroblock; nothing for I_PCM. `left` and `above`
// are null where they are not available in the slice; the modes are predicted from them.
template <class Sink>
CU264_HD void put_cabac_header_rest(Sink& sink, const MacroblockRecord& mb, const MacroblockRecord* left,
                                    const MacroblockRecord* above, const CabacNeighbours& n,
                                    bool changed_before) {
  if (mb.kind == MacroblockKind::pcm) return;
  if (has_transform_size_flag(mb)) {
    sink.decision(transform_size_context(n), mb.kind == MacroblockKind::intra8x8 ? 1 : 0);
  }
  if (is_i_nxn(mb.kind)) {
    for (int block = 0; block < 16; block += blocks_of_a_mode(mb.kind)) {
      put_cabac_intra_mode(sink, mb.intra4x4_pred_mode[block],
                           predicted_intra4x4_mode(mb, left, above, block));
    }
  }
  put_cabac_chroma_mode(sink, mb.intra_chroma_pred_mode, n);
  if (is_i_nxn(mb.kind)) put_cabac_pattern(sink, mb.coded_block_pattern, n);
  if (has_mb_qp_delta(mb)) put_cabac_qp_delta(sink, mb.mb_qp_delta, changed_before);
}

// Puts everything before the residual; only mb_type for I_PCM.
template <class Sink>
CU264_HD void put_cabac_header(Sink& sink, const MacroblockRecord& mb, const MacroblockRecord* left,
                               const MacroblockRecord* above, const CabacNeighbours& n, bool changed_before) {
  put_cabac_mb_type(sink, mb, n);
  put_cabac_header_rest(sink, mb, left, above, n, changed_before);
}

// ctxIdxInc of a slot's coded_block_flag. `here` holds the flags of the macroblock itself.
CU264_HD int coded_block_flag_inc(int slot, std::uint32_t here, const CabacNeighbours& n) {
  const std::uint32_t left = n.left.coded_blocks, above = n.above.coded_blocks;
  if (slot == kSlotLumaDc || (slot >= kSlotChromaDc && slot < kSlotChromaAc)) {
    return static_cast<int>((left >> slot) & 1) + 2 * static_cast<int>((above >> slot) & 1);
  }
  const SlotNeighbours slots = slot_neighbours(slot);
  const std::uint32_t a = slots.a_outside ? left : here, b = slots.b_outside ? above : here;
  return static_cast<int>((a >> slots.slot_a) & 1) + 2 * static_cast<int>((b >> slots.slot_b) & 1);
}

// The bits of the interleaved 4x4 block `block` in the mask of its 8x8 block's levels by position.
CU264_HD std::uint64_t interleaved_mask(std::uint32_t nonzero, int block) {
  return four_apart(nonzero) << block;
}

// The non-zero levels of the 8x8 block whose first slot is `slot`, by position in its scan.
CU264_HD std::uint64_t nonzero_levels8x8(const MacroblockRecord& mb, int slot, const std::int16_t* levels) {
  std::uint64_t nonzero = 0;
  for (int i = 0; i < 4; ++i) {
    if (((mb.nonzero_blocks >> (slot + i)) & 1) == 0) continue;
    nonzero |= interleaved_mask(level_masks(levels + kLevelsPerBlock * i, kLevelsPerBlock).nonzero, i);
  }
  return nonzero;
}

// Puts the block of a coded slot (coded_slots). `levels` are the slot's. The first slot of an 8x8 block
// stands for all four.
template <class Sink>
CU264_HD void put_cabac_slot(Sink& sink, const MacroblockRecord& mb, int slot, const std::int16_t* levels,
                             const CabacNeighbours& n) {
  if (has_large_transform(mb) && slot < kSlotChromaDc) {
    if (((slot - kSlotLuma) & 3) == 0)
      put_cabac_levels_8x8(sink, levels, nonzero_levels8x8(mb, slot, levels));
    return;
  }
  const std::uint32_t flags = coded_block_flags(mb);
  const BlockCategory category = slot_category(mb.kind, slot);
  const bool coded = ((flags >> slot) & 1) != 0;
  const std::uint32_t nonzero = coded ? level_masks(levels, max_num_coeff(category)).nonzero : 0;
  put_cabac_block(sink, levels, nonzero, category, coded_block_flag_inc(slot, flags, n));
}

// residual(). `levels` are those of the macroblock, by slot; a block without levels is not read.
template <class Sink>
CU264_HD void put_cabac_residual(Sink& sink, const MacroblockRecord& mb, const std::int16_t* levels,
                                 const CabacNeighbours& n) {
  for (std::uint32_t rest = coded_slots(mb), slot = 0; rest != 0; rest >>= 1, ++slot) {
    if ((rest & 1) == 0) continue;
    put_cabac_slot(sink, mb, static_cast<int>(slot), levels + slot * kLevelsPerBlock, n);
  }
}

}  // namespace cu264::core
