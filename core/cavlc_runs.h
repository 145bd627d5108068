// Writes all run_before codes of a block as one string of bits (H.264 9.2.3), from tables that take eight
// coefficients at a time. zerosLeft at a coefficient is the number of zeros below it, and its run_before ends
// at the next coefficient below it. So the codes of one half of a block depend on that half's mask and on the
// number of zeros below the half, which table 9-10 distinguishes only up to 7.
#pragma once

#include <cstdint>
#include <utility>

#include "core/bit_ops.h"
#include "core/cavlc_tables.h"
#include "core/hd.h"

namespace cu264::core {

// The code's bits above a byte that holds their number, as in unpack_code, but with up to 24 bits.
using PackedCode = std::uint32_t;

namespace detail {

// Empty where there is no such run.
CU264_HD constexpr PackedCode packed_run_before(int zeros_left, int run_before) {
  return zeros_left == 0 || run_before > 14 ? 0 : packed_run_before_code(zeros_left, run_before);
}

// The codes of all coefficients in `mask` but the lowest, where `zeros_below` zeros lie below the eight
// positions.
CU264_HD constexpr PackedCode runs_of_half(int zeros_below, std::uint32_t mask) {
  PackedCode bits = 0;
  int length = 0;
  for (int k = 7; k > 0; --k) {
    const std::uint32_t below = mask & ((1u << k) - 1);
    if (((mask >> k) & 1) == 0 || below == 0) continue;
    int ones = 0, next = 0;
    for (int i = 0; i < k; ++i) {
      if (((below >> i) & 1) != 0) ++ones, next = i;
    }
    const int zeros_left = zeros_below + k - ones;
    const PackedCode run = packed_run_before(zeros_left < 7 ? zeros_left : 7, k - next - 1);
    bits = bits << (run & 0xff) | run >> 8;
    length += static_cast<int>(run & 0xff);
  }
  return bits << 8 | static_cast<PackedCode>(length);
}

template <int... i>
CU264_HD PackedCode half_runs(std::integer_sequence<int, i...>, int index) {
  static constexpr PackedCode table[] = {runs_of_half(i >> 8, i & 0xff)...};
  return table[index];
}

template <int... i>
CU264_HD PackedCode bridging_run(std::integer_sequence<int, i...>, int index) {
  static constexpr PackedCode table[] = {packed_run_before(i >> 4, i & 15)...};
  return table[index];
}

template <int... i>
CU264_HD int half_runs_length(std::integer_sequence<int, i...>, int index) {
  static constexpr std::uint8_t table[] = {static_cast<std::uint8_t>(runs_of_half(i >> 8, i & 0xff))...};
  return table[index];
}

template <int... i>
CU264_HD int bridging_run_length(std::integer_sequence<int, i...>, int index) {
  static constexpr std::uint8_t table[] = {static_cast<std::uint8_t>(packed_run_before(i >> 4, i & 15))...};
  return table[index];
}

}  // namespace detail

// Holds at most 25 bits, so that total_zeros fits into a 32-bit word before them.
struct Runs {
  std::uint32_t bits = 0;
  int length = 0;
};

// Bit k of `nonzero`: coefficient k is not zero.
CU264_HD Runs run_before_codes(std::uint32_t nonzero) {
  using Halves = std::make_integer_sequence<int, 8 * 256>;
  using Bridges = std::make_integer_sequence<int, 8 * 16>;
  const std::uint32_t low = nonzero & 0xff, high = nonzero >> 8;
  const int zeros = 8 - count_ones(low);
  const PackedCode upper = detail::half_runs(Halves{}, (zeros < 7 ? zeros : 7) << 8 | static_cast<int>(high));
  const PackedCode lower = detail::half_runs(Halves{}, static_cast<int>(low));
  // The run from the lowest coefficient of the upper half to the highest of the lower half, if both exist.
  // There is no branch, so that the three look-ups overlap.
  const int above = 8 + highest_bit((high | 0x100) & (0u - (high | 0x100)));
  const int zeros_left = above - count_ones(low);
  const int run = above - highest_bit(low | 1) - 1;
  const PackedCode bridge = detail::bridging_run(
      Bridges{}, low != 0 && high != 0 ? (zeros_left < 7 ? zeros_left : 7) << 4 | run : 0);
  Runs runs{upper >> 8, static_cast<int>(upper & 0xff)};
  runs.bits = runs.bits << (bridge & 0xff) | bridge >> 8;
  runs.length += static_cast<int>(bridge & 0xff);
  runs.bits = runs.bits << (lower & 0xff) | lower >> 8;
  runs.length += static_cast<int>(lower & 0xff);
  return runs;
}

// The length of run_before_codes alone, from smaller tables.
CU264_HD int run_before_codes_length(std::uint32_t nonzero) {
  using Halves = std::make_integer_sequence<int, 8 * 256>;
  using Bridges = std::make_integer_sequence<int, 8 * 16>;
  const std::uint32_t low = nonzero & 0xff, high = nonzero >> 8;
  int length = detail::half_runs_length(Halves{}, static_cast<int>(low));
  if (high == 0) return length;
  const int ones = count_ones(low), zeros = 8 - ones;
  length += detail::half_runs_length(Halves{}, (zeros < 7 ? zeros : 7) << 8 | static_cast<int>(high));
  if (low == 0) return length;
  const int above = 8 + highest_bit(high & (0u - high)), zeros_left = above - ones;
  return length + detail::bridging_run_length(
                      Bridges{}, (zeros_left < 7 ? zeros_left : 7) << 4 | (above - highest_bit(low) - 1));
}

}  // namespace cu264::core
