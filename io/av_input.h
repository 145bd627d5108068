// An open input: libavformat's demuxer on a file, a pipe or standard input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/av.h"
#include "io/input_file.h"

namespace cu264::io {

struct RawVideo {
  int width = 0;
  int height = 0;
  std::string pixel_format = "yuv420p";
};

// An input is one file. Formats that name further files (playlists, manifests, image sequences) are read only
// if `format` or the path asks for them, and over no protocol but local files unless `protocols` names it.
struct InputOptions {
  std::string path;    // "-": standard input; with a number like %04d, and no file of that name: a sequence
  std::string format;  // libavformat's name of the demuxer; empty: found by probing
  std::vector<std::string> accepted;  // if not empty: the only demuxers that probing may find
  std::string protocols;              // libavformat's names, by commas, beside those of local files
  std::optional<RawVideo> raw;
  AVRational frame_rate{0, 1};  // of raw video, image sequences and elementary streams; 0: theirs, or 25
  std::function<bool()> stop;   // asked often, from any thread: true ends the input here
};

class AvInput {
 public:
  // `opened`: the file, if it is open already; what was peeked of it is read again.
  explicit AvInput(const InputOptions& options, std::unique_ptr<InputFile> opened = nullptr);
  ~AvInput();
  AvInput(const AvInput&) = delete;
  AvInput& operator=(const AvInput&) = delete;

  AVFormatContext* operator->() const { return context_; }
  AVFormatContext* get() const { return context_; }
  bool stopped() const { return stop_ && stop_(); }
  // Raw video and YUV4MPEG2: every packet is one whole picture of known size.
  bool uncompressed() const { return uncompressed_; }

 private:
  void read_from(std::unique_ptr<InputFile> file);
  static int read_file(void* self, std::uint8_t* to, int size);
  static std::int64_t seek_file(void* self, std::int64_t offset, int whence);

  std::function<bool()> stop_;
  bool uncompressed_ = false;
  std::unique_ptr<InputFile> file_;  // none where libavformat opens by name
  AvIo file_io_;
  AVFormatContext* context_ = nullptr;
};

}  // namespace cu264::io
