// Arbitrary videos through filters give pictures that the encoder can take, or an Error.
//
// The input is a byte that chooses the graph and one that chooses how the file is opened, followed by the
// file.
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_pictures.h"

namespace {

using cu264::fuzz::require;

// What a file says of its pictures decides what these do.
constexpr const char* kGraphs[] = {
    "scale=iw*sar:ih:eval=frame",
    "format=rgb24,scale=min(iw*sar\\,512):ih:eval=frame",
    "scale=iw:ih:eval=frame,hflip",
    "fps=50",
    "fps=5,format=gray10",
    "framerate=30",
    "yadif=1,crop=iw/2:ih/2",
    "pad=iw+16:ih+8:8:4,vflip",
    "transpose,format=yuv444p",
    "setpts=PTS*3,fps=25",
    "tinterlace,setsar=1",
    "split[a][b];[a]hflip[c];[b][c]hstack",
    "scale=64:48,format=nv12",
    "select=key,scale=32:-2",
    "tpad=stop=3,setfield=tff",
    "scale=16+8*n:16:eval=frame",
    "scale=16+8*n:16:eval=frame,tile=2x2",
    "scale=16+t*64:16:eval=frame,hflip,crop=16:16",
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  cu264::io::set_up_av();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const cu264::fuzz::MemoryFile file(data + 2, size - 2);
  static constexpr const char* kFormats[] = {"yuv4mpegpipe", "h264", "matroska", "mov", "mpegts"};
  cu264::io::ReaderOptions options;
  options.input.path = file.path();
  options.filters = kGraphs[data[0] % std::size(kGraphs)];
  options.input.format = kFormats[data[1] % std::size(kFormats)];
  options.allow_partial = (data[1] >> 6 & 1) != 0;
  options.autorotate = (data[1] >> 7 & 1) != 0;
  options.max_side = 1024;
  try {
    cu264::io::Reader reader(options);
    cu264::fuzz::read_pictures(reader, [](const auto&, const auto&) {});
  } catch (const cu264::Error& error) {
    require(error.what()[0] != '\0');
  }
  return 0;
}
