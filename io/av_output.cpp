#include "io/av_output.h"

#include <cstdint>
#include <limits>
#include <new>

#include "io/av_versions.h"

namespace cu264::io {
namespace {

constexpr int kIoBufferBytes = 1 << 16;

int write_to_file(void* file, AvWrittenByte* data, int size) {
  const int result = static_cast<OutputFile*>(file)->try_write(data, static_cast<std::size_t>(size));
  return result < 0 ? AVERROR(-result) : size;
}

std::int64_t seek_in_file(void* file, std::int64_t offset, int whence) {
  if (whence & AVSEEK_SIZE) return AVERROR(ENOSYS);
  return static_cast<OutputFile*>(file)->try_seek(offset, whence & ~AVSEEK_FORCE);
}

}  // namespace

AvIo make_output_io(OutputFile& file) {
  auto* buffer = static_cast<unsigned char*>(av_malloc(kIoBufferBytes));
  if (!buffer) throw std::bad_alloc();
  AvIo io(avio_alloc_context(buffer, kIoBufferBytes, 1, &file, nullptr, write_to_file,
                             file.seekable() ? seek_in_file : nullptr));
  if (!io) {
    av_free(buffer);
    throw std::bad_alloc();
  }
  return io;
}

int packet_size(std::size_t bytes) {
  constexpr std::size_t kMax = std::numeric_limits<int>::max() - AV_INPUT_BUFFER_PADDING_SIZE;
  if (bytes <= kMax) return static_cast<int>(bytes);
  throw Error(ErrorCode::bad_input, "an access unit of " + std::to_string(bytes) + " bytes fits no packet",
              "write a bare stream (.264)");
}

}  // namespace cu264::io
