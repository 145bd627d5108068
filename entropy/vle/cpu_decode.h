// Decoding on the CPU: a table of the next 12 bits that gives up to two symbols, and a search for longer
// codes.
//
// Whatever the bytes, nothing outside the given ranges is touched, and what is not the stream of exactly
// output.size() symbols is refused: Error(bad_input). The output then means nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cu264/vle_types.h"

namespace cu264::vle {

// What can be said of a stream without decoding it. Throws Error(bad_input).
void check_stream(std::span<const std::uint8_t> stream, std::uint64_t bits, std::size_t symbols);

class Decoder {
 public:
  // Any prefix code, not only a complete one. Throws Error(invalid_argument) where a code is the beginning of
  // another or does not fit its length.
  explicit Decoder(const CodeTable& table);

  // A stream of `bits` bits. What pads its last byte must be zero.
  void decode_serial(std::span<const std::uint8_t> stream, std::uint64_t bits,
                     std::span<std::uint8_t> output) const;

  // By all threads of the current oneTBB arena, each taking chunks: the index is not empty.
  void decode_parallel(std::span<const std::uint8_t> stream, std::uint64_t bits,
                       std::span<const std::uint64_t> chunk_index, std::span<std::uint8_t> output) const;

 private:
  static constexpr int kTableBits = 12;
  static constexpr int kLookups = 4;  // of a window of 57 bits
  struct Entry {
    std::uint8_t symbols[2];
    std::uint8_t bits;   // of all its symbols
    std::uint8_t count;  // 0: the code is longer than the table, or there is none
  };
  struct LeftAligned {
    std::uint32_t code;
    std::uint8_t length;
    std::uint8_t symbol;
  };

  void fill_entries();
  const LeftAligned* find(std::uint32_t window) const;
  // Exactly output.size() symbols, from one bit to the other.
  bool decode_range(std::span<const std::uint8_t> stream, std::uint64_t begin, std::uint64_t end,
                    std::span<std::uint8_t> output) const;

  std::array<Entry, 1 << kTableBits> entries_{};
  std::array<LeftAligned, kSymbols> codes_{};  // in the order of the codes
  int code_count_ = 0;
};

}  // namespace cu264::vle
