// Writing, counting and reading bits, most significant first, and the Exp-Golomb codes (H.264 9.1).
// Syntax is written to a sink. BitWriter stores it and BitCounter only measures it, so one function serves
// both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bit_ops.h"
#include "core/hd.h"

namespace cu264::core {

struct BitCounter {
  std::uint32_t bits = 0;
  CU264_HD_MEMBER void put(std::uint32_t, int length) { bits += static_cast<std::uint32_t>(length); }
};

// Writes into memory that the caller owns. It stores nothing past the end of that memory; overflowed() then
// returns true. All bits are certain to be in memory only after align_with_zeros().
class BitWriter {
 public:
  CU264_HD_MEMBER BitWriter(std::uint8_t* bytes, std::size_t capacity) : bytes_(bytes), capacity_(capacity) {}

  // Writes the `length` (0..32) low bits of `value`; its other bits must be zero.
  CU264_HD_MEMBER void put(std::uint32_t value, int length) {
    pending_ = (pending_ << length) | value;
    count_ += length;
    if (count_ >= 32) store(4);
  }
  CU264_HD_MEMBER std::uint64_t bit_position() const {
    return 8 * static_cast<std::uint64_t>(size_) + count_;
  }
  CU264_HD_MEMBER bool aligned() const { return count_ % 8 == 0; }
  CU264_HD_MEMBER void align_with_zeros() {
    put(0, -count_ & 7);
    store(count_ / 8);
  }
  // Bytes stored.
  CU264_HD_MEMBER std::size_t size() const { return size_; }
  CU264_HD_MEMBER bool overflowed() const { return overflowed_; }

 private:
  CU264_HD_MEMBER void store(int bytes) {
    for (int i = 0; i < bytes; ++i) {
      count_ -= 8;
      if (size_ < capacity_) {
        bytes_[size_++] = static_cast<std::uint8_t>(pending_ >> count_);
      } else {
        overflowed_ = true;
      }
    }
  }

  std::uint8_t* bytes_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::uint64_t pending_ = 0;  // its low count_ bits are not stored yet
  int count_ = 0;              // 0..31 between calls
  bool overflowed_ = false;
};

// Reads data that may be hostile. Past the end it returns zeros, and failed() returns true.
class BitReader {
 public:
  CU264_HD_MEMBER BitReader(const std::uint8_t* bytes, std::size_t size)
      : bytes_(bytes), bits_(8 * static_cast<std::uint64_t>(size)) {}

  // The next `length` (0..32) bits without consuming them.
  CU264_HD_MEMBER std::uint32_t peek(int length) const {
    std::uint64_t window = 0;
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t byte = position_ / 8 + static_cast<std::uint64_t>(i);
      window = (window << 8) | (byte < bits_ / 8 ? bytes_[byte] : 0u);
    }
    const int shift = 40 - static_cast<int>(position_ % 8) - length;
    return static_cast<std::uint32_t>((window >> shift) & ((std::uint64_t{1} << length) - 1));
  }
  CU264_HD_MEMBER void skip(int length) {
    position_ += static_cast<std::uint64_t>(length);
    if (position_ > bits_) {
      position_ = bits_;
      failed_ = true;
    }
  }
  CU264_HD_MEMBER std::uint32_t get(int length) {
    const std::uint32_t value = peek(length);
    skip(length);
    return value;
  }
  CU264_HD_MEMBER std::uint64_t bit_position() const { return position_; }
  CU264_HD_MEMBER std::uint64_t bits_left() const { return bits_ - position_; }
  CU264_HD_MEMBER bool failed() const { return failed_; }

 private:
  const std::uint8_t* bytes_;
  std::uint64_t bits_;
  std::uint64_t position_ = 0;
  bool failed_ = false;
};

// Length of ue(v) for a value below 2^32 - 1 (9.1).
CU264_HD int ue_length(std::uint32_t value) {
  return 2 * highest_bit(value + 1) + 1;
}

// codeNum of se(v) (9.1.1): 1, -1, 2, -2 .. are 1, 2, 3, 4 ..
CU264_HD std::uint32_t se_code_num(std::int32_t value) {
  return value > 0 ? 2 * static_cast<std::uint32_t>(value) - 1 : 2 * (0u - static_cast<std::uint32_t>(value));
}

CU264_HD int se_length(std::int32_t value) {
  return ue_length(se_code_num(value));
}

template <class Sink>
CU264_HD void put_ue(Sink& sink, std::uint32_t value) {
  const int zeros = highest_bit(value + 1);
  sink.put(0, zeros);
  sink.put(value + 1, zeros + 1);
}

template <class Sink>
CU264_HD void put_se(Sink& sink, std::int32_t value) {
  put_ue(sink, se_code_num(value));
}

// rbsp_trailing_bits (7.3.2.11)
template <class Sink>
CU264_HD void put_trailing_bits(Sink& sink) {
  sink.put(1, 1);
  sink.align_with_zeros();
}

}  // namespace cu264::core
