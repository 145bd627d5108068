// What the fuzz targets of the reader share: everything is read that the encoder would read.
#pragma once

#include <vector>

#include "io/reader.h"
#include "tests/fuzz/memory_file.h"

namespace cu264::fuzz {

// Reads the samples of a frame.
inline unsigned touch(const Frame& frame) {
  unsigned sum = 0;
  const int planes = frame.format == PixelFormat::gray8 ? 1 : frame.format == PixelFormat::nv12 ? 2 : 3;
  for (int p = 0; p < planes; ++p) {
    const int chroma_width = (frame.width + 1) / 2;
    const int width = p == 0 ? frame.width : planes == 2 ? 2 * chroma_width : chroma_width;
    const int height = p == 0 ? frame.height : (frame.height + 1) / 2;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) sum += frame.plane[p][y * frame.pitch[p] + x];
    }
  }
  return sum;
}

// Reads at most eight pictures. `use` gets each, with the packets of the other streams beside it.
template <class Use>
void read_pictures(io::Reader& reader, const Use& use) {
  io::VideoPicture picture;
  std::vector<io::AvPacket> side;
  static volatile unsigned sink = 0;
  for (int i = 0; i < 8 && reader.read(picture, side); ++i) {
    const Frame frame = picture.view();
    require(frame.width == reader.info().width && frame.height == reader.info().height);
    require(frame.width > 0 && frame.height > 0);
    sink = sink + touch(frame);
    use(picture, side);
    side.clear();
  }
  for (const std::string& note : reader.notes()) require(!note.empty());
}

}  // namespace cu264::fuzz
