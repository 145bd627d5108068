// An open input: libavformat's demuxer for a file, a pipe or standard input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/av.h"
#include "io/input_file.h"
#include "io/picture_sequence.h"

namespace cu264::io {

struct RawVideo {
  int width = 0;
  int height = 0;
  std::string pixel_format = "yuv420p";
};

// An input is one file. Formats that name further files (playlists, manifests, image sequences) are read only
// if `format` or the path asks for them, and from local files alone unless `protocols` names another
// protocol.
struct InputOptions {
  std::string path;  // "-" is standard input; a path with a number like %04d, or with * or ?, is a sequence
                     // of pictures, unless a file has that name
  std::optional<int> start_number;    // of a sequence with numbers; if not set, the first of 0 to 4
  std::string format;                 // libavformat's name of the demuxer; if empty, it is found by probing
  std::vector<std::string> accepted;  // if not empty: the only demuxers that probing may find
  std::string protocols;  // libavformat's names, separated by commas, of protocols allowed beside local files
  std::optional<RawVideo> raw;
  // For raw video, YUV4MPEG2, image sequences and elementary streams; 0: their own, or 25. The demuxer of
  // YUV4MPEG2 does not take it: Reader does.
  AVRational frame_rate{0, 1};
  std::function<bool()> stop;  // called often, from any thread; true ends the input here
};

class AvInput {
 public:
  // `opened` is the file if it is open already; bytes that were peeked are read again.
  explicit AvInput(const InputOptions& options, std::unique_ptr<InputFile> opened = nullptr);
  ~AvInput();
  AvInput(const AvInput&) = delete;
  AvInput& operator=(const AvInput&) = delete;

  AVFormatContext* operator->() const { return context_; }
  AVFormatContext* get() const { return context_; }
  bool stopped() const { return stop_ && stop_(); }
  // True for raw video and YUV4MPEG2, where every packet is one whole picture of known size.
  bool uncompressed() const { return uncompressed_; }
  // Returns what a file of known format and length lacks at its end, in words; empty if nothing is known to
  // be missing.
  std::string missing_end() const;
  // True for pictures in files of their own.
  bool is_sequence() const { return sequence_.has_value(); }
  // Returns what a sequence of pictures lacks after the first `pictures`; empty for any other input.
  std::string missing_picture(std::int64_t pictures) const;

 private:
  void read_from(std::unique_ptr<InputFile> file);
  void let_libav_read_picture(AvOptions& options);
  static int read_file(void* self, std::uint8_t* to, int size);
  static std::int64_t seek_file(void* self, std::int64_t offset, int whence);

  std::function<bool()> stop_;
  bool uncompressed_ = false;
  std::optional<PictureSequence> sequence_;
  std::unique_ptr<InputFile> file_;  // null where libavformat opens the input by name
  AvIo file_io_;
  AVFormatContext* context_ = nullptr;
};

}  // namespace cu264::io
