// Watermarks in the trailing ones of quantised levels: which block carries which bit, and how its levels
// change.
//
// All functions work on plain values, for both backends of an encoder (on the levels, before reconstruction,
// so that nothing drifts) and for finished streams. A macroblock's own keystream (protect/aes.h,
// KeystreamUse::watermark) chooses its blocks and their bits, so macroblocks can be marked in any order. The
// levels of a block tell whether it can carry a bit, and carrying one does not change that.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/hd.h"
#include "core/level_masks.h"
#include "protect/aes.h"

namespace cu264::protect {

// The frame that is spread over the blocks consists of the payload's CRC-32, most significant byte first, and
// the payload (mark_frame_of in protect/payload.h), or of the coded bits of these (protect/mark_code.h). The
// payload's length is in the SEI message.

// The keystream of a macroblock, which is two blocks.
struct MarkKey {
  AesBlock choice;  // a byte for each luma block, by luma4x4BlkIdx: the high byte of a 16-bit number
  AesBlock
      draw;  // words: the position in the frame, a bit for each block to XOR with, and the numbers' low byte
};

CU264_HD AesBlock mark_counter(std::uint64_t nonce, std::uint32_t picture, std::uint32_t macroblock,
                               std::uint32_t which) {
  return keystream_counter(nonce, picture, macroblock, KeystreamUse::watermark, which);
}

// Chooses `density` of 65536 blocks. The low byte, which a macroblock's blocks share, decides only for those
// whose high byte equals the density's: one in 256.
CU264_HD bool mark_chooses(const MarkKey& key, int block, std::uint32_t density) {
  const std::uint32_t high = key.choice.words[block >> 2] >> (8 * (block & 3)) & 255;
  return (high << 8 | (key.draw.words[2] & 255)) < density;
}

// Returns which bit of the frame a block carries when an encoder marks blocks in any order: neighbours carry
// neighbouring bits. A frame has more bits than a macroblock has blocks. The blocks of a finished stream
// carry the frame's bits in turn instead; the SEI message says which of the two applies.
CU264_HD std::uint32_t mark_index(std::uint32_t first, int block, std::uint32_t frame_bytes) {
  const std::uint64_t bits = 8 * static_cast<std::uint64_t>(frame_bytes);
  const std::uint64_t index = (first * bits >> 32) + static_cast<unsigned>(block);
  return static_cast<std::uint32_t>(index < bits ? index : index - bits);
}

// Returns the bit with which the frame's bit is XORed before a block carries it.
CU264_HD int mark_flip(const MarkKey& key, int block) {
  return static_cast<int>(key.draw.words[1] >> block & 1);
}

CU264_HD int frame_bit(const std::uint8_t* frame, std::uint32_t index) {
  return frame[index / 8] >> (7 - index % 8) & 1;
}

// `marks` says which luma blocks of a macroblock an encoder marks, by luma4x4BlkIdx in the low half, and with
// which bits in the high half.
CU264_HD bool is_marked(std::uint32_t marks, int block) {
  return (marks >> block & 1) != 0;
}

CU264_HD int marked_bit(std::uint32_t marks, int block) {
  return static_cast<int>(marks >> (16 + block) & 1);
}

// Returns the blocks whose high byte is below `limit`, which is 0 to 256, by luma4x4BlkIdx.
CU264_HD std::uint32_t blocks_below(const AesBlock& choice, std::uint32_t limit) {
  std::uint32_t blocks = 0;
  for (int i = 0; i < 4; ++i) {
    // Bit 8 of a half stays set where its byte is not below the limit.
    const std::uint32_t even = choice.words[i] & 0x00ff00ff, odd = choice.words[i] >> 8 & 0x00ff00ff;
    const std::uint32_t not_even = ((even | 0x01000100) - limit * 0x00010001) & 0x01000100;
    const std::uint32_t not_odd = ((odd | 0x01000100) - limit * 0x00010001) & 0x01000100;
    const std::uint32_t below = (not_even >> 8 | not_odd >> 7) ^ 0x00030003;
    blocks |= ((below | below >> 14) & 15) << (4 * i);
  }
  return blocks;
}

// Says whether mark_chooses may choose any block, whatever the macroblock's draw is.
CU264_HD bool may_have_marks(const AesBlock& choice, std::uint32_t density) {
  return blocks_below(choice, (density + 255) >> 8) != 0;
}

// Returns sixteen bits of the frame from `index` on, continued from the frame's start at its end; bit k is
// the one at index + k.
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

// Computes mark_chooses, mark_index and mark_flip of all blocks at once.
CU264_HD std::uint32_t marks_of_macroblock(const MarkKey& key, std::uint32_t density,
                                           const std::uint8_t* frame, std::uint32_t frame_bytes) {
  const bool next = (key.draw.words[2] & 255) < (density & 255);
  const std::uint32_t chosen = blocks_below(key.choice, (density >> 8) + (next ? 1 : 0));
  const std::uint32_t index = mark_index(key.draw.words[0], 0, frame_bytes);
  return chosen | ((frame_bits(frame, frame_bytes, index) ^ key.draw.words[1]) & chosen) << 16;
}

// Scheme of Kim et al.: the sign of the first trailing one, that of the highest frequency, is the bit.
// Returns the new value of a block's level of the highest frequency, which is a trailing one if it is +-1.
CU264_HD int mark_t1_sign(int first_level, int bit) {
  return first_level == (bit != 0 ? 1 : -1) ? -first_level : first_level;
}

// Scheme after Liao et al.: the bit is whether the number of trailing ones is odd. Every block that has
// levels carries a bit and still has levels afterwards. Returns the new value of the level at coding position
// `position`; `first_level` is the one of the highest frequency. There are no branches, because a warp
// computes all positions at once.
CU264_HD int mark_t1_parity(const core::LevelMasks& masks, int first_level, int max_num_coeff, int bit,
                            int position, int level) {
  // These are the trailing ones, or, if there are none, those that there would be if the first level were
  // +-1.
  const int first = core::highest_bit(masks.nonzero);
  const bool any = (masks.ones >> first & 1) != 0;
  const std::uint32_t ones = masks.ones | 1u << first, others = masks.nonzero ^ ones;
  const std::uint32_t trailing = others == 0 ? ones : ones & (~1u << core::highest_bit(others));
  const int number = core::count_ones(trailing);
  const bool odd = number != 2;  // at most three are trailing ones
  const std::uint32_t from_here = trailing >> position;
  const bool last = (from_here & 1) != 0 && core::count_ones(from_here) == (number < 3 ? number : 3);
  // If there is one too many, the last becomes two. If there is none and one or three are wanted, the first
  // level becomes one where it is near and that gives an odd number; otherwise a one is added after it, if
  // there is room.
  const bool near = odd && (first_level == 2 || first_level == -2);
  const bool added = !any && !near && first + 1 < max_num_coeff;
  const bool one = !any && position == (added ? first + 1 : first);
  const bool doubled = last && !added && odd == (any && bit == 0);
  const bool wanted = any || bit != 0;
  const int changed = one ? (first_level < 0 ? -1 : 1) : doubled ? 2 * level : level;
  return wanted ? changed : level;
}

// `levels` are in coding order. Returns false if the block carries no bit, or carries the right one already.
CU264_HD bool mark_levels(std::int16_t* levels, int max_num_coeff, bool by_parity, int bit) {
  const core::LevelMasks masks = core::level_masks(levels, max_num_coeff);
  if (masks.nonzero == 0) return false;
  const int first = core::highest_bit(masks.nonzero), first_level = levels[first];
  if (!by_parity) {
    levels[first] = static_cast<std::int16_t>(mark_t1_sign(first_level, bit));
    return levels[first] != first_level;
  }
  // The position after the first level and three levels may change.
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
