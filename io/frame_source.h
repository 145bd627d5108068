// Decodes the frames of an input's video, in order and with the output's times, from the seek point to the
// end that was asked for. Packets of other streams go to SideStreams on the way.
#pragma once

#include <cstdint>
#include <string>

#include "io/av_input.h"
#include "io/damage.h"
#include "io/packet_source.h"
#include "io/picture_decoder.h"
#include "io/side_streams.h"
#include "io/stream_choice.h"
#include "io/timestamps.h"

namespace cu264::io {

// The part of an input that is wanted.
struct InputSpan {
  double seek = 0;          // seconds from the input's start
  double duration = 0;      // seconds from there on; 0: all
  bool copy_times = false;  // keep the input's times, instead of letting them begin at 0
};

class FrameSource {
 public:
  // All of these must outlive the source. `file` is the input's name for messages.
  FrameSource(AvInput& input, const ChosenStreams& chosen, SideStreams& side, Damage& damage,
              const std::string& file);

  // Goes to the beginning of the span. `frame_rate` makes the times that the input does not have, with the
  // fields that pictures ask to repeat (pulldown) if `repeats`.
  void start(const InputSpan& span, AVRational frame_rate, bool repeats);

  // Returns false at the end of the span or of the input, or where the input is stopped. `picture` is the
  // number of the next picture, for messages.
  bool next(AVFrame& frame, std::int64_t picture);

  // How long a frame of next() is shown, in the stream's time base, as far as the frame says.
  std::int64_t duration(const AVFrame& frame) const;

  // Reads on after the last picture that is wanted, because in most containers the other streams' packets up
  // to its end follow it. `video_end` is in `time_base` units.
  void read_side_tail(std::int64_t video_end, AVRational time_base, std::int64_t picture);

  // True if the container has no times of its own.
  bool bare() const { return bare_; }
  // The input's time that becomes 0, in AV_TIME_BASE units.
  std::int64_t begin() const { return begin_; }
  // True if next() has come to the end of the span.
  bool end_reached() const { return end_reached_; }
  // The number of packets before the first that decoding can begin with.
  std::int64_t skipped() const { return skipped_; }
  PacketSource& packets() { return packets_; }
  const PacketSource& packets() const { return packets_; }
  const Timestamps& timestamps() const { return timestamps_; }

 private:
  int repeated_fields(const AVFrame& frame) const;
  bool decode(AVFrame* frame, std::int64_t picture);
  bool feed_decoder(std::int64_t picture);  // takes one packet of any stream; false at the end of the input
  void check_decoder(std::int64_t picture);

  AvInput& input_;
  const ChosenStreams& chosen_;
  SideStreams& side_;
  Damage& damage_;
  const std::string& file_;
  const AVStream& stream_;
  PacketSource packets_;
  PictureDecoder decoder_;
  AvPacket packet_ = make_packet();
  Timestamps timestamps_{{1, 25}, {25, 1}, false};

  const bool bare_;
  std::int64_t begin_ = 0;
  // The span in AV_TIME_BASE units of the output's time; AV_NOPTS_VALUE: not limited.
  std::int64_t first_ = AV_NOPTS_VALUE;
  std::int64_t end_ = AV_NOPTS_VALUE;
  bool end_reached_ = false;
  bool repeats_ = false;  // whether repeated fields count
  bool entered_ = false;  // whether a packet was seen that decoding can begin with
  std::int64_t skipped_ = 0;
  bool draining_ = false;
};

}  // namespace cu264::io
