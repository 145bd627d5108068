// Counts bits and finds their positions, with the processor's own instructions where they exist.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

CU264_HD int count_ones(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return __popc(x);
#elif defined(__POPCNT__)
  return __builtin_popcount(x);
#else
  // Adds fields that double in width at each step. Where the processor lacks the instruction, the builtin
  // would be a function call.
  x -= (x >> 1) & 0x55555555u;
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  return static_cast<int>((((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24);
#endif
}

CU264_HD int count_ones(std::uint64_t x) {
  return count_ones(static_cast<std::uint32_t>(x)) + count_ones(static_cast<std::uint32_t>(x >> 32));
}

// Sixteen bits, four apart.
CU264_HD std::uint64_t four_apart(std::uint32_t x) {
  std::uint64_t bits = x;
  bits = (bits | bits << 24) & 0x000000ff000000ff;
  bits = (bits | bits << 12) & 0x000f000f000f000f;
  bits = (bits | bits << 6) & 0x0303030303030303;
  return (bits | bits << 3) & 0x1111111111111111;
}

// Index of the lowest set bit; x must not be 0.
CU264_HD int lowest_bit(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(x)) - 1;
#else
  return __builtin_ctz(x);
#endif
}

CU264_HD int lowest_bit(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(x)) - 1;
#else
  return __builtin_ctzll(x);
#endif
}

// Index of the highest set bit; x must not be 0.
CU264_HD int highest_bit(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return 31 - __clz(static_cast<int>(x));
#else
  return 31 - __builtin_clz(x);
#endif
}

CU264_HD int highest_bit(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
  return 63 - __clzll(static_cast<long long>(x));
#else
  return 63 - __builtin_clzll(x);
#endif
}

}  // namespace cu264::core
