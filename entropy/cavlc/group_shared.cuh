// The shared memory of warps that code groups.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/block.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/level_coder.cuh"
#include "entropy/cavlc/level_copies.cuh"
#include "entropy/cavlc/token_codes.cuh"

namespace cu264::entropy {

using core::kBlocksPerMacroblock;

inline constexpr int kWarps = 4;
inline constexpr int kThreads = 32 * kWarps;

// No block exceeds 464 bits: coeff_token and the signs of trailing ones, 16 levels of 28 bits, total_zeros
// and runs.
inline constexpr int kBlockFullWords = 14;
// A block of more than one word is spilled as a whole. Macroblocks within their limit need no more words
// than this. If a macroblock exceeds its limit, its picture is lost, and it does not matter what its blocks
// hold.
inline constexpr std::uint32_t kSpillWords = kGroup * (kMacroblockWords + kBlocksPerMacroblock);
inline constexpr std::uint32_t kMoreWords = 32 * kBlockFullWords;  // for each warp
inline constexpr std::uint32_t kWarpWords = kSpillWords + kMoreWords,
                               kTeamWords = kSpillWords + kWarps * kMoreWords;
// Lengths are stored in bytes. The bits of a block beyond this number are counted in GroupShared::beyond.
inline constexpr int kMaxLengthInByte = 255;
inline constexpr int kLengthWords = (kBlocksPerMacroblock + 3) / 4;
// The most words that are joined in shared memory. Groups with more bits, and those that have blocks of more
// than kMaxLengthInByte bits, are written by GroupWriter.
inline constexpr int kJoinedWords = 632;

// A listed block: its macroblock << 10 | its index among the blocks of the group.
struct ListedBlock {
  std::uint32_t entry;

  __device__ __forceinline__ static std::uint32_t first_of(int m) {
    return static_cast<std::uint32_t>(m << 10 | m * kBlocksPerMacroblock);
  }
  __device__ __forceinline__ int m() const { return static_cast<int>(entry >> 10); }
  __device__ __forceinline__ int block() const { return static_cast<int>(entry & 1023); }
  __device__ __forceinline__ int slot() const { return block() - m() * kBlocksPerMacroblock; }
  // The index of the block's byte in GroupShared::lengths.
  __device__ __forceinline__ int length_index() const { return block() + m(); }
};
static_assert(4 * kLengthWords == kBlocksPerMacroblock + 1, "length_index() relies on this");

struct GroupShared {
  // The bits of each block, by macroblock and slot. For a block of more than 32 bits: where they are << 10 |
  // length.
  std::uint32_t words[kGroup * kBlocksPerMacroblock];
  std::uint32_t lengths[kGroup][kLengthWords];  // lengths of blocks, by slot, one byte each
  std::uint32_t beyond[kGroup / 2];  // bits of blocks beyond kMaxLengthInByte, two macroblocks to a word
  std::uint16_t list[kGroup * kBlocksPerMacroblock];  // entries of ListedBlock
  union {
    alignas(32) std::uint8_t levels[LevelCopies::kWarpBytes];
    struct {
      alignas(32) std::uint32_t words[kJoinedWords + 8];  // writes at its end touch a few words beyond it
      std::uint16_t starts[kGroup * kLengthWords];        // the bit at which every fourth slot begins
    } joined;
  };

  // Bits of the lane's macroblock that `lengths` does not count.
  __device__ __forceinline__ int bits_beyond(int lane) const {
    return static_cast<int>(beyond[lane / 2] >> (16 * (lane & 1)) & 0xffff);
  }
};

struct BlockShared {
  GroupShared warps[kWarps];
  TokenCodes token_codes;
  std::uint32_t spilled[kWarps];  // words that are in use
};
static_assert(sizeof(BlockShared) + sizeof(LevelCodes) <= 48 * 1024);

}  // namespace cu264::entropy
