// The streams beside the pictures go from arbitrary containers into every kind of output, as cu264 encode
// carries them. The result is a file, or an Error.
//
// The input is a byte that chooses the input's format and one that chooses the output, followed by the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "io/captions.h"
#include "io/carried.h"
#include "io/muxer.h"
#include "io/output_file.h"
#include "tests/fuzz/container_seeds.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_pictures.h"

namespace {

using cu264::fuzz::require;
namespace io = cu264::io;

// The folder of the outputs. None of them is finished, so none is left.
const std::string& folder() {
  static const std::string path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "cu264-fuzz-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr);
    return name;
  }();
  return path;
}

void carry_over(const io::ReaderOptions& options, io::Container container, int how) {
  static const cu264::fuzz::CodedPicture coded = cu264::fuzz::coded_picture();
  io::Reader reader(options);
  std::vector<std::string> notes;
  io::MuxerOptions to;
  to.container = container;
  to.video = reader.info();
  to.headers = coded.headers;
  to.fragmented = io::is_mp4_family(container) && (how & 1) != 0;
  to.carried = io::carry(container, reader.carry_source(), notes);
  reader.keep(to.carried);
  for (const std::string& note : notes) require(!note.empty());
  io::OutputFile output(folder() + "/out");
  io::Muxer muxer(output, to);
  cu264::fuzz::read_pictures(reader, [&](const io::VideoPicture& picture, std::vector<io::AvPacket>& side) {
    for (io::AvPacket& packet : side) muxer.copy(std::move(packet));
    std::vector<std::uint8_t> unit = coded.access_unit;
    io::insert_captions(unit, picture.captions);
    muxer.write(unit, picture.pts, picture.duration);
  });
  muxer.finish();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  io::set_up_av();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const cu264::fuzz::MemoryFile file(data + 2, size - 2);
  static constexpr const char* kFormats[] = {"matroska", "mov", "mpegts"};
  static constexpr io::Container kContainers[] = {io::Container::mp4, io::Container::mov, io::Container::mkv,
                                                  io::Container::ts};
  io::ReaderOptions options;
  options.input.path = file.path();
  options.input.format = kFormats[data[0] % std::size(kFormats)];
  options.allow_partial = (data[0] >> 6 & 1) != 0;
  options.frames = data[0] >> 7 != 0 ? 2 : 0;
  options.span.seek = (data[1] >> 6 & 1) != 0 ? 0.04 : 0;
  options.span.copy_times = data[1] >> 7 != 0;
  options.max_side = 1024;
  try {
    carry_over(options, kContainers[data[1] % std::size(kContainers)], data[1] >> 4);
  } catch (const cu264::Error& error) {
    require(error.what()[0] != '\0');
  }
  require(std::filesystem::is_empty(folder()));
  return 0;
}
