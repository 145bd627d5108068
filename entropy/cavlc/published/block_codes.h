// The results of the published coders: the code of every block, stored separately and not joined to
// macroblocks. Slots that are not in the bitstream have the length 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda/arena.h"
#include "core/block.h"
#include "core/hd.h"

namespace cu264::entropy {

inline constexpr int kBlockWords = 16;  // no block exceeds 464 bits

// The output of CAVLCU: 16 words of 32 bits for each block.
struct BlockCodes {
  std::uint32_t* words = nullptr;    // [picture][mb][27][kBlockWords], most significant bit first
  std::uint16_t* lengths = nullptr;  // [picture][mb][27]

  CU264_HD_MEMBER std::uint32_t word(std::size_t block, int i) const {
    return words[block * kBlockWords + i];
  }
};

inline std::size_t block_code_count(int pictures, int mb_width, int mb_height) {
  return static_cast<std::size_t>(pictures) * mb_width * mb_height * core::kBlocksPerMacroblock;
}

inline BlockCodes take_block_codes(Arena& arena, std::size_t blocks) {
  BlockCodes codes;
  codes.words = arena.take<std::uint32_t>(blocks * kBlockWords);
  codes.lengths = arena.take<std::uint16_t>(blocks);
  return codes;
}

inline constexpr int kBlockShorts = 26, kOverflowShorts = 4;

// The output of CAVLC_SU: 26 short words for each block. They hold 416 bits. Blocks of many escape codes are
// longer, which the paper does not mention; their last bits go to an array that no other block touches.
struct ShortCodes {
  std::uint16_t* shorts = nullptr;    // [picture][mb][27][kBlockShorts]
  std::uint16_t* overflow = nullptr;  // [picture][mb][27][kOverflowShorts]
  std::uint16_t* lengths = nullptr;   // [picture][mb][27]

  // The two short words of bits 32 i to 32 i + 31.
  CU264_HD_MEMBER std::uint16_t* pair(std::size_t block, int i) const {
    return 2 * i < kBlockShorts ? shorts + block * kBlockShorts + 2 * i
                                : overflow + block * kOverflowShorts + (2 * i - kBlockShorts);
  }
  CU264_HD_MEMBER std::uint32_t word(std::size_t block, int i) const {
    const std::uint16_t* const two = pair(block, i);
    return static_cast<std::uint32_t>(two[0]) << 16 | two[1];
  }
};

}  // namespace cu264::entropy
