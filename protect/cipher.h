// What selective encryption does to the values of a macroblock: signs, prediction modes, and the places of
// levels. Every function keeps the length of every code, and is undone by itself or with `decrypt` set.
//
// All on plain values, for stream tools and kernels alike; the key bits come from keystream_block
// (protect/aes.h).
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/bits.h"
#include "core/hd.h"

namespace cu264::protect {

// Signs. A level's sign is the last bit of its level_suffix, so that only a level without one keeps its sign:
// at suffixLength 0 up to levelCode 13 the parity of level_prefix is the sign, and another sign would be
// another length.
CU264_HD bool level_sign_has_bit(int level_code, int suffix_length) {
  return suffix_length > 0 || level_code >= 14;
}

// Prediction modes.

// A slice that begins inside a row has one macroblock whose left and upper neighbours are available and whose
// upper left one is not. Its first block and the two that it is predicted from keep their modes: modes that
// need the corner would be illegal there.
CU264_HD bool mode_is_kept(int address, int first_mb, int mb_width, bool large_blocks, int block) {
  if (first_mb % mb_width == 0) return false;
  if (address == first_mb && block == (large_blocks ? 2 : 10)) return true;
  if (address == first_mb + mb_width - 1 && block == (large_blocks ? 1 : 5)) return true;
  return address == first_mb + mb_width && block == 0;
}

// rem_intra4x4_pred_mode or rem_intra8x8_pred_mode of a block with these neighbours. `key` is a byte of
// keystream. Without a neighbour the predicted mode is DC (8.3.1.1), and only some modes are legal; with
// both, all are.
CU264_HD int encrypt_rem_mode(int rem, bool left, bool above, std::uint32_t key, bool decrypt) {
  if (left && above) return rem ^ static_cast<int>(key & 7);
  // Horizontal and horizontal up
  if (left) return rem == 1 || rem == 7 ? rem ^ ((key & 1) != 0 ? 6 : 0) : rem;
  // Vertical, diagonal down left and vertical left: rem 0, 2 and 6
  if (!above || (rem != 0 && rem != 2 && rem != 6)) return rem;
  const int index = rem == 0 ? 0 : rem == 2 ? 1 : 2;
  const int step = static_cast<int>(key % 3);
  const int moved = (index + (decrypt ? 3 - step : step)) % 3;
  return moved == 0 ? 0 : moved == 1 ? 2 : 6;
}

// mb_type of an Intra_16x16 macroblock: the prediction mode moves among those that the neighbours allow and
// whose mb_type is as long. `key` is a byte of keystream.
CU264_HD int encrypt_mb_type(int mb_type, bool left, bool above, bool above_left, std::uint32_t key,
                             bool decrypt) {
  const int mode = (mb_type - 1) & 3, base = mb_type - mode;
  const int length = core::ue_length(static_cast<std::uint32_t>(mb_type));
  // Vertical, horizontal, DC, plane (table 8-4)
  std::uint32_t allowed = (above ? 1u : 0u) | (left ? 2u : 0u) | 4u | (left && above && above_left ? 8u : 0u);
  for (int other = 0; other < 4; ++other) {
    if (core::ue_length(static_cast<std::uint32_t>(base + other)) != length) allowed &= ~(1u << other);
  }
  if ((allowed >> mode & 1) == 0) return mb_type;
  const int count = core::count_ones(allowed), step = static_cast<int>(key) % count;
  int index = core::count_ones(allowed & ((1u << mode) - 1));
  for (index = (index + (decrypt ? count - step : step)) % count; index > 0; --index) allowed &= allowed - 1;
  return base + core::highest_bit(allowed & ~(allowed - 1));
}

// intra_chroma_pred_mode: horizontal and vertical have codes of one length; both need their neighbour.
CU264_HD int encrypt_chroma_mode(int mode, bool left, bool above, std::uint32_t key) {
  return left && above && (mode == 1 || mode == 2) && (key & 1) != 0 ? 3 - mode : mode;
}

// Codewords: the zeros between the levels.

// Code lengths by symbol, four bits each: total_zeros (tables 9-7, 9-8, 9-9 a) and run_before (table 9-10).
CU264_HD std::uint64_t total_zeros_lengths(int total_coeff, int max_num_coeff) {
  static constexpr std::uint64_t table[15] = {
      0x9998877665544331, 0x0666655444433333, 0x0065655433443334, 0x0005554343334435, 0x0000545433333444,
      0x0000063433333356, 0x0000006343233356, 0x0000000633223546, 0x0000000052322466, 0x0000000004222355,
      0x0000000000313344, 0x0000000000031244, 0x0000000000002133, 0x0000000000000122, 0x0000000000000011};
  static constexpr std::uint64_t chroma_dc[3] = {0x0000000000003321, 0x0000000000000221, 0x0000000000000011};
  return max_num_coeff == 4 ? chroma_dc[total_coeff - 1] : table[total_coeff - 1];
}

CU264_HD std::uint64_t run_before_lengths(int zeros_left) {
  static constexpr std::uint64_t table[7] = {0x0000000000000011, 0x0000000000000221, 0x0000000000002222,
                                             0x0000000000033222, 0x0000000000333322, 0x0000000003333332,
                                             0x0ba9876543333333};
  return table[(zeros_left > 6 ? 7 : zeros_left) - 1];
}

CU264_HD int code_length(std::uint64_t lengths, int symbol) {
  return static_cast<int>(lengths >> (4 * symbol) & 15);
}

// Another symbol, 0 to last_symbol, with a code of the same length, by its rank among them XOR `key`; the
// same symbol where that names none. Undoes itself.
CU264_HD int same_length_symbol(std::uint64_t lengths, int symbol, int last_symbol, std::uint32_t key) {
  constexpr std::uint64_t ones = 0x1111111111111111;
  const std::uint64_t differs = lengths ^ (ones * static_cast<std::uint64_t>(code_length(lengths, symbol)));
  std::uint64_t equal = ~(differs | differs >> 1 | differs >> 2 | differs >> 3) & ones;
  if (last_symbol < 15) equal &= (std::uint64_t{1} << (4 * (last_symbol + 1))) - 1;
  // Each nibble of the product holds the count of equal ones up to it, at most 7: no length has more codes.
  const std::uint64_t ranks = equal * ones;
  const int count = static_cast<int>(ranks >> 60);
  if (count < 2) return symbol;
  const int rank = static_cast<int>(ranks >> (4 * symbol) & 15) - 1;
  const auto mask = (2u << core::highest_bit(static_cast<std::uint32_t>(count - 1))) - 1;
  int wanted = rank ^ static_cast<int>(key & mask);
  if (wanted >= count) return symbol;
  for (; wanted > 0; --wanted) equal &= equal - 1;
  int place = 0;
  for (; (equal & 1) == 0; equal >>= 4) ++place;
  return place;
}

struct ZerosAndRuns {
  int total_coeff = 0;
  int max_num_coeff = 0;
  int total_zeros = 0;
  int coded_runs = 0;  // run_before that are in the stream
  std::uint8_t run_before[16] = {};
};

CU264_HD int run_length(int zeros_left, int run_before) {
  return code_length(run_before_lengths(zeros_left), run_before);
}

// The steps of encrypt_zeros. Each takes one value to another, or does not where the runs behind would then
// cost other bits: a condition that is the same before and after, so that every step undoes itself.
class ZerosCipher {
 public:
  CU264_HD_MEMBER explicit ZerosCipher(ZerosAndRuns& block) : block_(block) {
    int left = block.total_zeros;
    for (int i = 0; i < block.coded_runs; ++i) {
      left_[i] = static_cast<std::int8_t>(left);
      left -= block.run_before[i];
    }
    rest_ = left;
    // No run is coded once no zeros are left: another sum of runs would then be another number of codes.
    sum_is_free_ = block.coded_runs + 1 == block.total_coeff;
  }

  CU264_HD_MEMBER void exchange_total_zeros(std::uint32_t key) {
    if (!sum_is_free_) return;
    const int room = block_.max_num_coeff - block_.total_coeff;
    const int other = same_length_symbol(total_zeros_lengths(block_.total_coeff, block_.max_num_coeff),
                                         block_.total_zeros, room, key);
    if (shift(0, other - block_.total_zeros)) block_.total_zeros = other;
  }

  CU264_HD_MEMBER void exchange_run(int index, std::uint32_t key) {
    if (!sum_is_free_) return;
    const int left = left_[index], run = block_.run_before[index];
    const int other = same_length_symbol(run_before_lengths(left), run, left < 14 ? left : 14, key);
    if (shift(index + 1, run - other)) block_.run_before[index] = static_cast<std::uint8_t>(other);
  }

  CU264_HD_MEMBER void swap_runs(int index) {
    const int left = left_[index], first = block_.run_before[index], second = block_.run_before[index + 1];
    if (second >= left || run_length(left, first) + run_length(left - first, second) !=
                              run_length(left, second) + run_length(left - second, first)) {
      return;
    }
    block_.run_before[index] = static_cast<std::uint8_t>(second);
    block_.run_before[index + 1] = static_cast<std::uint8_t>(first);
    left_[index + 1] = static_cast<std::int8_t>(left - second);
  }

 private:
  // The runs from `first` on find so many zeros more, if they then cost as many bits as before.
  CU264_HD_MEMBER bool shift(int first, int zeros) {
    if (zeros == 0 || rest_ + zeros < 0) return false;
    int bits = 0;
    for (int i = first; i < block_.coded_runs; ++i) {
      const int run = block_.run_before[i], left = left_[i] + zeros;
      if (left <= 0 || run > left) return false;
      bits += run_length(left, run) - run_length(left_[i], run);
    }
    if (bits != 0) return false;
    for (int i = first; i < block_.coded_runs; ++i) left_[i] = static_cast<std::int8_t>(left_[i] + zeros);
    rest_ += zeros;
    return true;
  }

  ZerosAndRuns& block_;
  std::int8_t left_[16];  // zerosLeft before each run
  int rest_;              // behind the last one
  bool sum_is_free_;
};

// Three words of keystream: 4 bits for total_zeros and 3 for each run; 1 for each pair of neighbouring runs.
CU264_HD void encrypt_zeros(ZerosAndRuns& block, std::uint32_t key0, std::uint32_t key1, std::uint32_t key2,
                            bool decrypt) {
  if (block.total_coeff >= block.max_num_coeff) return;
  const std::uint64_t keys = static_cast<std::uint64_t>(key1) << 32 | key0;
  const int runs = block.coded_runs, steps = 1 + runs + (runs > 1 ? runs - 1 : 0);
  ZerosCipher cipher(block);
  for (int step = 0; step < steps; ++step) {
    const int at = decrypt ? steps - 1 - step : step;
    if (at == 0) {
      cipher.exchange_total_zeros(static_cast<std::uint32_t>(keys & 15));
    } else if (at <= runs) {
      cipher.exchange_run(at - 1, static_cast<std::uint32_t>(keys >> (1 + 3 * at) & 7));
    } else if ((key2 >> (at - 1 - runs) & 1) != 0) {
      cipher.swap_runs(at - 1 - runs);
    }
  }
}

}  // namespace cu264::protect
