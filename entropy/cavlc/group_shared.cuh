// What warps that code groups have in shared memory.
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

// coeff_token and trailing ones' signs, 16 levels of 28 bits, total_zeros and runs: no block exceeds 464
// bits.
inline constexpr int kBlockFullWords = 14;
// A block beyond one word is spilled whole: macroblocks within their limit need no more words than this, and
// where one is not, the picture is lost and it does not matter what its blocks hold.
inline constexpr std::uint32_t kSpillWords = kGroup * (kMacroblockWords + kBlocksPerMacroblock);
inline constexpr std::uint32_t kMoreWords = 32 * kBlockFullWords;  // a warp's
inline constexpr std::uint32_t kWarpWords = kSpillWords + kMoreWords,
                               kTeamWords = kSpillWords + kWarps * kMoreWords;
// Of a block with more the rest is counted apart.
inline constexpr int kLongestInByte = 255;
inline constexpr int kLengthWords = (kBlocksPerMacroblock + 3) / 4;
// Of a string that is joined in shared memory; longer ones, which have long blocks too, are not.
inline constexpr int kStringWords = 632;

// A listed block: its macroblock << 10 | which of the group's blocks it is.
struct ListedBlock {
  std::uint32_t entry;

  __device__ __forceinline__ static std::uint32_t first_of(int m) {
    return static_cast<std::uint32_t>(m << 10 | m * kBlocksPerMacroblock);
  }
  __device__ __forceinline__ int m() const { return static_cast<int>(entry >> 10); }
  __device__ __forceinline__ int block() const { return static_cast<int>(entry & 1023); }
  __device__ __forceinline__ int slot() const { return block() - m() * kBlocksPerMacroblock; }
  // Of its byte in Shared::lengths.
  __device__ __forceinline__ int length_index() const { return block() + m(); }
};
static_assert(4 * kLengthWords == kBlocksPerMacroblock + 1, "as length_index() has it");

struct Shared {
  // A block's bits; of one that has more than 32, where they are << 10 | length. By macroblock and slot.
  std::uint32_t words[kGroup * kBlocksPerMacroblock];
  std::uint32_t lengths[kGroup][kLengthWords];  // of blocks, by slot, a byte each
  std::uint32_t beyond[kGroup / 2];  // bits of blocks beyond kLongestInByte, two macroblocks to a word
  std::uint16_t list[kGroup * kBlocksPerMacroblock];  // of ListedBlock
  union {
    alignas(32) std::uint8_t levels[LevelCopies::kWarpBytes];
    struct {
      alignas(32) std::uint32_t string[kStringWords + 8];  // what is put at its end touches a few behind
      std::uint16_t starts[kGroup * kLengthWords];         // of every fourth slot, in the string
    } joined;
  };

  // Of the lane's macroblock.
  __device__ __forceinline__ int bits_beyond(int lane) const {
    return static_cast<int>(beyond[lane / 2] >> (16 * (lane & 1)) & 0xffff);
  }
};

struct BlockShared {
  Shared warps[kWarps];
  TokenCodes token_codes;
  std::uint32_t spilled[kWarps];  // words
};
static_assert(sizeof(BlockShared) + sizeof(LevelCodes) <= 48 * 1024);

}  // namespace cu264::entropy
