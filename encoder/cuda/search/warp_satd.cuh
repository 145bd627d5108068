// Hadamard transforms of eight 4x4 differences at once, on the tensor cores.
//
// One mma.m16n8k32 multiplies [H | -H], where H is the 16x16 Hadamard matrix, by columns of sixteen source
// and sixteen predicted samples. The result is the exact integer coefficients of source - prediction, one
// column for each candidate. Lane 4 * g + t passes row t of column g, four samples in a word, of the source
// and of the prediction.
#pragma once

#include <cstdint>

#include "encoder/cuda/search/warp_block.cuh"

namespace cu264::encoder::cuda {

struct HadamardMatrix {
  std::uint32_t upper;  // row g, samples 4 * t .. 4 * t + 3, one byte each
  std::uint32_t lower;  // row g + 8

  __device__ explicit HadamardMatrix(int lane) {
    upper = lower = 0;
    const int row = lane >> 2, first = 4 * (lane & 3);
    for (int i = 0; i < 4; ++i) {
      // The rows are in Sylvester's order. Any order gives the same sum of magnitudes, and in this one row 0
      // is the sum of the samples.
      upper |= (__popc(row & (first + i)) & 1 ? 0xffu : 1u) << (8 * i);
      lower |= (__popc((row + 8) & (first + i)) & 1 ? 0xffu : 1u) << (8 * i);
    }
  }
};

// The coefficients of columns 2 * t and 2 * t + 1 in rows g and g + 8.
struct HadamardRows {
  int upper_even, upper_odd, lower_even, lower_odd;
};

__device__ inline HadamardRows hadamard_differences(const HadamardMatrix& h, std::uint32_t source,
                                                    std::uint32_t prediction) {
  HadamardRows r;
#if __CUDA_ARCH__ >= 800
  constexpr std::uint32_t kNegate = 0xfefefefeu;  // exchanges 1 and -1
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %10, %10, %10};"
      : "=r"(r.upper_even), "=r"(r.upper_odd), "=r"(r.lower_even), "=r"(r.lower_odd)
      : "r"(h.upper), "r"(h.lower), "r"(h.upper ^ kNegate), "r"(h.lower ^ kNegate), "r"(source),
        "r"(prediction), "r"(0));
#else
  // The same sums lane by lane: column 2 * t + odd, rows g and g + 8, four samples at a time.
  const int lane = static_cast<int>(threadIdx.x & 31), g = lane >> 2, t = lane & 3;
  int sums[4] = {};
  for (int quarter = 0; quarter < 4; ++quarter) {
    const int upper = static_cast<int>(__shfl_sync(kWarp, h.upper, 4 * g + quarter));
    const int lower = static_cast<int>(__shfl_sync(kWarp, h.lower, 4 * g + quarter));
    for (int odd = 0; odd < 2; ++odd) {
      const int from = 4 * (2 * t + odd) + quarter;
      const std::uint32_t s = __shfl_sync(kWarp, source, from), p = __shfl_sync(kWarp, prediction, from);
      for (int i = 0; i < 4; ++i) {
        const int difference =
            static_cast<int>((s >> (8 * i)) & 255) - static_cast<int>((p >> (8 * i)) & 255);
        sums[odd] += static_cast<std::int8_t>(upper >> (8 * i)) * difference;
        sums[2 + odd] += static_cast<std::int8_t>(lower >> (8 * i)) * difference;
      }
    }
  }
  r = {sums[0], sums[1], sums[2], sums[3]};
#endif
  return r;
}

// A lane's share of the sum of magnitudes over all eight columns.
__device__ inline int satd_of_all(const HadamardRows& r) {
  return abs(r.upper_even) + abs(r.upper_odd) + abs(r.lower_even) + abs(r.lower_odd);
}

// A lane's share of the SATD of column 2 * t, in the low half of the word, and of column 2 * t + 1, in the
// high half.
__device__ inline std::uint32_t partial_satd_by_column(const HadamardRows& r) {
  return static_cast<std::uint32_t>(abs(r.upper_even) + abs(r.lower_even)) |
         (static_cast<std::uint32_t>(abs(r.upper_odd) + abs(r.lower_odd)) << 16);
}

// The SATD of these two columns, in all lanes with the same t.
__device__ inline std::uint32_t satd_by_column(const HadamardRows& r) {
  std::uint32_t sums = partial_satd_by_column(r);
  sums += __shfl_xor_sync(kWarp, sums, 4);
  sums += __shfl_xor_sync(kWarp, sums, 8);
  return sums + __shfl_xor_sync(kWarp, sums, 16);
}

}  // namespace cu264::encoder::cuda
