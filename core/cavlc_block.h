// Codes one block of levels: residual_block_cavlc (H.264 7.3.5.3.2, 9.2).
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/bits.h"
#include "core/block.h"
#include "core/cavlc_tables.h"
#include "core/hd.h"
#include "core/level_masks.h"

namespace cu264::core {

inline constexpr int kChromaDcNc = -1;  // nC of ChromaDCLevel in 4:2:0 (9.2.1)

// The result of one pass over a block. The two masks are those of CAVLCU (section 4.4): the non-zero levels
// with and without the trailing ones. Bit k stands for coding position k.
struct CavlcSymbols {
  std::uint32_t nonzero = 0;
  std::uint32_t levels = 0;  // nonzero without the trailing ones
  int total_coeff = 0;
  int trailing_ones = 0;
};

CU264_HD CavlcSymbols symbols_of_masks(LevelMasks masks) {
  // Trailing ones are the levels of +-1 above the highest level of another magnitude, at most three.
  const std::uint32_t others = masks.nonzero ^ masks.ones;
  std::uint32_t trailing = others == 0 ? masks.ones : masks.ones & (~1u << highest_bit(others));
  while (count_ones(trailing) > 3) trailing &= trailing - 1;

  CavlcSymbols symbols;
  symbols.nonzero = masks.nonzero;
  symbols.levels = masks.nonzero ^ trailing;
  symbols.total_coeff = count_ones(masks.nonzero);
  symbols.trailing_ones = count_ones(trailing);
  return symbols;
}

CU264_HD CavlcSymbols cavlc_symbols(const std::int16_t* levels, int max_num_coeff) {
  return symbols_of_masks(level_masks(levels, max_num_coeff));
}

// suffixLength before the first level (9.2.2).
CU264_HD int first_suffix_length(const CavlcSymbols& symbols) {
  return symbols.total_coeff > 10 && symbols.trailing_ones < 3 ? 1 : 0;
}

// suffixLength after a level (9.2.2).
CU264_HD constexpr int next_suffix_length(int suffix_length, int magnitude) {
  if (suffix_length == 0) suffix_length = 1;
  return suffix_length + (magnitude > (3 << (suffix_length - 1)) && suffix_length < 6);
}

// levelCode of a level. The first level after fewer than three trailing ones cannot be +-1, so its code is
// lower by 2 (9.2.2.1).
CU264_HD constexpr int level_code(int level, bool cannot_be_one) {
  const int magnitude = level < 0 ? -level : level;
  return 2 * magnitude - 2 + (level < 0) - (cannot_be_one ? 2 : 0);
}

// Puts level_prefix and level_suffix (9.2.2.1) together. |level| <= kMaxLevel keeps the escape's suffix
// within 12 bits.
template <class Sink>
CU264_HD constexpr void put_level(Sink& sink, int code, int suffix_length) {
  const int escape = suffix_length == 0 ? 30 : 15 << suffix_length;
  int prefix = code >> suffix_length, size = suffix_length;
  int suffix = code & ((1 << suffix_length) - 1);
  if (code >= escape) {
    prefix = 15, size = 12, suffix = code - escape;
  } else if (suffix_length == 0 && code >= 14) {
    prefix = 14, size = 4, suffix = code - 14;
  }
  sink.put((1u << size) | static_cast<std::uint32_t>(suffix), prefix + 1 + size);
}

// The number of bits that put_level puts.
CU264_HD int level_length(int code, int suffix_length) {
  const int escape = suffix_length == 0 ? 30 : 15 << suffix_length;
  const int plain = (code >> suffix_length) + 1 + suffix_length;
  return code >= escape ? 28 : suffix_length == 0 && code >= 14 ? 19 : plain;
}

template <class Sink>
CU264_HD void put_code(Sink& sink, const CodeWord& code) {
  sink.put(code.bits, code.length);
}

// max_num_coeff: 16, 15 (AC blocks of Intra_16x16 and chroma) or 4 (chroma DC, with nC = kChromaDcNc).
template <class Sink>
CU264_HD void put_block(Sink& sink, const std::int16_t* levels, const CavlcSymbols& symbols,
                        int max_num_coeff, int nC) {
  const CodeWord token = coeff_token_code(coeff_token_column(nC), symbols.total_coeff, symbols.trailing_ones);
  std::uint32_t token_and_signs = token.bits;
  std::uint32_t rest = symbols.nonzero ^ symbols.levels;
  while (rest != 0) {  // trailing_ones_sign_flag, from the highest frequency down
    const int k = highest_bit(rest);
    rest ^= 1u << k;
    token_and_signs = (token_and_signs << 1) | (levels[k] < 0);
  }
  sink.put(token_and_signs, token.length + symbols.trailing_ones);
  if (symbols.total_coeff == 0) return;

  int suffix_length = first_suffix_length(symbols);
  bool cannot_be_one = symbols.trailing_ones < 3;
  for (rest = symbols.levels; rest != 0; cannot_be_one = false) {
    const int k = highest_bit(rest);
    rest ^= 1u << k;
    const int level = levels[k];
    put_level(sink, level_code(level, cannot_be_one), suffix_length);
    suffix_length = next_suffix_length(suffix_length, level < 0 ? -level : level);
  }

  int position = highest_bit(symbols.nonzero);
  int zeros_left = position + 1 - symbols.total_coeff;
  if (symbols.total_coeff < max_num_coeff) {
    put_code(sink, max_num_coeff == 4 ? chroma_dc_total_zeros_code(symbols.total_coeff, zeros_left)
                                      : total_zeros_code(symbols.total_coeff, zeros_left));
  }
  rest = symbols.nonzero ^ (1u << position);
  while (zeros_left > 0 && rest != 0) {  // run_before of all but the first coefficient
    const int next = highest_bit(rest);
    rest ^= 1u << next;
    const int run_before = position - next - 1;
    put_code(sink, run_before_code(zeros_left, run_before));
    zeros_left -= run_before;
    position = next;
  }
}

// Returns the block's length in bits, which is its rate in decisions. Reads only the levels that the masks
// show to be neither zero nor trailing ones.
CU264_HD int cavlc_bits_of_masks(const std::int16_t* levels, LevelMasks masks, int max_num_coeff, int nC) {
  BitCounter counter;
  put_block(counter, levels, symbols_of_masks(masks), max_num_coeff, nC);
  return static_cast<int>(counter.bits);
}

CU264_HD int cavlc_block_bits(const std::int16_t* levels, int max_num_coeff, int nC) {
  return cavlc_bits_of_masks(levels, level_masks(levels, max_num_coeff), max_num_coeff, nC);
}

// An upper bound of the bits of `blocks` blocks that hold `levels` non-zero levels, whose magnitudes add up
// to `magnitudes`. A level of magnitude m takes at most 2m + 3 bits. At suffixLength 5 and 6 small levels may
// take one or two bits more, but only after a level of magnitude 25 or 49, which takes 45 or 92 bits less
// than that bound. coeff_token takes up to 16 bits, total_zeros up to 9, and a run_before up to 3, with up to
// 8 more in a whole block (tables 9-5, 9-7, 9-10).
CU264_HD constexpr int cavlc_bits_bound(int blocks, int levels, int magnitudes) {
  return 30 * blocks + 6 * levels + 2 * magnitudes;
}

// nC from total_coeff of the neighbouring blocks (9.2.1). A negative count stands for a block that is not
// available.
CU264_HD int nc_from_neighbours(int nA, int nB) {
  if (nA >= 0 && nB >= 0) return (nA + nB + 1) >> 1;
  return nA >= 0 ? nA : nB >= 0 ? nB : 0;
}

}  // namespace cu264::core
