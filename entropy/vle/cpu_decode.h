// Decoding on the CPU, with a table that gives up to two symbols for the next 12 bits, and a search for
// longer codes.
//
// Whatever the bytes are, nothing outside the given ranges is touched. A stream that does not hold exactly
// output.size() symbols is refused with Error(bad_input), and the output is then undefined.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cu264/vle_types.h"

namespace cu264::vle {

// Checks what can be checked in a stream without decoding it. Throws Error(bad_input).
void check_stream(std::span<const std::uint8_t> stream, std::uint64_t bits, std::size_t symbols);

class Decoder {
 public:
  // Takes any prefix code, even an incomplete one. Throws Error(invalid_argument) if a code is the beginning
  // of another or does not fit its length.
  explicit Decoder(const CodeTable& table);

  // Decodes a stream of `bits` bits. The padding of its last byte must be zero.
  void decode_serial(std::span<const std::uint8_t> stream, std::uint64_t bits,
                     std::span<std::uint8_t> output) const;

  // The same with all threads of the current oneTBB arena, each of which takes chunks. The chunk index must
  // not be empty.
  void decode_parallel(std::span<const std::uint8_t> stream, std::uint64_t bits,
                       std::span<const std::uint64_t> chunk_index, std::span<std::uint8_t> output) const;

 private:
  static constexpr int kTableBits = 12;
  static constexpr int kLookups = 4;  // look-ups for each window of 57 bits
  struct Entry {
    std::uint8_t symbols[2];
    std::uint8_t bits;   // bits of all its symbols
    std::uint8_t count;  // 0: the code is longer than the table, or there is none
  };
  struct LeftAligned {
    std::uint32_t code;
    std::uint8_t length;
    std::uint8_t symbol;
  };

  void fill_entries();
  const LeftAligned* find(std::uint32_t window) const;
  // Decodes exactly output.size() symbols that begin at one bit and end at the other. Returns whether the
  // stream holds them.
  bool decode_range(std::span<const std::uint8_t> stream, std::uint64_t begin, std::uint64_t end,
                    std::span<std::uint8_t> output) const;

  std::array<Entry, 1 << kTableBits> entries_{};
  std::array<LeftAligned, kSymbols> codes_{};  // sorted by code
  int code_count_ = 0;
};

}  // namespace cu264::vle
