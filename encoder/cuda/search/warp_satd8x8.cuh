// The sum of absolute 8x8 Hadamard coefficients (core::satd8x8) of two predictions at once, on the tensor
// cores.
#pragma once

#include <cstdint>

#include "encoder/cuda/search/warp_satd.cuh"

namespace cu264::encoder::cuda {

// A lane's share of the SATDs of two 8x8 blocks, whose 4x4 blocks 0 to 3 are columns 0 to 3 and 4 to 7 of the
// Hadamard product. The sum over the lanes with the same t is the SATD of the first block where t is 0 or 1,
// and of the second where t is 2 or 3. The SATD stays below 2^16: it is half of a sum that is at most eight
// times the square root of 64 * 64 * 255^2 * 64.
// With kBelow = 2 the columns are eight blocks in raster order instead, four in a row, and these are the
// lanes where t is 0 or 2, and 1 or 3.
template <int kBelow = 1>
__device__ inline std::uint32_t partial_satd8x8(const HadamardRows& r) {
  // An 8x8 coefficient is a sum or difference of the same coefficient of the four 4x4 blocks. Those of the
  // blocks above or below are in another lane, and half of |a + b| + |a - b| is the larger magnitude.
  const auto beside = [](int even, int odd) {
    return static_cast<std::uint32_t>(abs(even + odd) | abs(even - odd) << 16);
  };
  const std::uint32_t upper = beside(r.upper_even, r.upper_odd), lower = beside(r.lower_even, r.lower_odd);
  const std::uint32_t larger = __vmaxu2(upper, __shfl_xor_sync(kWarp, upper, kBelow)) +
                               __vmaxu2(lower, __shfl_xor_sync(kWarp, lower, kBelow));
  return (larger & 0xffff) + (larger >> 16);
}

}  // namespace cu264::encoder::cuda
