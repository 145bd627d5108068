// Says where the blocks of a macroblock find their bits of the encryption keystream: bit b is bit b mod 32 of
// word b div 32 of the macroblock's AES blocks 0, 1 and so on. Blocks follow one another in the order of the
// stream, each with as many bits as its number of levels may need, in units of 16: most macroblocks take two
// or three AES blocks in all.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/block.h"
#include "core/hd.h"

namespace cu264::protect {

// Signs take total_coeff bits and places at most 4 * total_coeff - 1 (place_cipher.h). So up to 3 levels fit
// into one unit, up to 6 into two, and up to 15 into five.
struct KeyLayout {
  std::uint32_t nonzero = 0;  // bit s: the block of slot s has a level
  std::uint32_t from4 = 0;    // bit s: it has 4 or more
  std::uint32_t from7 = 0;

  CU264_HD_MEMBER void add(int slot, int total_coeff) {
    nonzero |= static_cast<std::uint32_t>(total_coeff >= 1) << slot;
    from4 |= static_cast<std::uint32_t>(total_coeff >= 4) << slot;
    from7 |= static_cast<std::uint32_t>(total_coeff >= 7) << slot;
  }
  CU264_HD_MEMBER int units_before(int slot) const {
    const std::uint32_t before = (1u << slot) - 1;
    return core::count_ones(nonzero & before) + core::count_ones(from4 & before) +
           3 * core::count_ones(from7 & before);
  }
  CU264_HD_MEMBER int aes_blocks() const { return (units_before(core::kBlocksPerMacroblock) + 7) / 8; }
};

inline constexpr int kMaxKeyBlocks = (core::kBlocksPerMacroblock * 5 + 7) / 8;

struct BlockKey {
  std::uint32_t signs = 0;   // bit i belongs to the level that is coded as number i
  std::uint64_t places = 0;  // place_cipher.h
};

// The bits of a block, from its first one on.
struct BlockBits {
  std::uint32_t words[3];

  // Aligns the bits of these words; `odd` says whether the first unit is the upper half of the first word.
  CU264_HD_MEMBER static BlockBits aligned(std::uint32_t first, std::uint32_t second, std::uint32_t third,
                                           bool odd) {
    if (!odd) return {{first, second, third}};
    return {{first >> 16 | second << 16, second >> 16 | third << 16, third >> 16}};
  }
  // Returns the key of a block with `total_coeff` levels, from 1 to 16.
  CU264_HD_MEMBER BlockKey key(int total_coeff) const {
    const int rest = 32 - total_coeff;
    const std::uint32_t low = words[0] >> total_coeff | words[1] << rest;
    const std::uint32_t high = words[1] >> total_coeff | words[2] << rest;
    return {words[0], static_cast<std::uint64_t>(high) << 32 | low};
  }
};

// A block of `total_coeff` levels that begins at `unit` has bits in up to three words; these functions say
// whether it has any in the second and the third. A word beyond the last one with such bits may not exist.
CU264_HD bool has_second_word(int unit, int total_coeff) {
  return total_coeff >= ((unit & 1) != 0 ? 4 : 7);
}
CU264_HD bool has_third_word(int total_coeff) {
  return total_coeff >= 7;
}

// Returns the key of a block with `total_coeff` levels, from 1 to 16. `word` gives the macroblock's words of
// keystream.
template <class Words>
CU264_HD BlockKey block_key(const Words& word, int unit, int total_coeff) {
  const int first = unit >> 1;
  const std::uint32_t second = has_second_word(unit, total_coeff) ? word(first + 1) : 0;
  const std::uint32_t third = has_third_word(total_coeff) ? word(first + 2) : 0;
  return BlockBits::aligned(word(first), second, third, (unit & 1) != 0).key(total_coeff);
}

}  // namespace cu264::protect
