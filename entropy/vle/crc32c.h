// CRC-32C (Castagnoli's polynomial, as in RFC 3720 appendix B.4): the CRC of "123456789" is 0xe3069283.
#pragma once

#include <cstdint>
#include <span>

namespace cu264::vle {

// The CRC of the bytes whose CRC is `before`, followed by these bytes.
std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before = 0);

// The same without the processor's CRC instruction.
std::uint32_t crc32c_portable(std::span<const std::uint8_t> bytes, std::uint32_t before = 0);

}  // namespace cu264::vle
