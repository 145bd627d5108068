// Finds out whether enough zero bits follow one another that an emulation prevention byte may be needed.
#pragma once

#include <cstdint>

#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

// Sets bit 7 of each byte of `word` that is zero and precedes a byte of at most 1; `next` is the word after
// it. The other bits of the result are undefined. A run of kEscapeZeros zeros holds either two whole bytes,
// or one whole byte and seven bits on either side.
__device__ __forceinline__ std::uint32_t zero_bytes(std::uint32_t word, std::uint32_t next) {
  const std::uint32_t bytes = word | (__funnelshift_l(next, word, 8) & 0xfefefefeu);
  return (bytes - 0x01010101u) & ~bytes;
}
inline constexpr std::uint32_t kZeroByteBits = 0x80808080u;

// Examines words one after another. Bits that must not count are passed as ones, and a word of ones is passed
// after the last word.
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
