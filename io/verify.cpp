#include "io/verify.h"

#include "io/picture_hash.h"
#include "io/reader.h"

namespace cu264::io {
namespace {

Error failure(const std::string& name, const std::string& what) {
  return Error(ErrorCode::verify_failure, name + ": verification failed: " + what);
}

std::uint64_t hash_of(const Frame& frame) {
  PictureHash hash;
  hash.add_plane(frame.plane[0], frame.pitch[0], frame.width, frame.height);
  for (int plane = 1; plane < 3; ++plane) {
    hash.add_plane(frame.plane[plane], frame.pitch[plane], (frame.width + 1) / 2, (frame.height + 1) / 2);
  }
  return hash.value();
}

}  // namespace

void verify_file(const std::string& path, const std::string& name, Container container, int width, int height,
                 const std::vector<std::uint64_t>& hashes) {
  ReaderOptions options;
  options.input.path = path;
  options.input.format = demuxer_name(container);
  options.streams.map = "v:0";  // the coded video comes first, though others may be larger
  std::size_t count = 0;
  try {
    Reader reader(options);
    VideoPicture picture;
    std::vector<AvPacket> none;
    for (; reader.read(picture, none); ++count) {
      const Frame frame = picture.view();
      if (frame.format != PixelFormat::i420 || frame.width != width || frame.height != height) {
        throw failure(name, "decoded as " + std::to_string(frame.width) + "x" + std::to_string(frame.height));
      }
      if (count < hashes.size() && hash_of(frame) != hashes[count]) {
        throw failure(name, "picture " + std::to_string(count) + " does not decode to its reconstruction");
      }
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::verify_failure) throw;
    throw failure(name, error.what());
  }
  if (count != hashes.size()) {
    throw failure(name, std::to_string(hashes.size()) + " pictures were written, " + std::to_string(count) +
                            " decoded");
  }
}

}  // namespace cu264::io
