// Emulation prevention of four bytes of an RBSP at a time, with the first byte in the highest bits.
#pragma once

#include <cstdint>

#include "core/nal.h"

namespace cu264::entropy {

__device__ inline std::uint8_t byte_of(std::uint32_t word, int i) {
  return static_cast<std::uint8_t>(word >> (24 - 8 * i));
}

// Returns the count that core::zeros_after would have before byte `at`. `word_at(i)` returns the four bytes
// from i on, with zeros where the index is negative.
template <class WordAt>
__device__ int zeros_before(std::int64_t at, WordAt word_at) {
  std::int64_t run = 0;
  while (at > 0) {
    const std::uint32_t word = word_at(at - 4);
    if (word != 0) return core::zeros_after_run(run + (__ffs(static_cast<int>(word)) - 1) / 8);
    run += at < 4 ? at : 4;
    at -= 4;
  }
  return core::zeros_after_run(run);
}

// Returns whether any of the four bytes in `word` is at most 3 and follows two zeros; `before` holds the four
// bytes in front. If not, none of them needs an escape.
__device__ inline bool may_need_escapes(std::uint32_t before, std::uint32_t word) {
  const std::uint32_t any =
      (word & 0xfcfcfcfcu) | __funnelshift_r(word, before, 8) | __funnelshift_r(word, before, 16);
  return ((any - 0x01010101u) & ~any & 0x80808080u) != 0;
}

// Bit i of the result says that the i-th of the first `bytes` bytes from `at` on must be preceded by 03.
template <class WordAt>
__device__ std::uint32_t escapes_in_word(std::int64_t at, int bytes, WordAt word_at) {
  const std::uint32_t word = word_at(at);
  int zeros = zeros_before(at, word_at);
  std::uint32_t escapes = 0;
  for (int i = 0; i < bytes; ++i) {
    const std::uint8_t byte = byte_of(word, i);
    escapes |= static_cast<std::uint32_t>(core::needs_emulation_prevention(zeros, byte)) << i;
    zeros = core::zeros_after(zeros, byte);
  }
  return escapes;
}

}  // namespace cu264::entropy
