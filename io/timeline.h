// The output's time. It begins at 0 where the input begins, and continues where the input's clock jumps.
#pragma once

#include <cstdint>
#include <map>

#include "io/av.h"
#include "io/time_range.h"

namespace cu264::io {

class Timeline {
 public:
  // `begin`, in AV_TIME_BASE units, is the input's time that becomes 0. `jumps` says whether the clock of
  // this kind of input may jump, as that of a transport stream does where two recordings were joined.
  Timeline(std::int64_t begin, bool jumps)
      : offset_(is_between(begin, kLatestTime) ? -begin : 0), jumps_(jumps) {}

  // Shifts the packet's times, and removes impossible ones, as io/time_range.h says. Packets come in the
  // order in which the demuxer reads them.
  void apply(AVPacket& packet, const AVStream& stream);

  // The number of packets that lost an impossible time.
  std::int64_t impossible() const { return impossible_; }

  // The number of jumps that were closed.
  std::int64_t jumps_closed() const { return jumps_closed_; }

 private:
  struct Position {
    std::int64_t last;  // when the last packet is decoded
    std::int64_t next;  // when the next one should be
  };

  bool is_jump(std::int64_t now, const Position* position) const;

  std::int64_t
      offset_;  // this and all below are in AV_TIME_BASE units, and except for the offset in output time
  bool jumps_;
  std::map<int, Position> positions_;   // by stream index
  std::int64_t last_ = AV_NOPTS_VALUE;  // when the last packet of any stream is decoded
  std::int64_t jumps_closed_ = 0;
  std::int64_t impossible_ = 0;
};

}  // namespace cu264::io
