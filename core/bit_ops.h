// Counts of bits and positions of bits, by the processor's own instructions where they exist.
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
  // Adds up ever wider fields. Without the instruction the builtin would be a call.
  x -= (x >> 1) & 0x55555555u;
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  return static_cast<int>((((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24);
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

}  // namespace cu264::core
