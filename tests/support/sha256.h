// SHA-256 of bytes in hexadecimal, computed by libavutil.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace cu264::test {

std::string sha256(std::span<const std::uint8_t> bytes);

}  // namespace cu264::test
