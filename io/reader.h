// Reads a video: pictures in a format the encoder takes, and the packets of the other streams beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/av_input.h"
#include "io/converter.h"
#include "io/side_streams.h"
#include "io/timestamps.h"
#include "io/video_info.h"

namespace cu264::io {

struct ReaderOptions {
  InputOptions input;
  bool allow_partial = false;  // use what can be read of a damaged or cut-off input
  double seek = 0;             // seconds from the input's start
  std::int64_t frames = 0;     // at most so many pictures; 0: all
  int max_side = 8192;         // wider or higher pictures are refused
};

class Reader {
 public:
  // Opens the input and decodes the first picture: what info() says has been seen.
  explicit Reader(const ReaderOptions& options);

  const VideoInfo& info() const { return info_; }

  // Streams that can be copied; all are, until keep() names those wanted.
  const std::vector<const AVStream*>& side_streams() const { return side_.streams(); }
  void keep(const std::vector<const AVStream*>& streams);

  // The next picture, or false at the end. Appends to `side` the packets that come before the picture's end;
  // their stream_index is the input's. With a seek, times are counted from there, for all streams.
  bool read(Picture& picture, std::vector<AvPacket>& side);

  // What a user should know, one line each; complete when read() has returned false.
  std::vector<std::string> notes() const;

 private:
  void open_decoder();
  void seek();
  void fill_info(const AVFrame& frame);
  void fill_expected_frames();
  int picture_bytes() const;            // of an uncompressed picture
  bool next_picture(Picture& picture);  // from the decoder, cut at the seek point, in order
  bool decode(AVFrame* frame);
  bool feed_decoder();  // one packet of any stream; false at the end of the input
  bool next_packet(AVPacket& packet);
  void check_complete(const AVPacket& packet);
  void check_end_of_input(int result);
  void check_frame(const AVFrame& frame);
  void read_side_tail(std::vector<AvPacket>& side);
  void damage(const std::string& what);

  ReaderOptions options_;
  std::string name_;
  AvInput input_;
  AVStream* stream_ = nullptr;
  AvCodec decoder_;
  Converter converter_;
  SideStreams side_;
  VideoInfo info_;
  Timestamps timestamps_{{1, 25}, {25, 1}, false};
  AvPacket packet_;

  std::int64_t shift_ = 0;               // subtracted from the pictures' times
  std::int64_t start_ = AV_NOPTS_VALUE;  // pictures before are dropped, in AV_TIME_BASE units
  std::int64_t packet_end_ = 0;          // byte position behind the last whole uncompressed picture
  bool entered_ = false;                 // a packet that decoding can begin with was seen
  std::int64_t skipped_ = 0;             // packets before it
  bool draining_ = false;
  std::int64_t pictures_ = 0;   // handed out, `ahead_` not counted
  std::int64_t video_end_ = 0;  // of the last picture handed out
  Picture ahead_;               // the next picture, already decoded
  bool has_ahead_ = false;
  std::int64_t damages_ = 0;
  std::string first_damage_;
  std::vector<std::string> notes_;
};

}  // namespace cu264::io
