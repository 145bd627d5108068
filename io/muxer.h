// Puts access units, and packets carried from the input, into a container.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/av.h"
#include "io/carried.h"
#include "io/container_writer.h"
#include "io/output_container.h"
#include "io/output_file.h"
#include "io/video_info.h"

namespace cu264::io {

struct MuxerOptions {
  Container container = Container::h264;
  bool fragmented = false;  // for mp4 and mov: the file can be played while it grows, and written to a pipe
  bool faststart = false;   // for mp4 and mov that can be read again: the index is moved before the pictures
  VideoInfo video;          // width and height are the coded picture's
  std::vector<std::uint8_t> headers;  // parameter sets in Annex B form
  Carried carried;
};

class Muxer {
 public:
  // `file` belongs to the caller, who commits it after finish().
  Muxer(OutputFile& file, const MuxerOptions& options);

  // Writes an access unit in Annex B form; pts and duration are in VideoInfo::time_base.
  void write(std::span<const std::uint8_t> data, std::int64_t pts, std::int64_t duration, bool key = true);
  // Writes a packet of one of the carried streams, with its input's stream_index and in its time_base.
  void copy(AvPacket packet);
  void finish();

  // Returns notes for the user, one line each; complete after finish().
  std::vector<std::string> notes() const { return writer_ ? writer_->notes() : std::vector<std::string>(); }

 private:
  void describe_video(const MuxerOptions& options);
  void set_time_code(const std::string& code);
  void write_header(const MuxerOptions& options);

  OutputFile& file_;
  AVRational time_base_;
  std::unique_ptr<ContainerWriter> writer_;  // null for a bare byte stream
  AVStream* video_ = nullptr;
  AvPacket packet_;
};

}  // namespace cu264::io
