// Reads an RBSP bit by bit in the notation of the tables of H.264 7.3, slowly and with every end checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tests/support/nal_units.h"

namespace cu264::test {

class BitCursor {
 public:
  explicit BitCursor(std::span<const std::uint8_t> rbsp) : rbsp_(rbsp) {
    if (rbsp.empty() || rbsp.back() == 0) throw StreamError("no rbsp_stop_one_bit");
    stop_ = rbsp.size() * 8 - 1 - static_cast<std::size_t>(std::countr_zero(rbsp.back()));
  }

  std::size_t position() const { return position_; }
  std::span<const std::uint8_t> rbsp() const { return rbsp_; }
  // more_rbsp_data(): H.264 7.2
  bool more_data() const { return position_ < stop_; }

  void seek(std::size_t position) {
    if (position > stop_) throw StreamError("syntax runs past the rbsp_stop_one_bit");
    position_ = position;
  }

  std::uint32_t u(int n) {
    std::uint32_t value = 0;
    for (; n > 0; --n, ++position_) {
      if (position_ >= stop_) throw StreamError("syntax runs past the rbsp_stop_one_bit");
      value = value << 1 | (rbsp_[position_ / 8] >> (7 - position_ % 8) & 1);
    }
    return value;
  }

  bool flag() { return u(1) != 0; }

  std::uint32_t ue() {
    int zeros = 0;
    while (!flag()) {
      if (++zeros > 31) throw StreamError("an Exp-Golomb code is too long");
    }
    return (std::uint32_t{1} << zeros) - 1 + u(zeros);
  }

  std::int32_t se() {
    const std::uint32_t code = ue();
    const auto magnitude = static_cast<std::int32_t>((code + 1) / 2);
    return code % 2 ? magnitude : -magnitude;
  }

  // Throws unless exactly rbsp_trailing_bits() is left.
  void expect_end() const {
    if (position_ != stop_) {
      throw StreamError("syntax ends at bit " + std::to_string(position_) + ", the payload at bit " +
                        std::to_string(stop_));
    }
  }

 private:
  std::span<const std::uint8_t> rbsp_;
  std::size_t stop_ = 0;  // position of the rbsp_stop_one_bit
  std::size_t position_ = 0;
};

}  // namespace cu264::test
