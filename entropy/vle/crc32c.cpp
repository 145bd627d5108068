#include "entropy/vle/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace cu264::vle {
namespace {

using Bytes = std::span<const std::uint8_t>;
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[k][b] is what byte b adds to the CRC after k zero bytes have followed it.
constexpr Tables make_tables() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;  // bits reversed
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    for (int k = 1; k < 8; ++k) {
      const std::uint32_t shorter = tables[k - 1][byte];
      tables[k][byte] = shorter >> 8 ^ tables[0][shorter & 255];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_sse42(Bytes bytes, std::uint32_t before) {
  std::uint64_t crc = ~before;
  const std::uint8_t* from = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, from += 8) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    crc = _mm_crc32_u64(crc, word);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left) rest = _mm_crc32_u8(rest, *from++);
  return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c_portable(Bytes bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  const std::uint8_t* from = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, from += 8) {
    std::uint32_t next = 0;
    for (int k = 0; k < 8; ++k) {
      const std::uint32_t byte = from[k] ^ (k < 4 ? crc >> (8 * k) & 255 : 0);
      next ^= kTables[7 - k][byte];
    }
    crc = next;
  }
  for (; left > 0; --left) crc = crc >> 8 ^ kTables[0][(crc ^ *from++) & 255];
  return ~crc;
}

std::uint32_t crc32c(Bytes bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
  if (kHasInstruction) return crc32c_sse42(bytes, before);
#endif
  return crc32c_portable(bytes, before);
}

}  // namespace cu264::vle
