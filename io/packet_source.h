// Reads the packets of an input, with the output's times, and notices where the input is cut off.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "io/av_input.h"
#include "io/damage.h"
#include "io/timeline.h"

namespace cu264::io {

class PacketSource {
 public:
  // All of these must outlive the source. `video` is the stream whose pictures count for Damage.
  PacketSource(AvInput& input, const AVStream& video, Damage& damage)
      : input_(input), video_(video), damage_(damage) {}

  void use(const Timeline& timeline) { timeline_ = timeline; }
  // Says that only a part is wanted, so that not reaching the input's own end is no damage.
  void expect_part() { whole_ = false; }
  // Says that no more than the first `most` pictures of a sequence are wanted: decoders are fed beyond them.
  void expect_at_most(std::int64_t most) { most_ = most; }
  // Returns whether the input is an mp4 that is read from its start.
  bool indexed() const;
  std::int64_t impossible_times() const { return timeline_.impossible(); }
  std::int64_t jumps_closed() const { return timeline_.jumps_closed(); }
  // The number of pictures of a transport stream that may lack something, though the decoder does not
  // complain.
  std::int64_t doubtful() const { return doubtful_; }

  // Reads packets that next() will return, while `more` wants another. Call this before use().
  void look_ahead(const std::function<bool(const AVPacket&)>& more);

  // Returns false at the end of the input, or where it is stopped. `picture` is the number of the next
  // picture.
  bool next(AVPacket& packet, std::int64_t picture);

  // The size of a picture of an uncompressed input in bytes.
  int picture_bytes() const;

 private:
  int read(AVPacket& packet);  // like av_read_frame
  void check_picture(AVPacket& packet, std::int64_t jumps_before, std::int64_t picture);
  void settle_doubt();
  std::int64_t promised_pictures() const;
  void check_end(int result, std::int64_t picture);

  AvInput& input_;
  const AVStream& video_;
  Damage& damage_;
  Timeline timeline_{0, false};
  std::deque<AvPacket> ahead_;
  int ahead_result_ = 0;  // of reading after these
  bool whole_ = true;
  std::int64_t most_ = INT64_MAX;
  bool ended_ = false;
  std::int64_t complaints_ = av_complaints().of_demuxers;
  std::int64_t pictures_ = 0;  // the number of packets of the video
  bool doubt_ = false;         // about the last picture of a transport stream
  std::int64_t jumps_before_doubt_ = 0;
  std::int64_t doubtful_ = 0;
  std::int64_t end_ = 0;  // the position after the last whole uncompressed picture
};

}  // namespace cu264::io
