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

// The blocks whose high byte is below `limit`, 0 to 256, by luma4x4BlkIdx.
CU264_HD std::uint32_t blocks_below(const AesBlock& choice, std::uint32_t limit) {
  std::uint32_t blocks = 0;
  for (int i = 0; i < 4; ++i) {
    // Bit 8 of a half stays where its byte is no less.
    const std::uint32_t even = choice.words[i] & 0x00ff00ff, odd = choice.words[i] >> 8 & 0x00ff00ff;
    const std::uint32_t not_even = ((even | 0x01000100) - limit * 0x00010001) & 0x01000100;
    const std::uint32_t not_odd = ((odd | 0x01000100) - limit * 0x00010001) & 0x01000100;
    const std::uint32_t below = (not_even >> 8 | not_odd >> 7) ^ 0x00030003;
    blocks |= ((below | below >> 14) & 15) << (4 * i);
  }
  return blocks;
}

// Whether mark_chooses may choose a block, whatever the macroblock's draw.
CU264_HD bool may_have_marks(const AesBlock& choice, std::uint32_t density) {
  return blocks_below(choice, (density + 255) >> 8) != 0;
}

// Sixteen bits of the frame from `index` on, and from its begin on behind its end; bit k for the one at index
// + k.
CU264_HD std::uint32_t frame_bits(const std::uint8_t* frame, std::uint32_t frame_bytes, std::uint32_t index) {
  std::uint32_t bits = 0, at = index / 8;
  for (int i = 0; i < 3; ++i) {
    bits = bits << 8 | frame[at];
    at = at + 1 < frame_bytes ? at + 1 : 0;
  }
  bits >>= 8 - index % 8;
  bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
  bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
  bits = (bits & 0x0f0f) << 4 | (bits >> 4 & 0x0f0f);
  return (bits & 0x00ff) << 8 | (bits >> 8 & 0x00ff);
}

// mark_chooses, mark_index and mark_flip of all blocks.
CU264_HD std::uint32_t marks_of_macroblock(const MarkKey& key, std::uint32_t density,
                                           const std::uint8_t* frame, std::uint32_t frame_bytes) {
  const bool next = (key.draw.words[2] & 255) < (density & 255);
  const std::uint32_t chosen = blocks_below(key.choice, (density >> 8) + (next ? 1 : 0));
  const std::uint32_t index = mark_index(key.draw.words[0], 0, frame_bytes);
  return chosen | ((frame_bits(frame, frame_bytes, index) ^ key.draw.words[1]) & chosen) << 16;
}

// Kim et al.: the sign of the first trailing one, the one of the highest frequency. What becomes of a block's
// level of the highest frequency, which is a trailing one if it is +-1.
CU264_HD int mark_t1_sign(int first_level, int bit) {
  return first_level == (bit != 0 ? 1 : -1) ? -first_level : first_level;
}

// After Liao et al.: whether the number of trailing ones is odd. Every block that has levels carries a bit
// and still has levels afterwards. What becomes of the level at coding position `position`; `first_level` is
// the one of the highest frequency. No branches: a warp asks for all positions at once.
CU264_HD int mark_t1_parity(const core::LevelMasks& masks, int first_level, int max_num_coeff, int bit,
                            int position, int level) {
  // The trailing ones as they are or, if there is none, as they would be were the first level +-1.
  const int first = core::highest_bit(masks.nonzero);
  const bool any = (masks.ones >> first & 1) != 0;
  const std::uint32_t ones = masks.ones | 1u << first, others = masks.nonzero ^ ones;
  const std::uint32_t trailing = others == 0 ? ones : ones & (~1u << core::highest_bit(others));
  const int number = core::count_ones(trailing);
  const bool odd = number != 2;  // three at most are trailing ones
  const std::uint32_t from_here = trailing >> position;
  const bool last = (from_here & 1) != 0 && core::count_ones(from_here) == (number < 3 ? number : 3);
  // One too many: the last becomes two. None, and one or three are wanted: the first level becomes one where
  // that is near and gives an odd number; else a one is added behind it, where there is room.
  const bool near = odd && (first_level == 2 || first_level == -2);
  const bool added = !any && !near && first + 1 < max_num_coeff;
  const bool one = !any && position == (added ? first + 1 : first);
  const bool doubled = last && !added && odd == (any && bit == 0);
  const bool wanted = any || bit != 0;
  const int changed = one ? (first_level < 0 ? -1 : 1) : doubled ? 2 * level : level;
  return wanted ? changed : level;
}

// `levels` in coding order. False: the block carries no bit, or carries it already.
CU264_HD bool mark_levels(std::int16_t* levels, int max_num_coeff, bool by_parity, int bit) {
  const core::LevelMasks masks = core::level_masks(levels, max_num_coeff);
  if (masks.nonzero == 0) return false;
  const int first = core::highest_bit(masks.nonzero), first_level = levels[first];
  if (!by_parity) {
    levels[first] = static_cast<std::int16_t>(mark_t1_sign(first_level, bit));
    return levels[first] != first_level;
  }
  // What may change: the position behind the first level and three levels.
  bool changed = false;
  std::uint32_t rest = (masks.nonzero | 2u << first) & ((1u << max_num_coeff) - 1);
  for (int i = 0; i < 4 && rest != 0; ++i) {
    const int k = core::highest_bit(rest), level = levels[k];
    const int marked = mark_t1_parity(masks, first_level, max_num_coeff, bit, k, level);
    levels[k] = static_cast<std::int16_t>(marked);
    changed = changed || marked != level;
    rest ^= 1u << k;
  }
  return changed;
}

}  // namespace cu264::protect
