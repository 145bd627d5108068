// Emulation prevention over words of an RBSP, most significant byte first.
#pragma once

#include <cstdint>

#include "core/nal.h"

namespace cu264::entropy {

__device__ inline std::uint8_t byte_of(std::uint32_t word, int i) {
  return static_cast<std::uint8_t>(word >> (24 - 8 * i));
}

// The count that core::zeros_after would hold before word `index`; `word_at(i)` yields word i.
template <class WordAt>
__device__ int zeros_before_word(std::int64_t index, WordAt word_at) {
  std::int64_t run = 0;
  while (index > 0) {
    const std::uint32_t word = word_at(--index);
    if (word != 0) {
      run += (__ffs(static_cast<int>(word)) - 1) / 8;
      break;
    }
    run += 4;
  }
  return core::zeros_after_run(run);
}

// Bit i of the result: the i-th of the word's first `bytes` bytes must be preceded by 03.
template <class WordAt>
__device__ std::uint32_t escapes_in_word(std::int64_t index, int bytes, WordAt word_at) {
  const std::uint32_t word = word_at(index);
  int zeros = byte_of(word, 0) > 3 ? 0 : zeros_before_word(index, word_at);
  std::uint32_t escapes = 0;
  for (int i = 0; i < bytes; ++i) {
    const std::uint8_t byte = byte_of(word, i);
    escapes |= static_cast<std::uint32_t>(core::needs_emulation_prevention(zeros, byte)) << i;
    zeros = core::zeros_after(zeros, byte);
  }
  return escapes;
}

// Bytes of the RBSP in word `index`: 0 behind its end.
__device__ inline int bytes_in_word(std::int64_t index, std::uint64_t rbsp_bytes) {
  const std::int64_t left = static_cast<std::int64_t>(rbsp_bytes) - 4 * index;
  return left <= 0 ? 0 : left < 4 ? static_cast<int>(left) : 4;
}

}  // namespace cu264::entropy
