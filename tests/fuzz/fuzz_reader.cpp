// The video reader on arbitrary bytes gives pictures that the encoder can take, or an Error.
//
// The input is a byte that chooses how the file is opened, followed by the file.
#include <cstdint>
#include <string>
#include <vector>

#include "io/reader.h"
#include "tests/fuzz/memory_file.h"

namespace {

using cu264::fuzz::MemoryFile;
using cu264::fuzz::require;

// Reads the samples that the encoder would read.
unsigned touch(const cu264::Frame& frame) {
  unsigned sum = 0;
  const int planes = frame.format == cu264::PixelFormat::gray8  ? 1
                     : frame.format == cu264::PixelFormat::nv12 ? 2
                                                                : 3;
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

void read_all(const cu264::io::ReaderOptions& options) {
  cu264::io::Reader reader(options);
  cu264::io::Picture picture;
  std::vector<cu264::io::AvPacket> side;
  static volatile unsigned sink = 0;
  for (int i = 0; i < 8 && reader.read(picture, side); ++i) {
    const cu264::Frame frame = picture.view();
    require(frame.width == reader.info().width && frame.height == reader.info().height);
    require(frame.width > 0 && frame.height > 0);
    sink = sink + touch(frame);
  }
  for (const std::string& note : reader.notes()) require(!note.empty());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  cu264::io::set_up_av();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const MemoryFile file(data + 1, size - 1);
  const int mode = data[0];
  cu264::io::ReaderOptions options;
  options.input.path = file.path();
  // The demuxers are chosen by name, because testing FFmpeg's hundreds of other demuxers is not the purpose.
  static constexpr const char* kFormats[] = {"yuv4mpegpipe", "h264", "", "matroska", "mov", "mpegts"};
  const int which = mode % 8;
  if (which >= 6) return 0;
  if (which == 2) {
    static constexpr const char* kPixelFormats[] = {"yuv420p", "gray", "nv12", "rgb24"};
    options.input.raw = cu264::io::RawVideo{1 + mode / 32, 1 + mode / 16 % 8, kPixelFormats[mode / 8 % 4]};
  } else {
    options.input.format = kFormats[which];
  }
  options.allow_partial = mode >> 3 & 1;
  options.frames = mode >> 6;
  options.span.seek = mode >> 7 ? 0.04 : 0;
  try {
    read_all(options);
  } catch (const cu264::Error& error) {
    require(error.what()[0] != '\0');
  }
  return 0;
}
