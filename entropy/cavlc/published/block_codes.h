// What the published coders leave behind: the code of every block by itself, not joined to macroblocks.
#pragma once

#include <cstdint>

#include "core/block.h"

namespace cu264::entropy {

inline constexpr int kBlockWords = 16;  // no block exceeds 464 bits

// Slots that are not in the bitstream have length 0.
struct BlockCodes {
  std::uint32_t* words = nullptr;    // [picture][mb][27][kBlockWords], most significant bit first
  std::uint16_t* lengths = nullptr;  // [picture][mb][27]
};

}  // namespace cu264::entropy
