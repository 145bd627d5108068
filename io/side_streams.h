// Audio and subtitle packets on their way from the input to the output beside the pictures, cut to the same
// span of time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "io/av.h"

namespace cu264::io {

class SideStreams {
 public:
  // Takes the streams of `context` that could be copied: audio and subtitles.
  explicit SideStreams(const AVFormatContext* context);

  const std::vector<const AVStream*>& streams() const { return streams_; }
  // Keeps only these from now on; packets of the others are dropped.
  void keep(const std::vector<const AVStream*>& streams);
  bool has(int stream_index) const { return find(stream_index) != nullptr; }

  // Drops everything before `time`, and counts all times from there. `time` is in AV_TIME_BASE units.
  void start_at(std::int64_t time) { start_ = time; }

  void add(AvPacket packet);

  // Moves out the packets that begin before `time`, which is in `time_base` units counted from the start:
  // they play beside the pictures up to there. Whether a packet comes before the end of the last picture is
  // only known when that picture is read.
  void take_before(std::int64_t time, AVRational time_base, std::vector<AvPacket>& out);
  void take_all(std::vector<AvPacket>& out);

  // Returns true if every kept stream has shown a packet at or after `time`, so there is nothing more to wait
  // for.
  bool all_reached(std::int64_t time, AVRational time_base) const;

 private:
  const AVStream* find(int stream_index) const;

  std::vector<const AVStream*> streams_;
  std::deque<AvPacket> held_;
  std::map<int, std::int64_t> reached_;  // by stream index, in AV_TIME_BASE units from the start
  std::int64_t start_ = 0;
};

}  // namespace cu264::io
