// The packets of other streams on their way from the input to the output beside the pictures, cut to the same
// span of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "io/av.h"

namespace cu264::io {

class SideStreams {
 public:
  // All packets that wait for their pictures take no more memory than this. Containers interleave within a
  // second or so; a file can say that hours of other packets come first.
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

  explicit SideStreams(const std::vector<const AVStream*>& streams, std::size_t most_bytes = kMaxBytes)
      : most_bytes_(most_bytes) {
    keep(streams);
  }

  // Keeps only these from now on; packets of the others are dropped. Streams that have no packets of their
  // own, such as cover pictures and attached files, do not count.
  void keep(const std::vector<const AVStream*>& streams);
  bool has(int stream_index) const { return streams_.contains(stream_index); }

  // Drops everything before `time`, which is in AV_TIME_BASE units. A video then begins with a key picture.
  void start_at(std::int64_t time) { start_ = time; }

  // If too much waits then, the stream that has most loses its last packet.
  void add(AvPacket packet);

  // Moves out the packets that begin before `time`, which is in `time_base` units:
  // they play beside the pictures up to there. Whether a packet comes before the end of the last picture is
  // only known when that picture is read.
  void take_before(std::int64_t time, AVRational time_base, std::vector<AvPacket>& out);
  void take_all(std::vector<AvPacket>& out);

  // Returns true if every kept stream has shown a packet at or after `time`, so there is nothing more to wait
  // for.
  bool all_reached(std::int64_t time, AVRational time_base) const;

  // Says which streams lost packets because too much waited, one text for each.
  std::vector<std::string> losses() const;

 private:
  struct Waiting {
    AvPacket packet;
    std::uint64_t number;  // counts the packets of all streams
  };
  struct Stream {
    const AVStream* stream;
    std::deque<Waiting> waiting;
    std::size_t bytes = 0;             // of what waits
    std::int64_t reached = INT64_MIN;  // the latest time seen, in AV_TIME_BASE units
    bool begun = false;                // whether a video has had its first key picture
    std::int64_t lost = 0;             // packets, because too much waited
  };

  // Says whether the packet, which now has the stream's time base, lies in the span.
  bool is_wanted(Stream& to, const AVPacket& packet);
  void lose_one();
  void hand_out(std::vector<Waiting>& taken, std::vector<AvPacket>& out);

  std::map<int, Stream> streams_;  // by stream index
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;  // of everything that waits
  std::uint64_t added_ = 0;
  std::int64_t start_ = AV_NOPTS_VALUE;
};

}  // namespace cu264::io
