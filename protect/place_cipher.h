// Selective encryption of codewords: it changes the places of a block's levels, a mask with bit k for coding
// position k. total_zeros and run_before become others with codes of the same length, and neighbouring runs
// are swapped if the codes after them keep their lengths.
#pragma once

#include <cstdint>
#include <utility>

#include "core/bit_ops.h"
#include "core/cavlc_runs.h"
#include "core/cavlc_tables.h"
#include "core/hd.h"

namespace cu264::protect {

// Code lengths of total_zeros and run_before by symbol, four bits each, 0 where there is no such symbol.
CU264_HD constexpr std::uint64_t total_zeros_lengths(int total_coeff, int max_num_coeff) {
  const int row = (max_num_coeff == 4 ? core::kChromaDcTotalZeros : 0) + total_coeff;
  std::uint64_t lengths = 0;
  for (int zeros = 0; zeros < 16; ++zeros) {
    lengths |= std::uint64_t{core::packed_total_zeros_code(row, zeros) & 0xff} << (4 * zeros);
  }
  return lengths;
}

CU264_HD constexpr int run_before_bits(int zeros_left, int run_before) {
  return static_cast<int>(core::packed_run_before_code(zeros_left, run_before) & 0xff);
}

CU264_HD constexpr std::uint64_t run_before_lengths(int zeros_left) {
  std::uint64_t lengths = 0;
  for (int run = 0; run < 15; ++run) {
    lengths |= static_cast<std::uint64_t>(run_before_bits(zeros_left, run)) << (4 * run);
  }
  return lengths;
}

CU264_HD constexpr int code_length(std::uint64_t lengths, int symbol) {
  return static_cast<int>(lengths >> (4 * symbol) & 15);
}

namespace detail {

// Nibble k is the symbol, from 0 to last_symbol, that key k makes of `symbol`. Among the symbols with codes
// of the same length it is the one whose rank is the symbol's rank XOR the key; it is `symbol` itself where
// there is no such rank. The mapping undoes itself.
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

// The table is indexed by [max_num_coeff 16, 15][total_coeff - 1][total_zeros], and then by [total_coeff -
// 1][total_zeros] for chroma DC.
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

// The table is indexed by [zerosLeft - 1][run_before]; a zerosLeft of 7 stands for more as well.
CU264_HD constexpr std::uint32_t run_before_entry(int index) {
  const int left = index / 16 + 1, run = index % 16, last = left < 7 ? left : 14;
  return run > last ? 0
                    : static_cast<std::uint32_t>(same_length_symbols(run_before_lengths(left), run, last));
}

// The table is indexed by [zerosLeft][run_before]. Bit r says whether the two runs may be swapped if the next
// run_before is r: the codes of both then take as many bits as before, and the second run is still one that
// is coded.
CU264_HD constexpr std::uint16_t swap_entry(int index) {
  const int left = index / 16, first = index % 16;
  std::uint32_t runs = 0;
  for (int second = 0; first < left && second < left && first + second <= left && second < 15; ++second) {
    const int now = run_before_bits(left, first) + run_before_bits(left - first, second);
    const int then = run_before_bits(left, second) + run_before_bits(left - second, first);
    if (now == then) runs |= 1u << second;
  }
  return static_cast<std::uint16_t>(runs);
}

// Returns how many bits the run_before codes of a block with these levels take (9.2.3).
CU264_HD constexpr int runs_length(std::uint32_t nonzero) {
  int length = 0, run = 0, ones = 0;
  for (int k = 0; k < 16; ++k, ++run) {
    if ((nonzero >> k & 1) == 0) continue;
    if (ones > 0 && k > ones) length += run_before_bits(k - ones, run);
    ++ones, run = -1;
  }
  return length;
}

// Returns a table for levels at these places, all below kFewPlaces: bit 16 + by says whether they may move by
// `by` (checked_move).
inline constexpr int kFewPlaces = 10;
CU264_HD constexpr std::uint32_t moves_entry(std::uint32_t levels) {
  const int length = runs_length(levels);
  std::uint32_t moves = 0;
  for (int by = -15; by < 16; ++by) {
    const std::uint32_t moved = by < 0 ? levels >> -by : levels << by;
    const bool lost = by < 0 && moved << -by != levels;
    if (lost || moved > 0xffff || (moved & 3) == 3 || runs_length(moved) != length) continue;
    moves |= 1u << (16 + by);
  }
  return moves;
}

template <int... i>
CU264_HD std::uint32_t moves_of_few(std::integer_sequence<int, i...>, std::uint32_t levels) {
  static constexpr std::uint32_t table[] = {moves_entry(i)...};
  return table[levels];
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

// The tables that the steps use.
struct PlaceTables {
  static constexpr int kTotalZeros = detail::kTotalZerosSymbols, kRuns = 7 * 16, kSwaps = 16 * 16;
  static constexpr int kMoves = 1 << detail::kFewPlaces;

  CU264_HD_MEMBER static std::uint64_t total_zeros(int index) {
    return detail::total_zeros_symbols(std::make_integer_sequence<int, kTotalZeros>{}, index);
  }
  CU264_HD_MEMBER static std::uint32_t runs(int index) {
    return detail::run_before_symbols(std::make_integer_sequence<int, kRuns>{}, index);
  }
  CU264_HD_MEMBER static std::uint32_t swaps(int index) {
    return detail::swappable_runs(std::make_integer_sequence<int, kSwaps>{}, index);
  }
  CU264_HD_MEMBER static std::uint32_t moves(std::uint32_t levels) {
    return detail::moves_of_few(std::make_integer_sequence<int, kMoves>{}, levels);
  }
};

// Returns by how much the lowest levels of a block, the bits of `levels`, move if they are asked to move by
// `by`. They do not move at all if one would fall off the end, if the lowest two would have no zero below
// them, or if their runs would take more or fewer bits.
CU264_HD int checked_move(std::uint32_t levels, int by) {
  if (levels < PlaceTables::kMoves) return (PlaceTables::moves(levels) >> (16 + by) & 1) != 0 ? by : 0;
  const std::uint32_t moved = levels << (16 + by);  // shifted 16 to the left as well
  if (by == 0 || (moved & 0xffff) != 0 || (moved >> 16 & 3) == 3) return 0;
  const bool alone = (levels & (levels - 1)) == 0;  // a single level has no run
  return alone || core::run_before_codes_length(moved >> 16) == core::run_before_codes_length(levels) ? by
                                                                                                      : 0;
}

// Each of the following steps undoes itself. The first two are for blocks of which every level but the last
// has a zero below it, and so a run; otherwise another sum of runs would mean another number of codes.

// Returns what total_zeros of the block may become. The block has fewer levels than max_num_coeff.
CU264_HD std::uint64_t total_zeros_choice(std::uint32_t nonzero, int total_coeff, int max_num_coeff) {
  const int zeros = core::highest_bit(nonzero) + 1 - total_coeff;
  int index = max_num_coeff == 15 ? detail::kChromaDcSymbols / 2 : 0;
  index += 16 * (total_coeff - 1);
  if (max_num_coeff == 4) index = detail::kChromaDcSymbols + 4 * (total_coeff - 1);
  return PlaceTables::total_zeros(index + zeros);
}

// Returns how far all levels move.
CU264_HD int exchange_total_zeros(std::uint32_t nonzero, int total_coeff, std::uint64_t choice,
                                  std::uint32_t key) {
  const int zeros = core::highest_bit(nonzero) + 1 - total_coeff;
  return checked_move(nonzero, static_cast<int>(choice >> (4 * key) & 15) - zeros);
}

// Returns how far the `below` levels of the mask `later`, the first of which is at `next`, move when the
// level at `place` just above them gets another run_before.
CU264_HD int exchange_run(int place, int next, std::uint32_t later, int below, std::uint32_t key) {
  const int run = place - next - 1, left = place - below;
  const std::uint32_t symbols = PlaceTables::runs(16 * ((left < 7 ? left : 7) - 1) + run);
  return checked_move(later, run - static_cast<int>(symbols >> (4 * key) & 15));
}

// Returns where the level at `next` goes if its run and that of the level at `place` are swapped. No level
// lies between the two; `after` is the level after them, and `below` levels are below `place`.
CU264_HD int swap_runs(int place, int next, int after, int below) {
  const int left = place - below, first = place - next - 1, second = next - after - 1;
  return (PlaceTables::swaps(16 * left + first) >> second & 1) != 0 ? place - 1 - second : next;
}

// A key has four bits for total_zeros, three for each run and one for each pair of neighbouring runs.
struct PlaceKey {
  std::uint32_t total_zeros, swaps;
  std::uint64_t runs;

  CU264_HD_MEMBER PlaceKey(std::uint64_t key, int total_coeff)
      : total_zeros(static_cast<std::uint32_t>(key & 15)),
        swaps(static_cast<std::uint32_t>(key >> (1 + 3 * total_coeff))),
        runs(key >> 4) {}
};

namespace detail {

CU264_HD std::uint32_t moved_by(std::uint32_t levels, int by) {
  return levels << (16 + by) >> 16;
}

// Says how many levels of a block have a run, and whether total_zeros is free.
struct PlaceShape {
  int total_coeff, runs;
  bool sum_is_free;

  CU264_HD_MEMBER PlaceShape(std::uint32_t nonzero, int coefficients) : total_coeff(coefficients) {
    // There are no zeros below the levels at the bottom, and the last level has no run.
    const std::uint32_t gaps = ~nonzero;
    const int dense = core::highest_bit(gaps & (0u - gaps));
    sum_is_free = dense <= 1;
    runs = total_coeff - (sum_is_free ? 1 : dense);
  }
};

CU264_HD std::uint32_t encrypt_places(std::uint32_t nonzero, std::uint64_t choice, const PlaceShape& shape,
                                      PlaceKey key) {
  if (shape.sum_is_free) {
    nonzero = moved_by(nonzero, exchange_total_zeros(nonzero, shape.total_coeff, choice, key.total_zeros));
    std::uint32_t rest = nonzero;
    int place = core::highest_bit(rest);
    nonzero = 1u << place;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int below = shape.total_coeff - 1; below > 0; --below, key.runs >>= 3) {
      rest ^= 1u << place;
      const int next = core::highest_bit(rest);
      const int by = exchange_run(place, next, rest, below, static_cast<std::uint32_t>(key.runs & 7));
      rest = moved_by(rest, by);
      place = next + by;
      nonzero |= 1u << place;
    }
  }
  if (shape.runs < 2) return nonzero;
  int place = core::highest_bit(nonzero);
  std::uint32_t rest = nonzero ^ 1u << place;
  int next = core::highest_bit(rest);
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int i = 0; i + 1 < shape.runs; ++i, key.swaps >>= 1) {
    rest ^= 1u << next;
    const int after = core::highest_bit(rest);
    if ((key.swaps & 1) != 0) {
      const int other = swap_runs(place, next, after, shape.total_coeff - 1 - i);
      nonzero ^= 1u << next ^ 1u << other;
      next = other;
    }
    place = next, next = after;
  }
  return nonzero;
}

// Undoes the steps, from the last to the first.
CU264_HD std::uint32_t decrypt_places(std::uint32_t nonzero, int max_num_coeff, const PlaceShape& shape,
                                      const PlaceKey& key) {
  const int count = shape.total_coeff;
  int places[16];
  for (int i = 0; i < count; ++i) {
    places[i] = core::highest_bit(nonzero);
    nonzero ^= 1u << places[i];
  }
  const auto from = [&places, count](int first) {
    std::uint32_t mask = 0;
    for (int i = first; i < count; ++i) mask |= 1u << places[i];
    return mask;
  };
  for (int i = shape.runs - 2; i >= 0; --i) {
    if ((key.swaps >> i & 1) == 0) continue;
    places[i + 1] = swap_runs(places[i], places[i + 1], places[i + 2], count - 1 - i);
  }
  if (!shape.sum_is_free) return from(0);
  for (int i = shape.runs - 1; i >= 0; --i) {
    const int by = exchange_run(places[i], places[i + 1], from(i + 1), count - 1 - i,
                                static_cast<std::uint32_t>(key.runs >> (3 * i) & 7));
    for (int j = i + 1; j < count; ++j) places[j] += by;
  }
  const std::uint64_t choice = total_zeros_choice(from(0), count, max_num_coeff);
  return moved_by(from(0), exchange_total_zeros(from(0), count, choice, key.total_zeros));
}

}  // namespace detail

// Encrypts the places of a block with fewer levels than max_num_coeff, whose total_zeros_choice is known.
CU264_HD std::uint32_t encrypt_places(std::uint32_t nonzero, int total_coeff, std::uint64_t choice,
                                      std::uint64_t key) {
  return detail::encrypt_places(nonzero, choice, detail::PlaceShape(nonzero, total_coeff),
                                PlaceKey(key, total_coeff));
}

CU264_HD std::uint32_t encrypt_places(std::uint32_t nonzero, int max_num_coeff, std::uint64_t key,
                                      bool decrypt) {
  const int total_coeff = core::count_ones(nonzero);
  if (total_coeff >= max_num_coeff) return nonzero;
  if (decrypt) {
    return detail::decrypt_places(nonzero, max_num_coeff, detail::PlaceShape(nonzero, total_coeff),
                                  PlaceKey(key, total_coeff));
  }
  return encrypt_places(nonzero, total_coeff, total_zeros_choice(nonzero, total_coeff, max_num_coeff), key);
}

}  // namespace cu264::protect
