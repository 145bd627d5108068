// Vectors of sixteen 16-bit lanes, which hold the columns of a macroblock or the candidate modes of a block,
// and of two such rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/cost.h"
#include "encoder/cpu/isa.h"

namespace cu264::encoder::CU264_ISA {

using Lanes = std::int16_t __attribute__((vector_size(32)));
using UnsignedLanes = std::uint16_t __attribute__((vector_size(32)));
using ByteLanes = std::uint8_t __attribute__((vector_size(16)));
using WideLanes = std::uint32_t __attribute__((vector_size(64)));
using TwoRows = std::int16_t __attribute__((vector_size(64)));
using TwoUnsignedRows = std::uint16_t __attribute__((vector_size(64)));

// Results are returned through references, because vectors wider than the ABI's registers should not be
// passed by value.
static inline void load_samples(const std::uint8_t* samples, Lanes& lanes) {
  ByteLanes bytes;
  std::memcpy(&bytes, samples, sizeof bytes);
  lanes = __builtin_convertvector(bytes, Lanes);
}

static inline void load_bytes(const std::uint8_t* samples, ByteLanes& bytes) {
  std::memcpy(&bytes, samples, sizeof bytes);
}

// Eight samples each, side by side.
static inline void load_halves(const std::uint8_t* low, const std::uint8_t* high, ByteLanes& bytes) {
  using Halves = std::uint64_t __attribute__((vector_size(16)));
  std::uint64_t a, b;
  std::memcpy(&a, low, sizeof a);
  std::memcpy(&b, high, sizeof b);
  bytes = reinterpret_cast<ByteLanes>(Halves{a, b});
}

// core::sample_mean of each lane. Compilers know no such operation on vectors.
static inline void mean(const ByteLanes& a, const ByteLanes& b, ByteLanes& out) {
#if defined(__SSE2__)
  out = reinterpret_cast<ByteLanes>(
      _mm_avg_epu8(reinterpret_cast<const __m128i&>(a), reinterpret_cast<const __m128i&>(b)));
#else
  for (int i = 0; i < 16; ++i) out[i] = static_cast<std::uint8_t>((a[i] + b[i] + 1) >> 1);
#endif
}

// A sum of absolute differences, of which there are at most 2^16.
class DifferenceSum {
 public:
  void add(const ByteLanes& a, const ByteLanes& b) {
#if defined(__SSE2__)
    sum_ += reinterpret_cast<Parts>(
        _mm_sad_epu8(reinterpret_cast<const __m128i&>(a), reinterpret_cast<const __m128i&>(b)));
#else
    for (int i = 0; i < 16; ++i) sum_[0] += static_cast<std::uint64_t>(std::abs(a[i] - b[i]));
#endif
  }
  int total() const {
    return static_cast<int>(sum_[0] + sum_[1]);
  }

 private:
  using Parts = std::uint64_t __attribute__((vector_size(16)));
  Parts sum_{};
};

static inline void fill(int value, Lanes& lanes) {
  lanes = Lanes{} + static_cast<std::int16_t>(value);
}

// Sums of four lanes each, in the four words of `sums`.
using LaneSums = std::uint64_t __attribute__((vector_size(32)));
static inline void sum_by_fours(const UnsignedLanes& lanes, LaneSums& sums) {
  using Pairs = std::uint32_t __attribute__((vector_size(32)));
  const Pairs pairs = reinterpret_cast<Pairs>(lanes);
  const LaneSums of_pairs = reinterpret_cast<LaneSums>((pairs & 0xffff) + (pairs >> 16));
  sums = (of_pairs & 0xffffffff) + (of_pairs >> 32);
}

static inline int sum(const UnsignedLanes& lanes) {
  LaneSums sums;
  sum_by_fours(lanes, sums);
  return static_cast<int>(sums[0] + sums[1] + sums[2] + sums[3]);
}

// Two rows of sixteen samples.
static inline void widen(const ByteLanes& first, const ByteLanes& second, TwoRows& rows) {
  using TwoByteRows = std::uint8_t __attribute__((vector_size(32)));
  TwoByteRows bytes;
#if defined(__AVX2__)  // which a copy through memory would make wait
  const __m256i low = _mm256_castsi128_si256(reinterpret_cast<const __m128i&>(first));
  bytes = reinterpret_cast<TwoByteRows>(
      _mm256_inserti128_si256(low, reinterpret_cast<const __m128i&>(second), 1));
#else
  std::memcpy(&bytes, &first, sizeof first);
  std::memcpy(reinterpret_cast<std::uint8_t*>(&bytes) + sizeof first, &second, sizeof second);
#endif
  rows = __builtin_convertvector(bytes, TwoRows);
}

// The sums over the left eight lanes of both rows, and over the right ones.
static inline void sum_by_side(const TwoUnsignedRows& rows, int& left, int& right) {
  UnsignedLanes row[2];
  std::memcpy(row, &rows, sizeof row);
  LaneSums sums[2];
  for (int i = 0; i < 2; ++i) sum_by_fours(row[i], sums[i]);
  sums[0] += sums[1];
  left = static_cast<int>(sums[0][0] + sums[0][1]), right = static_cast<int>(sums[0][2] + sums[0][3]);
}

static inline bool is_zero(const Lanes& lanes) {
  std::uint64_t parts[sizeof lanes / 8];
  std::memcpy(parts, &lanes, sizeof parts);
  return (parts[0] | parts[1] | parts[2] | parts[3]) == 0;
}

// Lane i takes lane order[i].
template <class Vector>
static inline void permute(const Vector& order, Vector& lanes) {
#if defined(__clang__)
  Vector out;
  for (std::size_t i = 0; i < sizeof lanes / 2; ++i) out[i] = lanes[order[i]];
  lanes = out;
#else
  lanes = __builtin_shuffle(lanes, order);  // g++ 11 has no __builtin_shufflevector
#endif
}

// Lanes that are kDistance apart, a power of two, change places.
template <int kDistance, class Vector>
static inline void swap_lanes(Vector& lanes) {
  Vector order;
  for (std::size_t i = 0; i < sizeof lanes / 2; ++i) order[i] = static_cast<std::int16_t>(i ^ kDistance);
  permute(order, lanes);
}

// Sums and differences of lanes that are kDistance apart: a + b where a was, a - b where b was.
template <int kDistance, class Vector>
static inline void add_and_subtract(Vector& lanes) {
  Vector partner = lanes, sign;
  swap_lanes<kDistance>(partner);
  for (std::size_t i = 0; i < sizeof lanes / 2; ++i) sign[i] = (i & kDistance) != 0 ? -1 : 1;
  lanes = partner + lanes * sign;
}

// Hadamard transforms of 4x4 blocks side by side, whose four rows `row` holds.
template <class Vector>
static inline void hadamard_blocks(Vector (&row)[4]) {
  core::hadamard_1d(row[0], row[1], row[2], row[3]);
  for (Vector& r : row) {
    add_and_subtract<1>(r);
    add_and_subtract<2>(r);
  }
}

// Adds |Hadamard coefficients| of 4x4 blocks side by side; `row` holds their four rows of differences, which
// are overwritten. |a + b| + |a - b| is twice the greater magnitude, so the last sums and differences are not
// made, and only the sum over the four lanes of a block is right.
template <class Vector, class Unsigned>
static inline void accumulate_satd(Vector (&row)[4], Unsigned& total) {
  core::hadamard_1d(row[0], row[1], row[2], row[3]);
  for (Vector& r : row) {
    add_and_subtract<1>(r);
    r = core::absolute(r);
    Vector partner = r;
    swap_lanes<2>(partner);
    total += reinterpret_cast<Unsigned>(r > partner ? r : partner);
  }
}

}  // namespace cu264::encoder::CU264_ISA
