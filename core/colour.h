// RGB to YCbCr 4:2:0, in integers: 16 fractional bits, round to nearest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/hd.h"
#include "cu264/frame.h"

namespace cu264::core {

struct Rgb {
  int r = 0;
  int g = 0;
  int b = 0;
};

// A row of the matrix, with 16 fractional bits.
struct ColourWeights {
  int r = 0;
  int g = 0;
  int b = 0;
  CU264_HD_MEMBER int apply(const Rgb& c) const { return r * c.r + g * c.g + b * c.b; }
};

struct ColourMatrix {
  ColourWeights y;
  ColourWeights cb;
  ColourWeights cr;
  int y_offset = 0;
};

// Returns whether RGB can be converted by these matrix_coefficients (H.273): BT.709, and the two code points
// of BT.601.
CU264_HD bool is_convertible_matrix(int matrix_coefficients) {
  return matrix_coefficients == 1 || matrix_coefficients == 5 || matrix_coefficients == 6;
}

// Computed from Kr and Kb (H.264 table E-5, equations E-16 and following). Weights that must add up do so
// exactly despite rounding: white is 235 (255 in full range), and grey has chroma 128.
CU264_HD ColourMatrix make_colour_matrix(int matrix_coefficients, bool full_range) {
  const std::int64_t one = 10000;
  const std::int64_t kr = matrix_coefficients == 1 ? 2126 : 2990;
  const std::int64_t kb = matrix_coefficients == 1 ? 722 : 1140;
  const std::int64_t luma = ((full_range ? 255 : 219) * 131072 / 255 + 1) / 2;
  const std::int64_t half_chroma = ((full_range ? 255 : 224) * 65536 / 255 + 1) / 2;
  ColourMatrix m;
  m.y.r = static_cast<int>((luma * kr + one / 2) / one);
  m.y.b = static_cast<int>((luma * kb + one / 2) / one);
  m.y.g = static_cast<int>(luma) - m.y.r - m.y.b;
  m.cb.b = static_cast<int>(half_chroma);
  m.cb.r = -static_cast<int>((half_chroma * kr + (one - kb) / 2) / (one - kb));
  m.cb.g = -m.cb.b - m.cb.r;
  m.cr.r = static_cast<int>(half_chroma);
  m.cr.b = -static_cast<int>((half_chroma * kb + (one - kr) / 2) / (one - kr));
  m.cr.g = -m.cr.r - m.cr.b;
  m.y_offset = full_range ? 0 : 16;
  return m;
}

CU264_HD std::uint8_t clipped_sample(int value) {
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

CU264_HD std::uint8_t luma_of(const ColourMatrix& m, const Rgb& c) {
  return clipped_sample(m.y_offset + ((m.y.apply(c) + (1 << 15)) >> 16));
}

// `sum` is the sum of four samples.
CU264_HD std::uint8_t chroma_of(const ColourWeights& w, const Rgb& sum) {
  return clipped_sample(128 + ((w.apply(sum) + (1 << 17)) >> 18));
}

// round(255 * v) of an IEEE 754 single, computed from its bits. The result is exact, with halves rounded up,
// so all processors agree.
CU264_HD int sample_of_float(std::uint32_t bits) {
  constexpr std::uint32_t kOne = 0x3f800000u, kInfinity = 0x7f800000u;
  if (bits > kInfinity) return 0;  // negative, or not a number
  if (bits >= kOne) return 255;
  const int exponent = static_cast<int>(bits >> 23);
  if (exponent < 110) return 0;  // below 2^-17
  // v = mantissa / 2^(150 - exponent)
  const std::uint64_t mantissa = (bits & 0x7fffffu) | 0x800000u;
  const int shift = 150 - exponent;
  return static_cast<int>((255 * mantissa + (std::uint64_t{1} << (shift - 1))) >> shift);
}

// round(255 * (v + 1) / 2) of an IEEE 754 single: black is -1 and white is 1. Exact, with halves rounded up.
CU264_HD int sample_of_signed_float(std::uint32_t bits) {
  constexpr std::uint32_t kOne = 0x3f800000u, kInfinity = 0x7f800000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const bool negative = magnitude != bits;
  if (magnitude > kInfinity) return 0;  // not a number
  if (magnitude >= kOne) return negative ? 0 : 255;
  // The result is floor(128 + 255 v / 2).
  const int exponent = static_cast<int>(magnitude >> 23);
  if (exponent < 110) return negative && magnitude != 0 ? 127 : 128;
  const std::uint64_t scaled = 255 * std::uint64_t{(magnitude & 0x7fffffu) | 0x800000u};
  const int shift = 151 - exponent;
  const std::uint64_t rounding = negative ? (std::uint64_t{1} << shift) - 1 : 0;
  const int distance = static_cast<int>((scaled + rounding) >> shift);
  return negative ? 128 - distance : 128 + distance;
}

// The IEEE 754 single of the same value as a half, both as bits.
CU264_HD std::uint32_t float_of_half(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
  if (rest >= 0x7c00u) return sign | 0x7f800000u | (rest & 0x3ffu) << 13;  // infinite, or not a number
  if (rest >= 0x400u) return sign | ((rest << 13) + (112u << 23));
  std::uint32_t mantissa = rest, exponent = 113;  // subnormal: rest / 2^24
  if (mantissa == 0) return sign;
  while ((mantissa & 0x400u) == 0) mantissa <<= 1, --exponent;
  return sign | exponent << 23 | (mantissa & 0x3ffu) << 13;
}

// A picture in one of the RGB formats.
struct RgbPicture {
  PixelFormat format = PixelFormat::rgb24;
  int width = 0;
  int height = 0;
  const std::uint8_t* plane[3] = {};
  std::ptrdiff_t pitch[3] = {};
  FloatRange float_range = FloatRange::zero_to_one;
};

// The IEEE 754 single of the number at `index` of a row, as bits.
CU264_HD std::uint32_t float_at(PixelFormat format, const std::uint8_t* row, std::ptrdiff_t index) {
  if (format == PixelFormat::rgb_float || format == PixelFormat::rgb_float_planar) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, __builtin_assume_aligned(row + 4 * index, 4), 4);
    return bits;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, __builtin_assume_aligned(row + 2 * index, 2), 2);
  const bool half = format == PixelFormat::rgb_half || format == PixelFormat::rgb_half_planar;
  return half ? float_of_half(bits) : std::uint32_t{bits} << 16;
}

CU264_HD int float_sample(const RgbPicture& p, const std::uint8_t* row, std::ptrdiff_t index) {
  const std::uint32_t bits = float_at(p.format, row, index);
  return p.float_range == FloatRange::zero_to_one ? sample_of_float(bits) : sample_of_signed_float(bits);
}

CU264_HD Rgb rgb_at(const RgbPicture& p, int x, int y) {
  const std::uint8_t* const row = p.plane[0] + y * p.pitch[0];
  switch (p.format) {
    case PixelFormat::rgb24:
      return {row[3 * x], row[3 * x + 1], row[3 * x + 2]};
    case PixelFormat::bgr24:
      return {row[3 * x + 2], row[3 * x + 1], row[3 * x]};
    case PixelFormat::rgba32:
      return {row[4 * x], row[4 * x + 1], row[4 * x + 2]};
    case PixelFormat::bgra32:
      return {row[4 * x + 2], row[4 * x + 1], row[4 * x]};
    case PixelFormat::rgb_planar:
      return {row[x], (p.plane[1] + y * p.pitch[1])[x], (p.plane[2] + y * p.pitch[2])[x]};
    case PixelFormat::rgb_float:
    case PixelFormat::rgb_half:
    case PixelFormat::rgb_bfloat16: {
      const std::ptrdiff_t first = 3 * static_cast<std::ptrdiff_t>(x);
      return {float_sample(p, row, first), float_sample(p, row, first + 1), float_sample(p, row, first + 2)};
    }
    default:
      return {float_sample(p, row, x), float_sample(p, p.plane[1] + y * p.pitch[1], x),
              float_sample(p, p.plane[2] + y * p.pitch[2], x)};
  }
}

// Two by two luma samples, top row first, and the chroma that they share.
struct Ycc420 {
  std::uint8_t y[4];
  std::uint8_t cb;
  std::uint8_t cr;
};

// Converts the samples that share the chroma sample at (x, y). Where a side is odd, the last column or row
// counts twice.
CU264_HD Ycc420 convert_rgb(const ColourMatrix& m, const RgbPicture& p, int x, int y) {
  Ycc420 out;
  Rgb sum;
  for (int i = 0; i < 4; ++i) {
    const int luma_x = 2 * x + (i & 1), luma_y = 2 * y + (i >> 1);
    const Rgb c =
        rgb_at(p, luma_x < p.width ? luma_x : p.width - 1, luma_y < p.height ? luma_y : p.height - 1);
    out.y[i] = luma_of(m, c);
    sum.r += c.r, sum.g += c.g, sum.b += c.b;
  }
  out.cb = chroma_of(m.cb, sum);
  out.cr = chroma_of(m.cr, sum);
  return out;
}

}  // namespace cu264::core
