// Bit counting, with the device's own instructions where they exist.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

CU264_HD int count_ones(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return __popc(x);
#else
  return __builtin_popcount(x);
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
