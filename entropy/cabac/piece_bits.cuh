// Bits of the pieces that chunks make, and of the slice that they add up to.
#pragma once

#include <cstdint>

#include "core/bit_sum.h"
#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {

// Returns bit `at` of the codeword in which a piece begins, without the carry into it. Earlier pieces may
// reach it too. `chunks` are those of the slice.
__device__ inline std::uint32_t sum_bit(const ChunkJob& job, std::uint32_t slice, const SliceChunks& chunks,
                                        std::uint32_t in_round, std::uint32_t at) {
  const auto own_bit = [&] { return job.piece_at(in_round)[at / 32] >> (31 - at % 32) & 1; };
  std::uint32_t sum = own_bit();
  while (at < kLowBits) {
    if (in_round == chunks.in_round) return sum ^ (job.records[slice].tails[job.round % 2] >> at & 1);
    --in_round;
    at += job.memory.records[in_round].bits;
    sum ^= own_bit();
  }
  return sum;
}

// Adds bits [begin, end) of a piece to a slice, the first of them to bit `position`, which is not before
// `begin`. A warp calls this.
__device__ inline void add_bits(std::uint32_t* d_words, std::uint32_t position, const std::uint32_t* d_piece,
                                std::uint32_t begin, std::uint32_t end, std::uint32_t lane) {
  const auto add = [d_words](std::ptrdiff_t at, std::uint32_t value) {
    return atomicAdd(d_words + at, value) + value < value;
  };
  const std::uint32_t first = begin / 32, words = (end + 31) / 32;
  // A word of the piece without the bits that must not be added.
  const auto word = [&](std::uint32_t i) {
    std::uint32_t bits = d_piece[i];
    if (i == first) bits &= ~0u >> begin % 32;
    if (i == words - 1 && end % 32 != 0) bits &= ~(~0u >> end % 32);
    return bits;
  };
  const std::uint32_t moved = position - begin;
  for (std::uint32_t i = first + lane; i <= words; i += 32) {
    const std::uint32_t value =
        core::moved_word(i > first ? word(i - 1) : 0, i < words ? word(i) : 0, static_cast<int>(moved % 32));
    if (value != 0) core::add_to_sum(static_cast<std::ptrdiff_t>(moved / 32 + i), value, add);
  }
}

}  // namespace cu264::entropy
