// Frames of every pixel format in every kind of memory, made of the pictures that tests share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cu264/frame.h"
#include "support/picture.h"

namespace cu264::parity {

// A frame's planes in host memory. Of RGB formats the picture's Y, U and V become R, G and B.
struct FramePlanes {
  PixelFormat format = PixelFormat::i420;
  int width = 0;
  int height = 0;
  std::ptrdiff_t pitch[3] = {};
  std::vector<std::uint8_t> plane[3];

  // `padding` bytes, of a value found nowhere else, end each row; a multiple of 4 for floats. `bottom_up`
  // stores the last row first.
  FramePlanes(const test::Picture& picture, PixelFormat format, int padding, bool bottom_up = false);
};

// Copies planes to memory of some kind, on the current CUDA device.
class PlacedFrame {
 public:
  PlacedFrame(const FramePlanes& planes, MemoryKind memory);
  Frame view(std::int64_t pts = 0) const;

 private:
  Frame frame_;
  std::shared_ptr<std::uint8_t> memory_[3];
};

}  // namespace cu264::parity
