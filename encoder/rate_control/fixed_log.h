// Logarithms and powers of two in fixed point, by integers alone, so that no machine rounds them differently.
#pragma once

#include <bit>
#include <cstdint>

namespace cu264::encoder {

inline constexpr int kLogBits = 16;  // fractional bits of a logarithm
inline constexpr int kLogOne = 1 << kLogBits;

// log2 of a value from 1 to 2^62, rounded down.
constexpr int log2_q16(std::int64_t value) {
  const int exponent = std::bit_width(static_cast<std::uint64_t>(value)) - 1;
  // The mantissa, 1 <= m < 2, with 31 fractional bits. Each squaring gives one bit of its logarithm.
  std::uint64_t mantissa = exponent > 31 ? static_cast<std::uint64_t>(value) >> (exponent - 31)
                                         : static_cast<std::uint64_t>(value) << (31 - exponent);
  int fraction = 0;
  for (int bit = 0; bit < kLogBits; ++bit) {
    mantissa = (mantissa * mantissa) >> 31;
    const std::uint64_t twice = mantissa >> 32;
    fraction = 2 * fraction + static_cast<int>(twice);
    mantissa >>= twice;
  }
  return exponent * kLogOne + fraction;
}

// 2^(logarithm / kLogOne) for 0 <= logarithm < 62 * kLogOne, to 1 in 2^24 or the next integer.
constexpr std::int64_t exp2_q16(int logarithm) {
  // 2^(1/2), 2^(1/4) .. 2^(1/65536) with 30 fractional bits.
  constexpr std::uint32_t kRoots[kLogBits] = {
      1518500250, 1276901417, 1170923762, 1121280436, 1097253708, 1085434106, 1079572136, 1076653033,
      1075196443, 1074468888, 1074105294, 1073923544, 1073832680, 1073787251, 1073764537, 1073753181};
  std::uint64_t mantissa = std::uint64_t{1} << 30;
  for (int bit = 0; bit < kLogBits; ++bit) {
    if ((logarithm >> (kLogBits - 1 - bit)) & 1) mantissa = (mantissa * kRoots[bit]) >> 30;
  }
  const int exponent = logarithm >> kLogBits;
  if (exponent >= 30) return static_cast<std::int64_t>(mantissa << (exponent - 30));
  return static_cast<std::int64_t>((mantissa + (std::uint64_t{1} << (29 - exponent))) >> (30 - exponent));
}

}  // namespace cu264::encoder
