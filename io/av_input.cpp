#include "io/av_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

namespace cu264::io {
namespace {

constexpr int kIoBufferBytes = 1 << 16;
constexpr int kPollMilliseconds = 100;

Error cannot_open(const std::string& path, const std::string& why) {
  return Error(ErrorCode::bad_input, path + ": cannot open: " + why);
}

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

}  // namespace

AvInput::AvInput(const InputOptions& options) : stop_(options.stop) {
  forget_av_log();
  const std::string name = name_of(options.path);
  struct stat status {};
  const bool exists = options.path != "-" && stat(options.path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw cannot_open(name, "it is a directory");
  if (exists && S_ISREG(status.st_mode) && status.st_size == 0) throw cannot_open(name, "the file is empty");

  const AVInputFormat* format = nullptr;
  const std::string format_name = options.raw ? "rawvideo" : options.format;
  if (!format_name.empty() && !(format = av_find_input_format(format_name.c_str()))) {
    throw Error(ErrorCode::unsupported, name + ": FFmpeg was built without the demuxer " + format_name);
  }
  AvOptions av_options;
  if (options.raw) {
    av_options.set("video_size",
                   std::to_string(options.raw->width) + "x" + std::to_string(options.raw->height));
    av_options.set("pixel_format", options.raw->pixel_format);
  }
  if (options.frame_rate.num > 0) {
    av_options.set("framerate",
                   std::to_string(options.frame_rate.num) + "/" + std::to_string(options.frame_rate.den));
  }

  context_ = avformat_alloc_context();
  if (!context_) throw std::bad_alloc();
  context_->interrupt_callback = {
      [](void* self) -> int { return static_cast<AvInput*>(self)->stopped() ? 1 : 0; }, this};
  try {
    if (options.path == "-" || (exists && !S_ISREG(status.st_mode))) open_descriptor(options.path);
    // A file whose name looks like a protocol is still a file.
    const std::string url = exists && !descriptor_io_ ? "file:" + options.path : options.path;
    const int opened =
        avformat_open_input(&context_, descriptor_io_ ? "" : url.c_str(), format, av_options.address());
    if (opened < 0) throw av_error(ErrorCode::bad_input, name, "cannot open", opened);
    if (av_options.has("framerate")) {
      throw Error(ErrorCode::invalid_argument, name + ": has timestamps of its own",
                  "--fps is for raw video, images and elementary streams");
    }
    uncompressed_ = options.raw || std::strcmp(context_->iformat->name, "yuv4mpegpipe") == 0;
    if (!uncompressed_) {
      const int found = avformat_find_stream_info(context_, nullptr);
      if (found < 0) throw av_error(ErrorCode::bad_input, name, "no stream is recognised", found);
    }
  } catch (...) {
    avformat_close_input(&context_);
    if (descriptor_ > 0) close(descriptor_);
    throw;
  }
}

AvInput::~AvInput() {
  avformat_close_input(&context_);
  if (descriptor_ > 0) close(descriptor_);
}

void AvInput::open_descriptor(const std::string& path) {
  descriptor_ = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw cannot_open(path, std::strerror(errno));
  auto* buffer = static_cast<unsigned char*>(av_malloc(kIoBufferBytes));
  if (!buffer) throw std::bad_alloc();
  struct stat status {};
  const bool seekable = fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  descriptor_io_.reset(avio_alloc_context(buffer, kIoBufferBytes, 0, this, read_descriptor, nullptr,
                                          seekable ? seek_descriptor : nullptr));
  if (!descriptor_io_) {
    av_free(buffer);
    throw std::bad_alloc();
  }
  context_->pb = descriptor_io_.get();
}

int AvInput::read_descriptor(void* self, std::uint8_t* to, int size) {
  const auto& input = *static_cast<AvInput*>(self);
  for (;;) {
    if (input.stopped()) return AVERROR_EXIT;
    pollfd waiting{input.descriptor_, POLLIN, 0};
    const int ready = poll(&waiting, 1, kPollMilliseconds);
    if (ready < 0 && errno != EINTR) return AVERROR(errno);
    if (ready <= 0) continue;
    const ssize_t got = read(input.descriptor_, to, static_cast<std::size_t>(size));
    if (got > 0) return static_cast<int>(got);
    if (got == 0) return AVERROR_EOF;
    if (errno != EINTR && errno != EAGAIN) return AVERROR(errno);
  }
}

std::int64_t AvInput::seek_descriptor(void* self, std::int64_t offset, int whence) {
  const int descriptor = static_cast<AvInput*>(self)->descriptor_;
  if (whence & AVSEEK_SIZE) {
    struct stat status {};
    return fstat(descriptor, &status) == 0 ? status.st_size : AVERROR(errno);
  }
  const off_t at = lseek(descriptor, offset, whence & ~AVSEEK_FORCE);
  return at >= 0 ? at : AVERROR(errno);
}

}  // namespace cu264::io
