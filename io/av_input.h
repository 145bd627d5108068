// An open input: libavformat's demuxer on a file, a pipe or standard input.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "io/av.h"

namespace cu264::io {

struct RawVideo {
  int width = 0;
  int height = 0;
  std::string pixel_format = "yuv420p";
};

struct InputOptions {
  std::string path;    // "-": standard input
  std::string format;  // libavformat's name of the demuxer; empty: found by probing
  std::optional<RawVideo> raw;
  AVRational frame_rate{0, 1};  // of raw video, image sequences and elementary streams; 0: theirs, or 25
  std::function<bool()> stop;   // asked often, from any thread: true ends the input here
};

class AvInput {
 public:
  explicit AvInput(const InputOptions& options);
  ~AvInput();
  AvInput(const AvInput&) = delete;
  AvInput& operator=(const AvInput&) = delete;

  AVFormatContext* operator->() const { return context_; }
  AVFormatContext* get() const { return context_; }
  bool stopped() const { return stop_ && stop_(); }
  // Raw video and YUV4MPEG2: every packet is one whole picture of known size.
  bool uncompressed() const { return uncompressed_; }

 private:
  void open_descriptor(const std::string& path);
  static int read_descriptor(void* self, std::uint8_t* to, int size);
  static std::int64_t seek_descriptor(void* self, std::int64_t offset, int whence);

  std::function<bool()> stop_;
  bool uncompressed_ = false;
  int descriptor_ = -1;  // of what is not a regular file: read with a timeout, so that `stop` is seen
  AvIo descriptor_io_;
  AVFormatContext* context_ = nullptr;
};

}  // namespace cu264::io
