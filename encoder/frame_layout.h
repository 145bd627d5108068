// The memory layout of each pixel format.
#pragma once

#include <cstddef>

#include "cu264/frame.h"

namespace cu264::encoder {

inline constexpr int kPixelFormats = static_cast<int>(PixelFormat::bgra32) + 1;

inline bool is_rgb(PixelFormat format) {
  return format >= PixelFormat::rgb24;
}

inline int plane_count(PixelFormat format) {
  switch (format) {
    case PixelFormat::nv12:
      return 2;
    case PixelFormat::i420:
    case PixelFormat::rgb_planar:
    case PixelFormat::rgb_float_planar:
    case PixelFormat::rgb_half_planar:
    case PixelFormat::rgb_bfloat16_planar:
      return 3;
    default:
      return 1;
  }
}

// Bytes of a number, to which planes are aligned.
inline int number_bytes(PixelFormat format) {
  switch (format) {
    case PixelFormat::rgb_float:
    case PixelFormat::rgb_float_planar:
      return 4;
    case PixelFormat::rgb_half:
    case PixelFormat::rgb_half_planar:
    case PixelFormat::rgb_bfloat16:
    case PixelFormat::rgb_bfloat16_planar:
      return 2;
    default:
      return 1;
  }
}

// Bytes of a plane's sample, or of all samples at one position where they are interleaved.
inline int position_bytes(PixelFormat format, int plane) {
  switch (format) {
    case PixelFormat::nv12:
      return plane == 0 ? 1 : 2;
    case PixelFormat::rgb24:
    case PixelFormat::bgr24:
      return 3;
    case PixelFormat::rgba32:
    case PixelFormat::bgra32:
      return 4;
    case PixelFormat::rgb_float:
    case PixelFormat::rgb_half:
    case PixelFormat::rgb_bfloat16:
      return 3 * number_bytes(format);
    default:
      return number_bytes(format);
  }
}

// Number of positions of a plane along a side of the frame: half of it, rounded up, in 4:2:0 chroma.
inline int plane_side(PixelFormat format, int plane, int side) {
  return plane > 0 && !is_rgb(format) ? (side + 1) / 2 : side;
}

inline std::ptrdiff_t row_bytes(PixelFormat format, int plane, int width) {
  return static_cast<std::ptrdiff_t>(plane_side(format, plane, width)) * position_bytes(format, plane);
}

}  // namespace cu264::encoder
