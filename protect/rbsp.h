// NAL units of a byte stream (H.264 annex B, 7.3.1) and the bits inside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace cu264::protect {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

enum NalUnitType {
  kNalSlice = 1,
  kNalPartitionA = 2,
  kNalPartitionC = 4,
  kNalSliceIdr = 5,
  kNalSei = 6,
  kNalSps = 7,
  kNalPps = 8,
  kNalSliceExtension = 20
};

// One NAL unit as it lies in the stream. Everything between two units (start codes, zero bytes) belongs to
// `prefix`, so that prefixes and units put together are the stream again.
struct NalUnit {
  ByteSpan prefix;
  ByteSpan unit;  // header and escaped payload
  int type() const { return unit.empty() ? 0 : unit[0] & 31; }
  int ref_idc() const { return unit.empty() ? 0 : unit[0] >> 5 & 3; }
};

// `tail`: the zero bytes behind the last unit. A stream without any start code yields no units.
struct NalUnits {
  std::vector<NalUnit> units;
  ByteSpan tail;
};
NalUnits split_annexb(ByteSpan stream);

// The zero bytes behind an RBSP: as many as CodeReader can come to in one block that begins inside it, 16
// levels of at most 46 bits, coeff_token, total_zeros and 15 run_before, and reads ahead.
inline constexpr std::size_t kRbspPadding = 160;

// The payload behind the unit's header byte, without emulation prevention, and kRbspPadding zero bytes more.
// Both reuse `out`'s memory.
void unescape(ByteSpan unit, Bytes& out);
// Appends the header byte and the payload (without its padding) with emulation prevention.
void append_escaped(Bytes& out, std::uint8_t header, ByteSpan rbsp);

// Position of rbsp_stop_one_bit; 0 if there is none.
std::uint64_t stop_bit_position(ByteSpan rbsp);

// Reads a padded RBSP. Past its end it yields zeros, and failed() says so.
class BitCursor {
 public:
  explicit BitCursor(const Bytes& padded)
      : bytes_(padded.data()),
        size_(padded.size() - kRbspPadding),
        bits_(8 * static_cast<std::uint64_t>(size_)) {}

  // The next `length` (1..32) bits without consuming them.
  std::uint32_t peek(int length) const { return static_cast<std::uint32_t>(window() >> (64 - length)); }
  // At least 57 bits from here on, at the top.
  std::uint64_t window() const { return window_at(position_); }
  std::uint64_t window_at(std::uint64_t position) const {
    const std::uint64_t byte = position / 8;
    std::uint64_t value;
    std::memcpy(&value, bytes_ + (byte < size_ ? byte : size_), 8);
    return __builtin_bswap64(value) << (position % 8);
  }
  void skip(std::uint64_t length) { position_ += length; }
  std::uint32_t get(int length) {
    const std::uint32_t value = peek(length);
    skip(static_cast<std::uint64_t>(length));
    return value;
  }
  std::uint32_t flag() { return get(1); }
  // ue(v) and se(v); a code of more than 32 zeros spoils the cursor.
  std::uint32_t ue();
  std::int32_t se();

  const std::uint8_t* bytes() const { return bytes_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t bits() const { return bits_; }
  bool failed() const { return position_ > bits_; }
  void spoil() { position_ = bits_ + 1; }

 private:
  const std::uint8_t* bytes_;
  std::size_t size_;
  std::uint64_t bits_;
  std::uint64_t position_ = 0;
};

// Reads codes one after another from a register that is filled up without a branch. It does not look for the
// RBSP's end: who reads asks at each block's begin, and the padding suffices for the block.
class CodeReader {
 public:
  // `bits` must not have failed.
  explicit CodeReader(const BitCursor& bits) : bytes_(bits.bytes()) { seek(bits.position()); }

  void seek(std::uint64_t position) {
    next_ = bytes_ + position / 8;
    window_ = 0, left_ = 0;
    refill();
    skip(static_cast<int>(position % 8));
    refill();
  }
  // The window then holds 56 bits and more.
  void refill() {
    std::uint64_t value;
    std::memcpy(&value, next_, 8);
    window_ |= __builtin_bswap64(value) >> left_;
    next_ += (63 - left_) >> 3;
    left_ |= 56;
  }
  // The next bits, at the top.
  std::uint64_t window() const { return window_; }
  // No more than the window is known to hold.
  void skip(int bits) {
    window_ <<= bits;
    left_ -= bits;
  }
  std::uint64_t position() const {
    return 8 * static_cast<std::uint64_t>(next_ - bytes_) - static_cast<std::uint64_t>(left_);
  }

 private:
  const std::uint8_t* bytes_;
  const std::uint8_t* next_ = nullptr;
  std::uint64_t window_ = 0;
  int left_ = 0;
};

inline std::uint32_t BitCursor::ue() {
  const std::uint32_t ahead = peek(32);
  if (ahead == 0) return spoil(), 0;
  const int zeros = __builtin_clz(ahead);
  skip(static_cast<std::uint64_t>(zeros));
  return get(zeros + 1) - 1;
}

inline std::int32_t BitCursor::se() {
  const std::uint32_t code = ue();
  const auto magnitude = static_cast<std::int32_t>(code / 2 + code % 2);
  return code % 2 != 0 ? magnitude : -magnitude;
}

inline int bit_at(ByteSpan bytes, std::uint64_t position) {
  return bytes[position / 8] >> (7 - position % 8) & 1;
}

// Flips the bit if the lowest bit of `flip` says so.
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

}  // namespace cu264::protect
