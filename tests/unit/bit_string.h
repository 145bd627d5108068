// Bits as text: a simple sink and notation for the references in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cu264::test {

inline std::string binary(std::uint64_t value, int length) {
  std::string text;
  for (int i = length - 1; i >= 0; --i) text += (value >> i) & 1 ? '1' : '0';
  return text;
}

inline std::uint64_t value_of(const std::string& bits) {
  std::uint64_t value = 0;
  for (const char c : bits) value = 2 * value + (c == '1');
  return value;
}

// ue(v) by the definition of H.264 9.1: a prefix of zeros, a one, and as many bits of information as the
// prefix has.
inline std::string ue_text(std::uint64_t code_num) {
  int zeros = 0;
  while (code_num + 1 >= std::uint64_t{2} << zeros) ++zeros;
  return std::string(static_cast<std::size_t>(zeros), '0') + binary(code_num + 1, zeros + 1);
}

// se(v): H.264 table 9-3.
inline std::string se_text(std::int64_t value) {
  return ue_text(static_cast<std::uint64_t>(value > 0 ? 2 * value - 1 : -2 * value));
}

inline std::vector<std::uint8_t> bytes_of(std::string bits) {
  while (bits.size() % 8 != 0) bits += '0';
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    bytes.push_back(static_cast<std::uint8_t>(value_of(bits.substr(i, 8))));
  }
  return bytes;
}

inline std::string text_of(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += binary(byte, 8);
  return text;
}

struct StringSink {
  std::string bits;
  void put(std::uint32_t value, int length) { bits += binary(value, length); }
};

}  // namespace cu264::test
