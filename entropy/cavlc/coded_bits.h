// What the stage `code` leaves in device memory: each macroblock's bits by themselves, not yet in their
// place.
#pragma once

#include <cstdint>

namespace cu264::entropy {

// A row holds the bits of one macroblock_layer, most significant first in each word. An encoder keeps them
// within 3200 (H.264 A.3.1); of I_PCM the row holds the 384 samples alone.
inline constexpr int kRowWords = 100;
inline constexpr int kPcmSampleBits = 384 * 8;

// A macroblock's length, packed: bits 0..15 of all, bits 16..28 of the header alone; bits 30..31 its
// MacroblockKind. I_PCM counts mb_type only, its padding and samples are known without.
using MacroblockLength = std::uint32_t;
inline constexpr std::uint32_t kTooManyBits = 0xffff;  // as the length: more than a row holds

struct CodedBits {
  std::uint32_t* rows = nullptr;        // [picture][mb][kRowWords]
  MacroblockLength* lengths = nullptr;  // [picture][mb]
};

}  // namespace cu264::entropy
