// An RBSP in memory: its padding, its end, and changes of its bits in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/bitstream/nal_unit.h"

namespace cu264::bitstream {

// The number of zero bytes after an RBSP. CodeReader never reads further than this in one block that begins
// inside the RBSP: a block has 16 levels of at most 46 bits, coeff_token, total_zeros and 15 run_before, and
// the reader reads ahead.
inline constexpr std::size_t kRbspPadding = 160;

inline ByteSpan without_padding(const Bytes& padded) {
  return {padded.data(), padded.size() - kRbspPadding};
}

// Position of rbsp_stop_one_bit; 0 if there is none.
inline std::uint64_t stop_bit_position(ByteSpan rbsp) {
  std::size_t size = rbsp.size();
  while (size > 0 && rbsp[size - 1] == 0) --size;
  return size == 0 ? 0
                   : 8 * static_cast<std::uint64_t>(size) - 1 -
                         static_cast<unsigned>(__builtin_ctz(rbsp[size - 1]));
}

inline int bit_at(ByteSpan bytes, std::uint64_t position) {
  return bytes[position / 8] >> (7 - position % 8) & 1;
}

// Flips the bit if the lowest bit of `flip` is set.
inline void flip_bit(std::uint8_t* bytes, std::uint64_t position, std::uint32_t flip) {
  bytes[position / 8] ^= static_cast<std::uint8_t>((flip & 1) << (7 - position % 8));
}

// Overwrites `length` (1..57) bits of a padded RBSP.
inline void set_bits(Bytes& padded, std::uint64_t position, int length, std::uint64_t value) {
  std::uint8_t* const at = padded.data() + position / 8;
  const int shift = 64 - length - static_cast<int>(position % 8);
  const std::uint64_t mask = ((std::uint64_t{1} << length) - 1) << shift;
  std::uint64_t word;
  std::memcpy(&word, at, 8);
  word = __builtin_bswap64((__builtin_bswap64(word) & ~mask) | (value << shift & mask));
  std::memcpy(at, &word, 8);
}

}  // namespace cu264::bitstream
