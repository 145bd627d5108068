// Selective encryption of codewords: the places of a block's levels, as a mask with bit k for coding position
// k. total_zeros and run_before become others with codes of the same length, and neighbouring runs change
// places, where the codes behind keep their lengths.
#pragma once

#include <cstdint>
#include <utility>

#include "core/bit_ops.h"
#include "core/cavlc_runs.h"
#include "core/hd.h"

namespace cu264::protect {

// Code lengths by symbol, four bits each: total_zeros (tables 9-7, 9-8, 9-9 a) and run_before (table 9-10).
CU264_HD constexpr std::uint64_t total_zeros_lengths(int total_coeff, int max_num_coeff) {
  constexpr std::uint64_t table[15] = {
      0x9998877665544331, 0x0666655444433333, 0x0065655433443334, 0x0005554343334435, 0x0000545433333444,
      0x0000063433333356, 0x0000006343233356, 0x0000000633223546, 0x0000000052322466, 0x0000000004222355,
      0x0000000000313344, 0x0000000000031244, 0x0000000000002133, 0x0000000000000122, 0x0000000000000011};
  constexpr std::uint64_t chroma_dc[3] = {0x0000000000003321, 0x0000000000000221, 0x0000000000000011};
  return max_num_coeff == 4 ? chroma_dc[total_coeff - 1] : table[total_coeff - 1];
}

CU264_HD constexpr std::uint64_t run_before_lengths(int zeros_left) {
  constexpr std::uint64_t table[7] = {0x0000000000000011, 0x0000000000000221, 0x0000000000002222,
                                      0x0000000000033222, 0x0000000000333322, 0x0000000003333332,
                                      0x0ba9876543333333};
  return table[(zeros_left > 6 ? 7 : zeros_left) - 1];
}

CU264_HD constexpr int code_length(std::uint64_t lengths, int symbol) {
  return static_cast<int>(lengths >> (4 * symbol) & 15);
}

namespace detail {

// Nibble k: which symbol, 0 to last_symbol, key k makes of `symbol`. Of those with codes of the same length
// the one whose rank among them is the symbol's XOR the key; itself where there is no such rank. Undoes
// itself.
CU264_HD constexpr std::uint64_t same_length_symbols(std::uint64_t lengths, int symbol, int last_symbol) {
  int equal[16] = {}, count = 0, rank = 0, mask = 0;
  for (int other = 0; other <= last_symbol; ++other) {
    if (code_length(lengths, other) != code_length(lengths, symbol)) continue;
    if (other == symbol) rank = count;
    equal[count++] = other;
  }
  while (mask + 1 < count) mask = 2 * mask + 1;
  std::uint64_t symbols = 0;
  for (int key = 0; key < 16; ++key) {
    const int wanted = rank ^ (key & mask);
    symbols |= static_cast<std::uint64_t>(wanted < count ? equal[wanted] : symbol) << (4 * key);
  }
  return symbols;
}

// [max_num_coeff 16, 15][total_coeff - 1][total_zeros], then [total_coeff - 1][total_zeros] of chroma DC
inline constexpr int kChromaDcSymbols = 2 * 15 * 16, kTotalZerosSymbols = kChromaDcSymbols + 3 * 4;

CU264_HD constexpr std::uint64_t total_zeros_entry(int index) {
  const bool chroma_dc = index >= kChromaDcSymbols;
  const int max_num_coeff = chroma_dc ? 4 : index < kChromaDcSymbols / 2 ? 16 : 15;
  const int at = chroma_dc ? index - kChromaDcSymbols : index % (kChromaDcSymbols / 2);
  const int total_coeff = at / (chroma_dc ? 4 : 16) + 1, zeros = at % (chroma_dc ? 4 : 16);
  if (total_coeff + zeros > max_num_coeff) return 0;
  return same_length_symbols(total_zeros_lengths(total_coeff, max_num_coeff), zeros,
                             max_num_coeff - total_coeff);
}

// [zerosLeft - 1][run_before], zerosLeft up to 7, which stands for more
CU264_HD constexpr std::uint32_t run_before_entry(int index) {
  const int left = index / 16 + 1, run = index % 16, last = left < 7 ? left : 14;
  return run > last ? 0
                    : static_cast<std::uint32_t>(same_length_symbols(run_before_lengths(left), run, last));
}

// [zerosLeft][run_before]: bit r, whether the next run_before being r the two may change places: codes of
// both then take as many bits, and the second run is still one that is coded.
CU264_HD constexpr std::uint16_t swap_entry(int index) {
  const int left = index / 16, first = index % 16;
  std::uint32_t runs = 0;
  for (int second = 0; first < left && second < left && first + second <= left && second < 15; ++second) {
    const int now =
        code_length(run_before_lengths(left), first) + code_length(run_before_lengths(left - first), second);
    const int then =
        code_length(run_before_lengths(left), second) + code_length(run_before_lengths(left - second), first);
    if (now == then) runs |= 1u << second;
  }
  return static_cast<std::uint16_t>(runs);
}

template <int... i>
CU264_HD std::uint32_t swappable_runs(std::integer_sequence<int, i...>, int index) {
  static constexpr std::uint16_t table[] = {swap_entry(i)...};
  return table[index];
}

template <int... i>
CU264_HD std::uint64_t total_zeros_symbols(std::integer_sequence<int, i...>, int index) {
  static constexpr std::uint64_t table[] = {total_zeros_entry(i)...};
  return table[index];
}

template <int... i>
CU264_HD std::uint32_t run_before_symbols(std::integer_sequence<int, i...>, int index) {
  static constexpr std::uint32_t table[] = {run_before_entry(i)...};
  return table[index];
}

}  // namespace detail

// Moves bits to other places; each step undoes itself.
class PlaceCipher {
 public:
  CU264_HD_MEMBER PlaceCipher(std::uint32_t nonzero, int total_coeff, int max_num_coeff)
      : nonzero_(nonzero),
        total_coeff_(total_coeff),
        max_num_coeff_(max_num_coeff),
        length_(total_coeff > 1 ? core::run_before_codes(nonzero).length : 0) {}

  CU264_HD_MEMBER std::uint32_t nonzero() const { return nonzero_; }

  // Of the level at this place, those below it being coded later.
  CU264_HD_MEMBER std::uint32_t below(int place) const { return nonzero_ & ((1u << place) - 1); }

  // The next two are for blocks of which every level but the last has a zero below it, and so a run: another
  // sum of runs would else be another number of codes.
  CU264_HD_MEMBER void exchange_total_zeros(std::uint32_t key) {
    const int zeros = core::highest_bit(nonzero_) + 1 - total_coeff_;
    int index = max_num_coeff_ == 15 ? detail::kChromaDcSymbols / 2 : 0;
    index += 16 * (total_coeff_ - 1);
    if (max_num_coeff_ == 4) index = detail::kChromaDcSymbols + 4 * (total_coeff_ - 1);
    using Indices = std::make_integer_sequence<int, detail::kTotalZerosSymbols>;
    const std::uint64_t symbols = detail::total_zeros_symbols(Indices{}, index + zeros);
    shift(nonzero_, static_cast<int>(symbols >> (4 * key) & 15) - zeros);
  }

  // run_before of the level at this place.
  CU264_HD_MEMBER void exchange_run(int place, std::uint32_t key) {
    const std::uint32_t later = below(place);
    const int run = place - core::highest_bit(later) - 1, left = place - core::count_ones(later);
    using Indices = std::make_integer_sequence<int, 7 * 16>;
    const std::uint32_t symbols =
        detail::run_before_symbols(Indices{}, 16 * ((left < 7 ? left : 7) - 1) + run);
    shift(later, run - static_cast<int>(symbols >> (4 * key) & 15));
  }

  // Of the level at this place and of the next one.
  CU264_HD_MEMBER void swap_runs(int place) {
    const std::uint32_t later = below(place);
    const int next = core::highest_bit(later), left = place - core::count_ones(later);
    const int first = place - next - 1, second = next - core::highest_bit(later ^ (1u << next)) - 1;
    using Indices = std::make_integer_sequence<int, 16 * 16>;
    if ((detail::swappable_runs(Indices{}, 16 * left + first) >> second & 1) == 0) return;
    nonzero_ = (nonzero_ ^ (1u << next)) | 1u << (place - 1 - second);
  }

 private:
  // Shifts some bits, none out, if the codes then take as many bits as before.
  CU264_HD_MEMBER void shift(std::uint32_t bits, int by) {
    if (by == 0 || core::highest_bit(bits & (0u - bits)) + by < 0) return;
    const std::uint32_t moved = (nonzero_ ^ bits) | (by > 0 ? bits << by : bits >> -by);
    // A level alone is the last one, which has no run.
    const bool alone = (bits & (bits - 1)) == 0;
    if (alone || ((moved & 3) != 3 && core::run_before_codes(moved).length == length_)) nonzero_ = moved;
  }

  std::uint32_t nonzero_;
  const int total_coeff_, max_num_coeff_;
  const int length_;  // of all run_before
};

// Of `key` four bits are for total_zeros, three for each run and one for each pair of neighbouring runs.
CU264_HD std::uint32_t encrypt_places(std::uint32_t nonzero, int max_num_coeff, std::uint64_t key,
                                      bool decrypt) {
  const int total_coeff = core::count_ones(nonzero);
  if (total_coeff >= max_num_coeff) return nonzero;
  // Below the levels at the bottom there are no zeros, and the last level has no run.
  const std::uint32_t gaps = ~nonzero;
  const int dense = core::highest_bit(gaps & (0u - gaps));
  const bool sum_is_free = dense <= 1;
  const int runs = total_coeff - (sum_is_free ? 1 : dense);
  const std::uint64_t swaps = key >> (1 + 3 * total_coeff);
  PlaceCipher cipher(nonzero, total_coeff, max_num_coeff);
  if (!decrypt) {
    int place = core::highest_bit(nonzero);
    if (sum_is_free) {
      cipher.exchange_total_zeros(static_cast<std::uint32_t>(key & 15));
      key >>= 4;
      place = core::highest_bit(cipher.nonzero());
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
      for (int i = 0; i < runs; ++i, key >>= 3) {
        cipher.exchange_run(place, static_cast<std::uint32_t>(key & 7));
        place = core::highest_bit(cipher.below(place));
      }
      place = core::highest_bit(cipher.nonzero());
    }
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = 0; i + 1 < runs; ++i) {
      if ((swaps >> i & 1) != 0) cipher.swap_runs(place);
      place = core::highest_bit(cipher.below(place));
    }
    return cipher.nonzero();
  }
  const auto place_of = [&](int index) {
    std::uint32_t rest = cipher.nonzero();
    for (; index > 0; --index) rest ^= 1u << core::highest_bit(rest);
    return core::highest_bit(rest);
  };
  for (int i = runs - 2; i >= 0; --i) {
    if ((swaps >> i & 1) != 0) cipher.swap_runs(place_of(i));
  }
  if (sum_is_free) {
    for (int i = runs - 1; i >= 0; --i)
      cipher.exchange_run(place_of(i), static_cast<std::uint32_t>(key >> (4 + 3 * i) & 7));
    cipher.exchange_total_zeros(static_cast<std::uint32_t>(key & 15));
  }
  return cipher.nonzero();
}

}  // namespace cu264::protect
