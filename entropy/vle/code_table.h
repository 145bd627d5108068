// A variable-length code for bytes: what every encoder and decoder here takes.
//
// A bit-stream is a sequence of bytes, filled from the most significant bit on: bit i of the stream is bit
// 7 - i % 8 of byte i / 8. The last byte is padded with zeros.
#pragma once

#include <array>
#include <cstdint>

namespace cu264::vle {

inline constexpr int kSymbols = 256;
// Longest codes that each family of encoders takes (GVLE 3: tables split in 16 and 8 bits; CUVLE, PAVLE: a
// word).
inline constexpr int kShortCode = 16;
inline constexpr int kLongCode = 32;

struct CodeTable {
  std::array<std::uint32_t, kSymbols> code{};   // right-aligned
  std::array<std::uint8_t, kSymbols> length{};  // bits; 0: the symbol has no code
};

}  // namespace cu264::vle
