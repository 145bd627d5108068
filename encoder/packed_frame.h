// Copies of frames, one plane after another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cu264/frame.h"

namespace cu264::encoder {

// The places of a copy's planes. Rows begin at multiples of 16 bytes, planes at multiples of 256.
struct PackedLayout {
  std::size_t offset[3] = {};
  std::ptrdiff_t pitch[3] = {};
  std::size_t bytes = 0;
};
PackedLayout packed_layout(PixelFormat format, int width, int height);

// Copies a frame in host memory to `to`, which has packed_layout's bytes, and returns the copy, top row
// first.
Frame pack_frame(const Frame& frame, std::uint8_t* to);

}  // namespace cu264::encoder
