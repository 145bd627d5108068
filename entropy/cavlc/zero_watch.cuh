// Whether so many zero bits follow one another that an emulation prevention byte may be needed.
#pragma once

#include <cstdint>

#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

// Bit 7 of bytes that are zero and come before one that is at most 1, of `word` and the one behind it; other
// bits are rubbish. kEscapeZeros zeros hold either two whole bytes, or one and seven bits on either side.
__device__ __forceinline__ std::uint32_t zero_bytes(std::uint32_t word, std::uint32_t next) {
  const std::uint32_t bytes = word | (__funnelshift_l(next, word, 8) & 0xfefefefeu);
  return (bytes - 0x01010101u) & ~bytes;
}
inline constexpr std::uint32_t kZeroByteBits = 0x80808080u;

// Sees words one after another; what is not to count has ones there, as has a last word behind all others.
struct ZeroWatch {
  std::uint32_t before = ~0u, last = ~0u;
  bool found = false;

  __device__ __forceinline__ void see(std::uint32_t word) {
    if ((zero_bytes(last, word) & kZeroByteBits) != 0) {
      found |= escape_zeros_begin(before, last) || escape_zeros_begin(last, word);
    }
    before = last;
    last = word;
  }
};

}  // namespace cu264::entropy
