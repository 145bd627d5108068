// The video reader on arbitrary bytes gives pictures that the encoder can take, or an Error.
//
// The input is a byte that chooses how the file is opened, followed by the file.
#include <cstdint>
#include <string>

#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_pictures.h"

namespace {

using cu264::fuzz::MemoryFile;
using cu264::fuzz::require;

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
    cu264::io::Reader reader(options);
    cu264::fuzz::read_pictures(reader, [](const auto&, const auto&) {});
  } catch (const cu264::Error& error) {
    require(error.what()[0] != '\0');
  }
  return 0;
}
