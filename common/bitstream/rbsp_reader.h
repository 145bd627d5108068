// Bits read one after another from an RBSP that may be hostile, and the Exp-Golomb codes among them
// (H.264 9.1).
#pragma once

#include <cstdint>
#include <cstring>

#include "common/bitstream/rbsp.h"

namespace cu264::bitstream {

// Reads a padded RBSP. Past its end it yields zeros, and failed() says so.
class RbspReader {
 public:
  explicit RbspReader(const Bytes& padded)
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
  // ue(v) and se(v); a code of more than 32 zeros spoils the reader.
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
  explicit CodeReader(const RbspReader& bits) : bytes_(bits.bytes()) { seek(bits.position()); }

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

inline std::uint32_t RbspReader::ue() {
  const std::uint32_t ahead = peek(32);
  if (ahead == 0) return spoil(), 0;
  const int zeros = __builtin_clz(ahead);
  skip(static_cast<std::uint64_t>(zeros));
  return get(zeros + 1) - 1;
}

inline std::int32_t RbspReader::se() {
  const std::uint32_t code = ue();
  const auto magnitude = static_cast<std::int32_t>(code / 2 + code % 2);
  return code % 2 != 0 ? magnitude : -magnitude;
}

}  // namespace cu264::bitstream
