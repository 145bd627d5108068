// Arguments and results of the functions of vle.h, on the CPU and in device memory alike.
//
// A bit-stream is a sequence of bytes that are filled from the most significant bit on: bit i of the stream
// is bit 7 - i % 8 of byte i / 8. The last byte is padded with zeros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cu264::vle {

inline constexpr int kSymbols = 256;
// The longest codes, in bits: of the production coders and the container, and of all coders.
inline constexpr int kShortCode = 16;
inline constexpr int kLongCode = 32;

using Histogram = std::array<std::uint64_t, kSymbols>;

// A prefix code: no code is the beginning of another.
struct CodeTable {
  std::array<std::uint32_t, kSymbols> code{};   // right-aligned
  std::array<std::uint8_t, kSymbols> length{};  // bits; 0: the symbol has no code
};

// A chunk index holds the bit at which every kChunkSymbols-th symbol begins, including symbol 0 (zero).
// Parallel decoding needs it.
inline constexpr int kChunkSymbols = 1024;

inline constexpr std::size_t chunk_count(std::size_t size) {
  return size / kChunkSymbols + (size % kChunkSymbols != 0);
}

// The result of an encoder, in device memory.
struct EncodeResult {
  std::uint64_t bits;     // length of the whole stream, even if the output does not hold it
  std::uint32_t missing;  // not 0: the input holds a symbol without a code, and the output is undefined
  std::uint32_t reserved;
};

// The result of a decoder, in device memory.
struct DecodeResult {
  std::uint64_t symbols;  // decoded symbols: the requested size, unless corrupt
  std::uint32_t corrupt;  // not 0: stream, table, index or size is wrong; the output is undefined
  std::uint32_t reserved;
};

}  // namespace cu264::vle
