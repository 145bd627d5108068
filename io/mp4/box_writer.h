// Writes the boxes of ISO/IEC 14496-12, clause 4.2: a size, a type of four characters, and the content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cu264::mp4 {

class BoxWriter {
 public:
  void u8(unsigned value) { bytes_.push_back(static_cast<std::uint8_t>(value)); }
  void u16(unsigned value) { u8(value >> 8), u8(value); }
  void u32(std::uint32_t value) { u16(value >> 16), u16(value); }
  void u64(std::uint64_t value) {
    u32(static_cast<std::uint32_t>(value >> 32)), u32(static_cast<std::uint32_t>(value));
  }
  void zeros(std::size_t count) { bytes_.insert(bytes_.end(), count, 0); }
  void bytes(std::span<const std::uint8_t> from) { bytes_.insert(bytes_.end(), from.begin(), from.end()); }
  void type(const char (&name)[5]) {
    for (int i = 0; i < 4; ++i) u8(static_cast<unsigned char>(name[i]));
  }
  void text(const char* from) {
    while (*from != 0) u8(static_cast<unsigned char>(*from++));
    u8(0);
  }

  template <class Content>
  void box(const char (&name)[5], Content&& content) {
    const std::size_t begin = bytes_.size();
    u32(0);
    type(name);
    std::forward<Content>(content)();
    set_u32(begin, static_cast<std::uint32_t>(bytes_.size() - begin));
  }

  template <class Content>
  void full_box(const char (&name)[5], unsigned version, unsigned flags, Content&& content) {
    box(name, [&] {
      u32(version << 24 | flags);
      std::forward<Content>(content)();
    });
  }

  std::size_t size() const { return bytes_.size(); }
  void set_u32(std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i)
      bytes_[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace cu264::mp4
