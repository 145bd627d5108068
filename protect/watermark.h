// Watermarks in the trailing ones of quantised levels: which block carries which bit, and how its levels
// change.
//
// All on plain values, for both backends of an encoder (on the levels, before reconstruction, so that nothing
// drifts) and for streams that are finished. A macroblock's own keystream (protect/aes.h,
// kKeystreamWatermark) chooses its blocks and tells them their bits, so that macroblocks can be marked in any
// order; whether a block can carry a bit is told by its levels and is not changed by carrying one.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/cavlc_block.h"
#include "core/hd.h"
#include "core/level_masks.h"
#include "protect/aes.h"

namespace cu264::protect {

// The frame that is spread over the blocks: the payload's CRC-32, most significant byte first, then the
// payload (mark_frame_of in protect/payload.h). Its length travels in the SEI message.

// A macroblock's keystream: blocks 0 and 1 of it.
struct MarkKey {
  AesBlock choice;  // a byte for each luma block, by luma4x4BlkIdx: the high one of a number of 16 bits
  AesBlock draw;    // words: where in the frame, a bit a block to XOR with, the numbers' low byte
};

CU264_HD AesBlock mark_counter(std::uint64_t nonce, std::uint32_t picture, std::uint32_t macroblock,
                               std::uint32_t which) {
  return keystream_counter(nonce, picture, macroblock, kKeystreamWatermark, which);
}

// `density` of 65536 blocks are chosen. The low byte that a macroblock's blocks share decides only for those
// whose high byte is the density's own: one in 256.
CU264_HD bool mark_chooses(const MarkKey& key, int block, std::uint32_t density) {
  const std::uint32_t high = key.choice.words[block >> 2] >> (8 * (block & 3)) & 255;
  return (high << 8 | (key.draw.words[2] & 255)) < density;
}

// Which bit of the frame a block carries, for an encoder that marks blocks in any order: neighbours carry
// neighbouring bits. A frame has more bits than a macroblock has blocks. A finished stream's blocks carry the
// frame's bits in turn instead: the SEI message says which.
CU264_HD std::uint32_t mark_index(std::uint32_t first, int block, std::uint32_t frame_bytes) {
  const std::uint64_t bits = 8 * static_cast<std::uint64_t>(frame_bytes);
  const std::uint64_t index = (first * bits >> 32) + static_cast<unsigned>(block);
  return static_cast<std::uint32_t>(index < bits ? index : index - bits);
}

// What the frame's bit is XORed with on its way into the block.
CU264_HD int mark_flip(const MarkKey& key, int block) {
  return static_cast<int>(key.draw.words[1] >> block & 1);
}

CU264_HD int frame_bit(const std::uint8_t* frame, std::uint32_t index) {
  return frame[index / 8] >> (7 - index % 8) & 1;
}

// Which luma blocks of a macroblock an encoder marks, by luma4x4BlkIdx in the low half, and with which bits
// in the high one.
CU264_HD bool is_marked(std::uint32_t marks, int block) {
  return (marks >> block & 1) != 0;
}

CU264_HD int marked_bit(std::uint32_t marks, int block) {
  return static_cast<int>(marks >> (16 + block) & 1);
}

CU264_HD std::uint32_t marks_of_macroblock(const MarkKey& key, std::uint32_t density,
                                           const std::uint8_t* frame, std::uint32_t frame_bytes) {
  std::uint32_t marks = 0;
  for (int block = 0; block < 16; ++block) {
    if (!mark_chooses(key, block, density)) continue;
    const std::uint32_t index = mark_index(key.draw.words[0], block, frame_bytes);
    const auto bit = static_cast<std::uint32_t>(frame_bit(frame, index) ^ mark_flip(key, block));
    marks |= (1u | bit << 16) << block;
  }
  return marks;
}

// How the levels of a block change. Bit k stands for coding position k.
struct MarkChange {
  std::uint32_t one = 0;      // this becomes 1, or -1
  std::uint32_t doubled = 0;  // this trailing one becomes two
  bool negative = false;
};

// Kim et al.: the sign of the first trailing one, the one of the highest frequency.
CU264_HD MarkChange mark_t1_sign(const core::CavlcSymbols& symbols, int first_level, int bit) {
  if (symbols.trailing_ones == 0 || (first_level < 0) == (bit != 0)) return {};
  return {1u << core::highest_bit(symbols.nonzero), 0, bit != 0};
}

// After Liao et al.: whether the number of trailing ones is odd. Every block that has levels carries a bit
// and still has levels afterwards.
CU264_HD MarkChange mark_t1_parity(const core::LevelMasks& masks, const core::CavlcSymbols& symbols,
                                   int first_level, int max_num_coeff, int bit) {
  if (symbols.total_coeff == 0 || (symbols.trailing_ones & 1) == bit) return {};
  const auto last_of = [](const core::CavlcSymbols& block) {
    const std::uint32_t trailing = block.nonzero ^ block.levels;
    return trailing & (~trailing + 1);
  };
  if (symbols.trailing_ones != 0) return {0, last_of(symbols), false};  // one trailing one less
  // None, and one or three are wanted. The first level becomes one where that is near and gives an odd
  // number; else a one is added behind it, where there is room.
  const std::uint32_t first = 1u << core::highest_bit(symbols.nonzero);
  const bool negative = first_level < 0;
  const core::CavlcSymbols after = core::symbols_of_masks({masks.nonzero, masks.ones | first});
  const bool odd = (after.trailing_ones & 1) != 0;
  if (odd && (first_level == 2 || first_level == -2)) return {first, 0, negative};
  if (2 * first < 1u << max_num_coeff) return {2 * first, 0, negative};
  return {first, odd ? 0 : last_of(after), negative};
}

// `first_level`: the one of the highest frequency; no matter what, if there is none.
CU264_HD MarkChange mark_change(const core::LevelMasks& masks, int first_level, int max_num_coeff,
                                bool by_parity, int bit) {
  const core::CavlcSymbols symbols = core::symbols_of_masks(masks);
  return by_parity ? mark_t1_parity(masks, symbols, first_level, max_num_coeff, bit)
                   : mark_t1_sign(symbols, first_level, bit);
}

// The level at coding position `position`.
CU264_HD int marked_level(const MarkChange& change, int position, int level) {
  if ((change.one >> position & 1) != 0) return change.negative ? -1 : 1;
  return (change.doubled >> position & 1) != 0 ? 2 * level : level;
}

// `levels` in coding order. False: the block carries no bit, or carries it already.
CU264_HD bool mark_levels(std::int16_t* levels, int max_num_coeff, bool by_parity, int bit) {
  const core::LevelMasks masks = core::level_masks(levels, max_num_coeff);
  if (masks.nonzero == 0) return false;
  const int first_level = levels[core::highest_bit(masks.nonzero)];
  const MarkChange change = mark_change(masks, first_level, max_num_coeff, by_parity, bit);
  for (std::uint32_t rest = change.one | change.doubled; rest != 0; rest &= rest - 1) {
    const int position = core::highest_bit(rest & (~rest + 1));
    levels[position] = static_cast<std::int16_t>(marked_level(change, position, levels[position]));
  }
  return (change.one | change.doubled) != 0;
}

}  // namespace cu264::protect
