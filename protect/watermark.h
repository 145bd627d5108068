// Watermarks in the trailing ones of quantised levels: which block carries which bit, and how its levels
// change.
//
// All on plain values, for both backends of an encoder (on the levels, before reconstruction, so that nothing
// drifts) and for streams that are finished. A block is chosen and told its bit by its own keystream
// (protect/aes.h, kKeystreamWatermark), so that blocks can be marked in any order; whether it can carry a bit
// is told by its levels and is not changed by carrying one.
#pragma once

#include <cstdint>

#include "core/cavlc_block.h"
#include "core/hd.h"
#include "protect/aes.h"

namespace cu264::protect {

// The frame that is spread over the blocks: the payload's CRC-32, most significant byte first, then the
// payload (mark_frame_of in protect/payload.h). Its length travels in the SEI message.

// `density` of 65536 blocks are chosen.
CU264_HD bool watermark_chooses(const AesBlock& key, std::uint32_t density) {
  return (key.words[0] & 0xffff) < density;
}

// Which bit of the frame a block carries, for an encoder that marks blocks in any order. A finished stream's
// blocks carry the frame's bits in turn instead: the SEI message says which.
CU264_HD std::uint32_t watermark_index(const AesBlock& key, std::uint32_t frame_bytes) {
  return static_cast<std::uint32_t>(key.words[1] * (8 * static_cast<std::uint64_t>(frame_bytes)) >> 32);
}

// The bit as it goes into the block.
CU264_HD int watermark_bit(const AesBlock& key, const std::uint8_t* frame, std::uint32_t index) {
  return (frame[index / 8] >> (7 - index % 8) & 1) ^ static_cast<int>(key.words[2] & 1);
}

// Kim et al.: the sign of the first trailing one, the one of the highest frequency.
CU264_HD bool t1_sign_carries(const core::CavlcSymbols& symbols) {
  return symbols.trailing_ones != 0;
}

// `levels` in zigzag order, of a block that carries.
CU264_HD void mark_t1_sign(std::int16_t* levels, const core::CavlcSymbols& symbols, int bit) {
  levels[core::highest_bit(symbols.nonzero)] = static_cast<std::int16_t>(bit != 0 ? -1 : 1);
}

// After Liao et al.: whether the number of trailing ones is odd. Every block that has levels carries a bit
// and still has levels afterwards.
CU264_HD bool t1_parity_carries(const core::CavlcSymbols& symbols) {
  return symbols.total_coeff != 0;
}

CU264_HD void mark_t1_parity(std::int16_t* levels, const core::CavlcSymbols& symbols, int max_num_coeff,
                             int bit) {
  if ((symbols.trailing_ones & 1) == bit) return;
  const std::uint32_t trailing = symbols.nonzero ^ symbols.levels;
  if (trailing != 0) {  // the last one becomes two: one trailing one less
    const int last = core::highest_bit(trailing & (~trailing + 1));
    levels[last] = static_cast<std::int16_t>(2 * levels[last]);
    return;
  }
  // None, and one or three are wanted. The first level becomes one where that is near and gives an odd
  // number.
  const int first = core::highest_bit(symbols.nonzero), before = levels[first];
  const auto one = static_cast<std::int16_t>(before < 0 ? -1 : 1);
  levels[first] = one;
  const core::CavlcSymbols after = core::cavlc_symbols(levels, max_num_coeff);
  const bool odd = (after.trailing_ones & 1) != 0;
  if (odd && (before == 2 || before == -2)) return;
  if (first + 1 < max_num_coeff) {  // else a one is added behind it
    levels[first] = static_cast<std::int16_t>(before);
    levels[first + 1] = one;
  } else if (!odd) {  // no room: both changes
    const std::uint32_t ones = after.nonzero ^ after.levels;
    const int last = core::highest_bit(ones & (~ones + 1));
    levels[last] = static_cast<std::int16_t>(2 * levels[last]);
  }
}

// Which luma blocks of a macroblock an encoder marks, by luma4x4BlkIdx in the low half, and with which bits
// in the high one.
CU264_HD bool is_marked(std::uint32_t marks, int block) {
  return (marks >> block & 1) != 0;
}

CU264_HD int marked_bit(std::uint32_t marks, int block) {
  return static_cast<int>(marks >> (16 + block) & 1);
}

// One block's share of them, from its own keystream.
CU264_HD std::uint32_t mark_of_block(const AesBlock& key, std::uint32_t density, const std::uint8_t* frame,
                                     std::uint32_t frame_bytes, int block) {
  if (!watermark_chooses(key, density)) return 0;
  const int bit = watermark_bit(key, frame, watermark_index(key, frame_bytes));
  return (1u | static_cast<std::uint32_t>(bit) << 16) << block;
}

// False: the block carries no bit, or carries it already.
CU264_HD bool mark_levels(std::int16_t* levels, int max_num_coeff, bool by_parity, int bit) {
  const core::CavlcSymbols symbols = core::cavlc_symbols(levels, max_num_coeff);
  if (by_parity) {
    if (!t1_parity_carries(symbols) || (symbols.trailing_ones & 1) == bit) return false;
    mark_t1_parity(levels, symbols, max_num_coeff, bit);
    return true;
  }
  if (!t1_sign_carries(symbols) || (levels[core::highest_bit(symbols.nonzero)] < 0) == (bit != 0))
    return false;
  mark_t1_sign(levels, symbols, bit);
  return true;
}

}  // namespace cu264::protect
