// The packets of other streams on their way from the input to the output beside the pictures, cut to the same
// span of time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "io/av.h"

namespace cu264::io {

class SideStreams {
 public:
  explicit SideStreams(const std::vector<const AVStream*>& streams) { keep(streams); }

  // Keeps only these from now on; packets of the others are dropped. Streams that have no packets of their
  // own, such as cover pictures and attached files, do not count.
  void keep(const std::vector<const AVStream*>& streams);
  bool has(int stream_index) const { return find(stream_index) != nullptr; }

  // Drops everything before `time`, which is in AV_TIME_BASE units. A video then begins with a key picture.
  void start_at(std::int64_t time) { start_ = time; }

  void add(AvPacket packet);

  // Moves out the packets that begin before `time`, which is in `time_base` units:
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
  std::map<int, std::int64_t> reached_;  // by stream index, in AV_TIME_BASE units
  std::set<int> begun_;                  // videos that have had their first key picture
  std::int64_t start_ = AV_NOPTS_VALUE;
};

}  // namespace cu264::io
