// For every format, pitch and size, each padded sample is the nearest sample of the frame.
#include "encoder/cpu/ingest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using cu264::Frame;
using cu264::PixelFormat;
using cu264::encoder::CpuPicture;

// A frame in memory of its own, with rows `slack` bytes apart and, if `flipped`, stored bottom row first.
struct OwnedFrame {
  std::vector<std::uint8_t> memory[3];
  Frame frame;

  OwnedFrame(PixelFormat format, int width, int height, int slack, bool flipped, std::mt19937& random) {
    frame.format = format;
    frame.width = width, frame.height = height;
    const int planes = format == PixelFormat::i420 ? 3 : format == PixelFormat::nv12 ? 2 : 1;
    for (int c = 0; c < planes; ++c) {
      const int w = c == 0 ? width : (width + 1) / 2 * (planes == 2 ? 2 : 1);
      const int h = c == 0 ? height : (height + 1) / 2;
      const std::ptrdiff_t pitch = w + slack;
      // The memory ends with the last row, so that a sanitizer reports a read beyond it.
      memory[c].resize(static_cast<std::size_t>(pitch * (h - 1) + w));
      for (auto& s : memory[c]) s = static_cast<std::uint8_t>(random());
      frame.plane[c] = memory[c].data() + (flipped ? pitch * (h - 1) : 0);
      frame.pitch[c] = flipped ? -pitch : pitch;
    }
  }

  int sample(int c, int x, int y) const {
    if (c == 0 || frame.format == PixelFormat::i420) return frame.plane[c][y * frame.pitch[c] + x];
    return frame.format == PixelFormat::nv12 ? frame.plane[1][y * frame.pitch[1] + 2 * x + (c - 1)] : 128;
  }
};

TEST(Ingest, EverySampleIsTheNearestOfTheFrame) {
  std::mt19937 random(5);
  const int sizes[][2] = {{1, 1}, {2, 2}, {16, 16}, {17, 1}, {1, 17}, {15, 31}, {18, 34}, {33, 47}, {64, 32}};
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::nv12, PixelFormat::gray8}) {
    for (const auto& [width, height] : sizes) {
      for (const int slack : {0, 5}) {
        for (const bool flipped : {false, true}) {
          const OwnedFrame owned(format, width, height, slack, flipped, random);
          CpuPicture picture;
          picture.resize((width + 15) / 16, (height + 15) / 16, 1);
          for (auto& plane : picture.source)
            std::fill(plane.samples.begin(), plane.samples.end(), std::uint8_t{77});
          cu264::encoder::ingest(owned.frame, picture);
          for (int c = 0; c < 3; ++c) {
            const int last_x = c == 0 ? width - 1 : (width + 1) / 2 - 1;
            const int last_y = c == 0 ? height - 1 : (height + 1) / 2 - 1;
            for (int y = 0; y < picture.source[c].height; ++y) {
              for (int x = 0; x < picture.source[c].width; ++x) {
                ASSERT_EQ(picture.source[c].row(y)[x],
                          owned.sample(c, std::min(x, last_x), std::min(y, last_y)))
                    << "format " << static_cast<int>(format) << ", " << width << "x" << height << ", plane "
                    << c << " at " << x << "," << y << (flipped ? ", flipped" : "") << ", slack " << slack;
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
