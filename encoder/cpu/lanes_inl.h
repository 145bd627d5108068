// Vectors of sixteen 16-bit lanes, which hold the columns of a macroblock or the candidate modes of a block.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/cost.h"
#include "encoder/cpu/isa.h"

namespace cu264::encoder::CU264_ISA {

using Lanes = std::int16_t __attribute__((vector_size(32)));
using UnsignedLanes = std::uint16_t __attribute__((vector_size(32)));
using ByteLanes = std::uint8_t __attribute__((vector_size(16)));
using WideLanes = std::uint32_t __attribute__((vector_size(64)));

// Results are returned through references, because vectors wider than the ABI's registers should not be
// passed by value.
static inline void load_samples(const std::uint8_t* samples, Lanes& lanes) {
  ByteLanes bytes;
  std::memcpy(&bytes, samples, sizeof bytes);
  lanes = __builtin_convertvector(bytes, Lanes);
}

static inline void fill(int value, Lanes& lanes) {
  lanes = Lanes{} + static_cast<std::int16_t>(value);
}

static inline int sum(const UnsignedLanes& lanes) {
  const WideLanes wide = __builtin_convertvector(lanes, WideLanes);
  std::uint32_t total = 0;
  for (int i = 0; i < 16; ++i) total += wide[i];
  return static_cast<int>(total);
}

// Lane i takes lane order[i].
static inline void permute(const Lanes& order, Lanes& lanes) {
#if defined(__clang__)
  Lanes out;
  for (int i = 0; i < 16; ++i) out[i] = lanes[order[i]];
  lanes = out;
#else
  lanes = __builtin_shuffle(lanes, order);  // g++ 11 has no __builtin_shufflevector
#endif
}

// Adds |Hadamard coefficients| of four 4x4 blocks side by side; `row` holds their four rows of differences.
static inline void accumulate_satd(Lanes (&row)[4], UnsignedLanes& total) {
  constexpr Lanes kSwapNeighbours = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14};
  constexpr Lanes kSwapPairs = {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13};
  constexpr Lanes kNegateOdd = {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1};
  constexpr Lanes kNegateOddPairs = {1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1};
  core::hadamard_1d(row[0], row[1], row[2], row[3]);
  for (Lanes& r : row) {
    Lanes partner = r;
    permute(kSwapNeighbours, partner);
    r = partner + r * kNegateOdd;
    partner = r;
    permute(kSwapPairs, partner);
    r = partner + r * kNegateOddPairs;
    total += reinterpret_cast<UnsignedLanes>(core::absolute(r));
  }
}

}  // namespace cu264::encoder::CU264_ISA
