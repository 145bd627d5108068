// Turns text subtitles of one codec into another's, such as SubRip into what mp4 holds, through libavcodec.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/av.h"
#include "io/output_container.h"

namespace cu264::io {

// Returns the codec of text subtitles that the container has of its own; AV_CODEC_ID_NONE if it has none.
AVCodecID text_subtitles_of(Container container);

class SubtitleConverter {
 public:
  // True if this libavcodec can do it.
  static bool can_convert(const AVStream& from, AVCodecID to);

  // Throws Error(bad_input) if the stream's header cannot be understood. `file` is the input's name.
  SubtitleConverter(const AVStream& from, AVCodecID to, std::string file);

  // Describes the converted stream.
  void describe(AVCodecParameters& parameters) const;

  // Replaces the packet's content. Returns false if nothing is to be shown, such as the end of a text.
  bool convert(AVPacket& packet);

 private:
  std::string file_;
  AVRational time_base_;
  AvCodec decoder_;
  AvCodec encoder_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace cu264::io
