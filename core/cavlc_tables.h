// The variable-length codes of CAVLC (H.264 9.2), as the standard's tables print them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/hd.h"

namespace cu264::core {

struct CodeWord {
  std::uint32_t bits = 0;
  int length = 0;  // 0: no such symbol
};

// Tables hold codes as integers, the bits above a byte of length: arrays of a class type are not initialised
// in device code.
CU264_HD CodeWord unpack_code(std::uint32_t packed) {
  return {packed >> 8, static_cast<int>(packed & 0xff)};
}

inline namespace literals {
// A bit string as the standard prints it.
CU264_HD constexpr std::uint32_t operator""_vlc(const char* string, std::size_t length) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < length; ++i) bits = (bits << 1) | static_cast<std::uint32_t>(string[i] - '0');
  return (bits << 8) | static_cast<std::uint32_t>(length);
}
}  // namespace literals

// Columns of table 9-5 by nC: 0..1, 2..3, 4..7, 8 and more, -1 (chroma DC of 4:2:0).
CU264_HD int coeff_token_column(int nC) {
  if (nC < 0) return 4;
  return nC < 2 ? 0 : nC < 4 ? 1 : nC < 8 ? 2 : 3;
}

// Table 9-5: for each column 17 rows of TotalCoeff (the last one has 5); TrailingOnes 0..3.
CU264_HD CodeWord coeff_token_code(int column, int total_coeff, int trailing_ones) {
  // clang-format off
  static constexpr std::uint32_t table[5 * 17][4] = {
      // 0 <= nC < 2
      {"1"_vlc},
      {"000101"_vlc, "01"_vlc},
      {"00000111"_vlc, "000100"_vlc, "001"_vlc},
      {"000000111"_vlc, "00000110"_vlc, "0000101"_vlc, "00011"_vlc},
      {"0000000111"_vlc, "000000110"_vlc, "00000101"_vlc, "000011"_vlc},
      {"00000000111"_vlc, "0000000110"_vlc, "000000101"_vlc, "0000100"_vlc},
      {"0000000001111"_vlc, "00000000110"_vlc, "0000000101"_vlc, "00000100"_vlc},
      {"0000000001011"_vlc, "0000000001110"_vlc, "00000000101"_vlc, "000000100"_vlc},
      {"0000000001000"_vlc, "0000000001010"_vlc, "0000000001101"_vlc, "0000000100"_vlc},
      {"00000000001111"_vlc, "00000000001110"_vlc, "0000000001001"_vlc, "00000000100"_vlc},
      {"00000000001011"_vlc, "00000000001010"_vlc, "00000000001101"_vlc, "0000000001100"_vlc},
      {"000000000001111"_vlc, "000000000001110"_vlc, "00000000001001"_vlc, "00000000001100"_vlc},
      {"000000000001011"_vlc, "000000000001010"_vlc, "000000000001101"_vlc, "00000000001000"_vlc},
      {"0000000000001111"_vlc, "000000000000001"_vlc, "000000000001001"_vlc, "000000000001100"_vlc},
      {"0000000000001011"_vlc, "0000000000001110"_vlc, "0000000000001101"_vlc, "000000000001000"_vlc},
      {"0000000000000111"_vlc, "0000000000001010"_vlc, "0000000000001001"_vlc, "0000000000001100"_vlc},
      {"0000000000000100"_vlc, "0000000000000110"_vlc, "0000000000000101"_vlc, "0000000000001000"_vlc},
      // 2 <= nC < 4
      {"11"_vlc},
      {"001011"_vlc, "10"_vlc},
      {"000111"_vlc, "00111"_vlc, "011"_vlc},
      {"0000111"_vlc, "001010"_vlc, "001001"_vlc, "0101"_vlc},
      {"00000111"_vlc, "000110"_vlc, "000101"_vlc, "0100"_vlc},
      {"00000100"_vlc, "0000110"_vlc, "0000101"_vlc, "00110"_vlc},
      {"000000111"_vlc, "00000110"_vlc, "00000101"_vlc, "001000"_vlc},
      {"00000001111"_vlc, "000000110"_vlc, "000000101"_vlc, "000100"_vlc},
      {"00000001011"_vlc, "00000001110"_vlc, "00000001101"_vlc, "0000100"_vlc},
      {"000000001111"_vlc, "00000001010"_vlc, "00000001001"_vlc, "000000100"_vlc},
      {"000000001011"_vlc, "000000001110"_vlc, "000000001101"_vlc, "00000001100"_vlc},
      {"000000001000"_vlc, "000000001010"_vlc, "000000001001"_vlc, "00000001000"_vlc},
      {"0000000001111"_vlc, "0000000001110"_vlc, "0000000001101"_vlc, "000000001100"_vlc},
      {"0000000001011"_vlc, "0000000001010"_vlc, "0000000001001"_vlc, "0000000001100"_vlc},
      {"0000000000111"_vlc, "00000000001011"_vlc, "0000000000110"_vlc, "0000000001000"_vlc},
      {"00000000001001"_vlc, "00000000001000"_vlc, "00000000001010"_vlc, "0000000000001"_vlc},
      {"00000000000111"_vlc, "00000000000110"_vlc, "00000000000101"_vlc, "00000000000100"_vlc},
      // 4 <= nC < 8
      {"1111"_vlc},
      {"001111"_vlc, "1110"_vlc},
      {"001011"_vlc, "01111"_vlc, "1101"_vlc},
      {"001000"_vlc, "01100"_vlc, "01110"_vlc, "1100"_vlc},
      {"0001111"_vlc, "01010"_vlc, "01011"_vlc, "1011"_vlc},
      {"0001011"_vlc, "01000"_vlc, "01001"_vlc, "1010"_vlc},
      {"0001001"_vlc, "001110"_vlc, "001101"_vlc, "1001"_vlc},
      {"0001000"_vlc, "001010"_vlc, "001001"_vlc, "1000"_vlc},
      {"00001111"_vlc, "0001110"_vlc, "0001101"_vlc, "01101"_vlc},
      {"00001011"_vlc, "00001110"_vlc, "0001010"_vlc, "001100"_vlc},
      {"000001111"_vlc, "00001010"_vlc, "00001101"_vlc, "0001100"_vlc},
      {"000001011"_vlc, "000001110"_vlc, "00001001"_vlc, "00001100"_vlc},
      {"000001000"_vlc, "000001010"_vlc, "000001101"_vlc, "00001000"_vlc},
      {"0000001101"_vlc, "000000111"_vlc, "000001001"_vlc, "000001100"_vlc},
      {"0000001001"_vlc, "0000001100"_vlc, "0000001011"_vlc, "0000001010"_vlc},
      {"0000000101"_vlc, "0000001000"_vlc, "0000000111"_vlc, "0000000110"_vlc},
      {"0000000001"_vlc, "0000000100"_vlc, "0000000011"_vlc, "0000000010"_vlc},
      // 8 <= nC: six bits, TotalCoeff - 1 then TrailingOnes
      {"000011"_vlc},
      {"000000"_vlc, "000001"_vlc},
      {"000100"_vlc, "000101"_vlc, "000110"_vlc},
      {"001000"_vlc, "001001"_vlc, "001010"_vlc, "001011"_vlc},
      {"001100"_vlc, "001101"_vlc, "001110"_vlc, "001111"_vlc},
      {"010000"_vlc, "010001"_vlc, "010010"_vlc, "010011"_vlc},
      {"010100"_vlc, "010101"_vlc, "010110"_vlc, "010111"_vlc},
      {"011000"_vlc, "011001"_vlc, "011010"_vlc, "011011"_vlc},
      {"011100"_vlc, "011101"_vlc, "011110"_vlc, "011111"_vlc},
      {"100000"_vlc, "100001"_vlc, "100010"_vlc, "100011"_vlc},
      {"100100"_vlc, "100101"_vlc, "100110"_vlc, "100111"_vlc},
      {"101000"_vlc, "101001"_vlc, "101010"_vlc, "101011"_vlc},
      {"101100"_vlc, "101101"_vlc, "101110"_vlc, "101111"_vlc},
      {"110000"_vlc, "110001"_vlc, "110010"_vlc, "110011"_vlc},
      {"110100"_vlc, "110101"_vlc, "110110"_vlc, "110111"_vlc},
      {"111000"_vlc, "111001"_vlc, "111010"_vlc, "111011"_vlc},
      {"111100"_vlc, "111101"_vlc, "111110"_vlc, "111111"_vlc},
      // nC == -1
      {"01"_vlc},
      {"000111"_vlc, "1"_vlc},
      {"000100"_vlc, "000110"_vlc, "001"_vlc},
      {"000011"_vlc, "0000011"_vlc, "0000010"_vlc, "000101"_vlc},
      {"000010"_vlc, "00000011"_vlc, "00000010"_vlc, "0000000"_vlc},
  };
  // clang-format on
  return unpack_code(table[column * 17 + total_coeff][trailing_ones]);
}

// The two tables below are for what is evaluated at compile time, other tables among it; device code cannot
// index them. The functions that look codes up at run time have copies of their own.

// total_zeros of 4x4 blocks and, of the chroma DC blocks of 4:2:0, kChromaDcTotalZeros rows further down
// (tables 9-7, 9-8 and 9-9 (a)): rows tzVlcIndex (TotalCoeff) from 1, columns total_zeros.
inline constexpr int kChromaDcTotalZeros = 15, kTotalZerosRows = 18;

// clang-format off
inline constexpr std::uint32_t kTotalZerosCodes[kTotalZerosRows][16] = {
    {"1"_vlc, "011"_vlc, "010"_vlc, "0011"_vlc, "0010"_vlc, "00011"_vlc, "00010"_vlc, "000011"_vlc, "000010"_vlc, "0000011"_vlc, "0000010"_vlc, "00000011"_vlc, "00000010"_vlc, "000000011"_vlc, "000000010"_vlc, "000000001"_vlc},
    {"111"_vlc, "110"_vlc, "101"_vlc, "100"_vlc, "011"_vlc, "0101"_vlc, "0100"_vlc, "0011"_vlc, "0010"_vlc, "00011"_vlc, "00010"_vlc, "000011"_vlc, "000010"_vlc, "000001"_vlc, "000000"_vlc},
    {"0101"_vlc, "111"_vlc, "110"_vlc, "101"_vlc, "0100"_vlc, "0011"_vlc, "100"_vlc, "011"_vlc, "0010"_vlc, "00011"_vlc, "00010"_vlc, "000001"_vlc, "00001"_vlc, "000000"_vlc},
    {"00011"_vlc, "111"_vlc, "0101"_vlc, "0100"_vlc, "110"_vlc, "101"_vlc, "100"_vlc, "0011"_vlc, "011"_vlc, "0010"_vlc, "00010"_vlc, "00001"_vlc, "00000"_vlc},
    {"0101"_vlc, "0100"_vlc, "0011"_vlc, "111"_vlc, "110"_vlc, "101"_vlc, "100"_vlc, "011"_vlc, "0010"_vlc, "00001"_vlc, "0001"_vlc, "00000"_vlc},
    {"000001"_vlc, "00001"_vlc, "111"_vlc, "110"_vlc, "101"_vlc, "100"_vlc, "011"_vlc, "010"_vlc, "0001"_vlc, "001"_vlc, "000000"_vlc},
    {"000001"_vlc, "00001"_vlc, "101"_vlc, "100"_vlc, "011"_vlc, "11"_vlc, "010"_vlc, "0001"_vlc, "001"_vlc, "000000"_vlc},
    {"000001"_vlc, "0001"_vlc, "00001"_vlc, "011"_vlc, "11"_vlc, "10"_vlc, "010"_vlc, "001"_vlc, "000000"_vlc},
    {"000001"_vlc, "000000"_vlc, "0001"_vlc, "11"_vlc, "10"_vlc, "001"_vlc, "01"_vlc, "00001"_vlc},
    {"00001"_vlc, "00000"_vlc, "001"_vlc, "11"_vlc, "10"_vlc, "01"_vlc, "0001"_vlc},
    {"0000"_vlc, "0001"_vlc, "001"_vlc, "010"_vlc, "1"_vlc, "011"_vlc},
    {"0000"_vlc, "0001"_vlc, "01"_vlc, "1"_vlc, "001"_vlc},
    {"000"_vlc, "001"_vlc, "1"_vlc, "01"_vlc},
    {"00"_vlc, "01"_vlc, "1"_vlc},
    {"0"_vlc, "1"_vlc},
    {"1"_vlc, "01"_vlc, "001"_vlc, "000"_vlc},
    {"1"_vlc, "01"_vlc, "00"_vlc},
    {"1"_vlc, "0"_vlc},
};
// clang-format on

CU264_HD constexpr std::uint32_t packed_total_zeros_code(int row, int total_zeros) {
  return kTotalZerosCodes[row - 1][total_zeros];
}

namespace detail {
template <int... i>
CU264_HD std::uint32_t total_zeros_entry(std::integer_sequence<int, i...>, int index) {
  static constexpr std::uint32_t table[] = {packed_total_zeros_code(i / 16 + 1, i % 16)...};
  return table[index];
}
}  // namespace detail

CU264_HD CodeWord total_zeros_code(int row, int total_zeros) {
  using Entries = std::make_integer_sequence<int, kTotalZerosRows * 16>;
  return unpack_code(detail::total_zeros_entry(Entries{}, 16 * (row - 1) + total_zeros));
}

CU264_HD CodeWord chroma_dc_total_zeros_code(int total_coeff, int total_zeros) {
  return total_zeros_code(kChromaDcTotalZeros + total_coeff, total_zeros);
}

// Table 9-10: rows zerosLeft 1..6 and more, columns run_before.
// clang-format off
inline constexpr std::uint32_t kRunBeforeCodes[7][15] = {
    {"1"_vlc, "0"_vlc},
    {"1"_vlc, "01"_vlc, "00"_vlc},
    {"11"_vlc, "10"_vlc, "01"_vlc, "00"_vlc},
    {"11"_vlc, "10"_vlc, "01"_vlc, "001"_vlc, "000"_vlc},
    {"11"_vlc, "10"_vlc, "011"_vlc, "010"_vlc, "001"_vlc, "000"_vlc},
    {"11"_vlc, "000"_vlc, "001"_vlc, "011"_vlc, "010"_vlc, "101"_vlc, "100"_vlc},
    {"111"_vlc, "110"_vlc, "101"_vlc, "100"_vlc, "011"_vlc, "010"_vlc, "001"_vlc, "0001"_vlc, "00001"_vlc, "000001"_vlc, "0000001"_vlc, "00000001"_vlc, "000000001"_vlc, "0000000001"_vlc, "00000000001"_vlc},
};
// clang-format on

CU264_HD constexpr std::uint32_t packed_run_before_code(int zeros_left, int run_before) {
  return kRunBeforeCodes[zeros_left > 6 ? 6 : zeros_left - 1][run_before];
}

namespace detail {
template <int... i>
CU264_HD std::uint32_t run_before_entry(std::integer_sequence<int, i...>, int index) {
  static constexpr std::uint32_t table[] = {packed_run_before_code(i / 15 + 1, i % 15)...};
  return table[index];
}

// Of zerosLeft from `first` to `last`, 16 bits each: two bits for each run of up to six zeros.
CU264_HD constexpr std::uint64_t short_run_lengths(int first, int last) {
  std::uint64_t rows = 0;
  for (int zeros_left = first; zeros_left <= last; ++zeros_left) {
    for (int run = 0; run <= 6; ++run) {
      const std::uint64_t length = packed_run_before_code(zeros_left, run) & 0xff;
      rows |= length << (16 * (zeros_left - first) + 2 * run);
    }
  }
  return rows;
}
}  // namespace detail

CU264_HD CodeWord run_before_code(int zeros_left, int run_before) {
  using Entries = std::make_integer_sequence<int, 7 * 15>;
  const int row = zeros_left > 6 ? 6 : zeros_left - 1;
  return unpack_code(detail::run_before_entry(Entries{}, 15 * row + run_before));
}

// Length of run_before_code without a look-up in memory: two bits for each run of up to six zeros, sixteen
// for each zerosLeft.
CU264_HD int run_before_length(int zeros_left, int run_before) {
  constexpr std::uint64_t up_to_four = detail::short_run_lengths(1, 4);
  constexpr std::uint64_t five_and_more = detail::short_run_lengths(5, 7);
  const std::uint64_t row = zeros_left < 5 ? up_to_four >> (16 * (zeros_left - 1))
                                           : five_and_more >> (16 * (zeros_left > 6 ? 2 : zeros_left - 5));
  return run_before > 6 ? run_before - 3 : static_cast<int>(row >> (2 * run_before)) & 3;
}

}  // namespace cu264::core
