// Parses one CAVLC block into its levels: the inverse of core/cavlc_block.h, for streams that may be hostile.
// Unless the caller has a faster way, codes are found by a search of the tables that the coder writes from.
// The search is slow, but parser and coder cannot disagree. A Reader has the members of core::BitReader.
#pragma once

#include <cstdint>

#include "core/bits.h"
#include "core/cavlc_tables.h"
#include "core/hd.h"

namespace cu264::core {

inline constexpr int kCavlcParseError = -1;

// Returns the first of `symbols` symbols whose code comes next and skips that code; kCavlcParseError if there
// is none.
template <class Reader, class CodeOf>
CU264_HD int parse_code(Reader& reader, int symbols, CodeOf code_of) {
  const std::uint32_t window = reader.peek(16);  // no code is longer
  for (int symbol = 0; symbol < symbols; ++symbol) {
    const CodeWord code = code_of(symbol);
    if (code.length != 0 && (window >> (16 - code.length)) == code.bits) {
      reader.skip(code.length);
      return symbol;
    }
  }
  return kCavlcParseError;
}

struct CoeffToken {
  int total_coeff = kCavlcParseError;
  int trailing_ones = 0;
};

struct CoeffTokenCodes {
  int column;
  CU264_HD_MEMBER CodeWord operator()(int symbol) const {
    const int total_coeff = symbol >> 2, trailing_ones = symbol & 3;
    if (trailing_ones > total_coeff) return {};
    return coeff_token_code(column, total_coeff, trailing_ones);
  }
};

// levelCode (9.2.2.1) of a level, before the first level's offset is added; kCavlcParseError for a
// level_prefix above 15, which the profiles below High do not allow.
template <class Reader>
CU264_HD int parse_level_code(Reader& reader, int suffix_length) {
  const std::uint32_t window = reader.peek(16);
  if (window == 0) return kCavlcParseError;
  const int level_prefix = 15 - highest_bit(window);
  reader.skip(level_prefix + 1);
  int suffix_size = suffix_length;
  if (level_prefix == 15) suffix_size = 12;
  if (level_prefix == 14 && suffix_length == 0) suffix_size = 4;
  const int escape_offset = level_prefix == 15 && suffix_length == 0 ? 15 : 0;
  return (level_prefix << suffix_length) + static_cast<int>(reader.get(suffix_size)) + escape_offset;
}

// Parses the levels in decoding order, highest frequency first (7.3.5.3.2); false if the bits are no valid
// code.
template <class Reader>
CU264_HD bool parse_levels(Reader& reader, const CoeffToken& token, std::int16_t* decoded) {
  int suffix_length = token.total_coeff > 10 && token.trailing_ones < 3 ? 1 : 0;
  for (int i = 0; i < token.total_coeff; ++i) {
    if (i < token.trailing_ones) {
      decoded[i] = reader.get(1) != 0 ? -1 : 1;
      continue;
    }
    int level_code = parse_level_code(reader, suffix_length);
    if (level_code < 0) return false;
    if (i == token.trailing_ones && token.trailing_ones < 3) level_code += 2;
    const int magnitude = (level_code + 2) >> 1;
    decoded[i] = static_cast<std::int16_t>((level_code & 1) != 0 ? -magnitude : magnitude);
    if (suffix_length == 0) suffix_length = 1;
    if (magnitude > (3 << (suffix_length - 1)) && suffix_length < 6) ++suffix_length;
  }
  return true;
}

struct TotalZerosCodes {
  int max_num_coeff;
  int total_coeff;
  CU264_HD_MEMBER CodeWord operator()(int total_zeros) const {
    return max_num_coeff == 4 ? chroma_dc_total_zeros_code(total_coeff, total_zeros)
                              : total_zeros_code(total_coeff, total_zeros);
  }
};

struct RunBeforeCodes {
  int zeros_left;
  CU264_HD_MEMBER CodeWord operator()(int run_before) const {
    return run_before_code(zeros_left, run_before);
  }
};

// Finds codes by search. A type that finds them in another way has the same members. Each skips the code and
// returns its value, or kCavlcParseError if there is no code or its value exceeds the room left.
struct SearchedCodes {
  template <class Reader>
  CU264_HD_MEMBER CoeffToken coeff_token(Reader& reader, int max_num_coeff, int nC) const {
    const int symbol = parse_code(reader, 4 * (max_num_coeff + 1), CoeffTokenCodes{coeff_token_column(nC)});
    CoeffToken token;
    if (symbol >= 0) token = {symbol >> 2, symbol & 3};
    return token;
  }
  template <class Reader>
  CU264_HD_MEMBER int total_zeros(Reader& reader, int max_num_coeff, int total_coeff) const {
    return parse_code(reader, max_num_coeff - total_coeff + 1, TotalZerosCodes{max_num_coeff, total_coeff});
  }
  template <class Reader>
  CU264_HD_MEMBER int run_before(Reader& reader, int zeros_left) const {
    return parse_code(reader, zeros_left + 1, RunBeforeCodes{zeros_left});
  }
};

// Reads a block into levels[0 .. max_num_coeff) and returns TotalCoeff. Returns kCavlcParseError when the
// bits are no valid block or end too soon; the levels are then zero or partly filled. max_num_coeff and nC
// are as in put_block.
template <class Reader, class Codes = SearchedCodes>
CU264_HD int cavlc_parse_block(Reader& reader, std::int16_t* levels, int max_num_coeff, int nC,
                               const Codes& codes = {}) {
  for (int k = 0; k < max_num_coeff; ++k) levels[k] = 0;
  const CoeffToken token = codes.coeff_token(reader, max_num_coeff, nC);
  if (token.total_coeff < 0 || reader.failed()) return kCavlcParseError;
  if (token.total_coeff == 0) return 0;

  std::int16_t decoded[16];
  if (!parse_levels(reader, token, decoded)) return kCavlcParseError;

  // A block of 15 levels shares the tables of 16: only codes of as many zeros as it has room for are valid.
  int zeros_left = 0;
  if (token.total_coeff < max_num_coeff)
    zeros_left = codes.total_zeros(reader, max_num_coeff, token.total_coeff);
  if (zeros_left < 0) return kCavlcParseError;

  int position = zeros_left + token.total_coeff - 1;
  for (int i = 0; i < token.total_coeff; ++i) {
    levels[position] = decoded[i];
    if (i + 1 == token.total_coeff) break;
    int run_before = 0;
    if (zeros_left > 0) run_before = codes.run_before(reader, zeros_left);
    if (run_before < 0) return kCavlcParseError;
    zeros_left -= run_before;
    position -= run_before + 1;
  }
  return reader.failed() ? kCavlcParseError : token.total_coeff;
}

}  // namespace cu264::core
