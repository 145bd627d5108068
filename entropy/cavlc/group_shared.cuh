// What a warp that codes a group has in shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/block.h"
#include "entropy/cavlc/block_coder.cuh"
#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

using core::kBlocksPerMacroblock;

inline constexpr int kWarps = 4;
inline constexpr int kThreads = 32 * kWarps;

inline constexpr int kHeaderWords = 3;  // 1 + 64 + 5 + 11 + 11 bits at most
// coeff_token and trailing ones' signs, 16 levels of 28 bits, total_zeros and runs: no block exceeds 464
// bits.
inline constexpr int kBlockFullWords = 14;
// Of these, in shared memory; what few blocks have beyond lies with the spilled ones.
inline constexpr int kStagedWords = 3;
// A block beyond one word is spilled whole: macroblocks within their limit need no more words than this, and
// where one is not, the picture is lost and it does not matter what its blocks hold.
inline constexpr std::uint32_t kSpillWords = kGroup * (kMacroblockWords + kBlocksPerMacroblock);
inline constexpr std::uint32_t kMoreWords = 32 * (kBlockFullWords - kStagedWords);  // a warp's
inline constexpr std::uint32_t kWarpWords = kSpillWords + kMoreWords,
                               kTeamWords = kSpillWords + kWarps * kMoreWords;
// Of a block with more the rest is counted apart.
inline constexpr int kLongestInByte = 255;
inline constexpr int kLengthWords = (kBlocksPerMacroblock + 3) / 4;
// Of a string that is joined in shared memory; longer ones, which have long blocks too, are not.
inline constexpr int kStringWords = 344;

struct Shared {
  // A block's bits; of one that has more than 32, where they are << 10 | length.
  std::uint32_t words[kBlocksPerMacroblock][kGroup];
  std::uint32_t lengths[kGroup][kLengthWords];  // of blocks, by slot, a byte each
  union {
    struct {
      std::uint32_t header[kHeaderWords][kGroup];
      std::uint32_t beyond[kGroup];  // bits of blocks beyond kLongestInByte
    } surveyed;
    std::uint16_t starts[kLengthWords][kGroup];  // of every fourth slot, in the string
  };
  std::uint16_t list[kGroup * kBlocksPerMacroblock];  // macroblock << 5 | slot
  union {
    struct {
      alignas(32) std::uint8_t levels[StagedLevels::kWarpBytes];
      std::uint32_t staged[kStagedWords][32];  // full words of the block that a lane codes
    } coding;
    alignas(32) std::uint32_t string[kStringWords + 8];  // what is put at its end touches a few behind
  };
  std::uint32_t spilled;  // words
};
static_assert(kWarps * sizeof(Shared) <= 48 * 1024);
static_assert(sizeof(Shared::string) == sizeof(Shared::coding));

}  // namespace cu264::entropy
