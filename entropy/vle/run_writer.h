// Writes the codes of a run of symbols from any bit of a stream on, and touches no byte that belongs to
// another run.
//
// A byte belongs to the run that its first bit belongs to. If a run begins inside a byte, its bits in that
// byte, its head, are left to the caller, who must OR them into it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cu264/vle_types.h"

namespace cu264::vle {

class RunWriter {
 public:
  // Writes from bit `start` of the stream at `output` on.
  RunWriter(const CodeTable& table, std::uint8_t* output, std::uint64_t start)
      : table_(table),
        to_(output + start / 8),
        filled_(static_cast<int>(start % 8)),
        in_head_(start % 8 != 0),
        longest_(*std::max_element(table.length.begin(), table.length.end())) {}

  void write(std::span<const std::uint8_t> symbols) {
    std::size_t i = 0;
    while (in_head_ && i < symbols.size()) put_in_head(symbols[i++]);
    const std::span<const std::uint8_t> rest = symbols.subspan(i);
    if (longest_ <= 8) {
      write_groups<4>(rest);
    } else if (longest_ <= 16) {
      write_groups<2>(rest);
    } else {
      write_groups<1>(rest);
    }
  }

  // Writes the remaining bits, padded with zeros, and returns the head.
  std::uint8_t finish() {
    if (in_head_) return static_cast<std::uint8_t>(bits_ << (8 - filled_));
    for (; filled_ >= 8; filled_ -= 8) *to_++ = static_cast<std::uint8_t>(bits_ >> (filled_ - 8));
    if (filled_ > 0) *to_ = static_cast<std::uint8_t>(bits_ << (8 - filled_));
    return head_;
  }

 private:
  void put(std::uint8_t symbol) {
    bits_ = bits_ << table_.length[symbol] | table_.code[symbol];
    filled_ += table_.length[symbol];
  }

  void put_in_head(std::uint8_t symbol) {
    put(symbol);
    if (filled_ < 8) return;
    head_ = static_cast<std::uint8_t>(bits_ >> (filled_ - 8));
    filled_ -= 8, ++to_, in_head_ = false;
  }

  void store_word() {
    if (filled_ < 32) return;
    filled_ -= 32;
    auto word = static_cast<std::uint32_t>(bits_ >> filled_);
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap32(word);
    std::memcpy(to_, &word, sizeof word);
    to_ += sizeof word;
  }

  // Before a group fewer than 32 bits are pending, and a group has at most 32.
  template <int kGroup>
  void write_groups(std::span<const std::uint8_t> symbols) {
    // A local copy, so that it stays in registers.
    RunWriter run = *this;
    std::size_t i = 0;
    for (; i + kGroup <= symbols.size(); i += kGroup) {
      for (int k = 0; k < kGroup; ++k) run.put(symbols[i + k]);
      run.store_word();
    }
    for (; i < symbols.size(); ++i) {
      run.put(symbols[i]);
      run.store_word();
    }
    to_ = run.to_, bits_ = run.bits_, filled_ = run.filled_;
  }

  const CodeTable& table_;
  std::uint8_t* to_;
  std::uint64_t bits_ = 0;  // the lowest filled_ bits are not written yet
  int filled_;
  bool in_head_;
  std::uint8_t head_ = 0;
  int longest_;
};

}  // namespace cu264::vle
