// Measures how many pictures a second a video has, by the times of its packets.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/av_input.h"

namespace cu264::io {

class RateMeter {
 public:
  // If this many pictures keep a rate, all are taken to keep it.
  static constexpr std::int64_t kEnough = 250;

  static constexpr std::int64_t kEnoughOfLive = 10;

  // The part of a video that is measured: times in AV_TIME_BASE units, and the largest number of pictures.
  struct Part {
    std::int64_t first = INT64_MIN, end = INT64_MAX;
    std::int64_t pictures = INT64_MAX;
    bool whole = false;  // all of it, even if the first kEnough pictures keep the rate
  };

  // `told` is the rate that the container tells. If it is `bare`, it has no times, but its pictures may ask
  // for repeated fields.
  RateMeter(AVRational time_base, AVRational told, bool bare)
      : time_base_(time_base), told_(told), bare_(bare) {}

  // Packets may come in the order of decoding.
  void add(const AVPacket& packet);
  // Reads the packets of one stream, to the end of the part unless the first of them are enough. Returns
  // whether they keep the rate that is told.
  bool measure(AvInput& input, int stream_index, const Part& part);

  std::int64_t pictures() const { return static_cast<std::int64_t>(times_.size()); }
  // Returns whether further pictures may change the answers. A bare stream that comes `live` and repeats
  // nothing at its beginning is not waited for.
  bool wants_more(bool live) const {
    return pictures() < (live && bare_ && !repeats_ ? kEnoughOfLive : kEnough);
  }
  void forget() { *this = RateMeter(time_base_, told_, bare_); }
  // Returns whether pictures are at the distances that the container tells, give or take a rounded tick. The
  // last ones count only if the video ends with them, because others may come between.
  bool keeps_told_rate(bool ended) const;
  // Returns nothing for less than two pictures.
  std::optional<AVRational> mean() const;

 private:
  AVRational time_base_, told_;
  bool bare_;
  std::vector<std::int64_t> times_;  // of a bare stream: made of durations
  std::int64_t end_ = 0;             // of the last of these
  std::int64_t halves_ = 0;          // half pictures, because a packet may hold a single field
  bool repeats_ = false;
};

}  // namespace cu264::io
