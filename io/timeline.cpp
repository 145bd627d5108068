#include "io/timeline.h"

#include <algorithm>
#include <cstdlib>

#include "io/time_range.h"

namespace cu264::io {
namespace {

// A difference beyond this is a jump, as in ffmpeg; below it, it is a gap in the recording.
constexpr std::int64_t kMaxGap = 10 * AV_TIME_BASE;
// Time that runs back by more than this is a jump too.
constexpr std::int64_t kMaxStepBack = AV_TIME_BASE / 10;

void move(AVPacket& packet, std::int64_t by, AVRational time_base) {
  const std::int64_t ticks = av_rescale_q(by, AV_TIME_BASE_Q, time_base);
  packet.pts = later_by(packet.pts, ticks, time_base);
  packet.dts = later_by(packet.dts, ticks, time_base);
}

std::int64_t duration_of(const AVPacket& packet, const AVStream& stream) {
  if (packet.duration > 0) return av_rescale_q(packet.duration, stream.time_base, AV_TIME_BASE_Q);
  const AVRational rate = stream.avg_frame_rate;
  return rate.num > 0 && rate.den > 0 ? av_rescale_q(1, av_inv_q(rate), AV_TIME_BASE_Q) : 0;
}

}  // namespace

void Timeline::apply(AVPacket& packet, const AVStream& stream) {
  const bool had_pts = packet.pts != AV_NOPTS_VALUE, had_dts = packet.dts != AV_NOPTS_VALUE;
  packet.duration = possible_duration(packet.duration, stream.time_base);
  move(packet, offset_, stream.time_base);
  if (had_pts != (packet.pts != AV_NOPTS_VALUE) || had_dts != (packet.dts != AV_NOPTS_VALUE)) ++impossible_;
  const AVMediaType type = stream.codecpar->codec_type;
  // Subtitles come at any distance from each other, so they cannot tell a jump from a silence.
  const bool steady = type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO;
  if (!jumps_ || !steady || packet.dts == AV_NOPTS_VALUE) return;
  std::int64_t now = av_rescale_q(packet.dts, stream.time_base, AV_TIME_BASE_Q);
  const auto found = positions_.find(packet.stream_index);
  const Position* const position = found == positions_.end() ? nullptr : &found->second;
  if (is_jump(now, position)) {
    const std::int64_t expected = position ? position->next : last_;
    move(packet, expected - now, stream.time_base);
    offset_ = std::clamp(offset_ + expected - now, -kLatestTime, kLatestTime);
    now = expected;
    ++jumps_closed_;
  }
  last_ = now;
  positions_[packet.stream_index] = {now, now + duration_of(packet, stream)};
}

bool Timeline::is_jump(std::int64_t now, const Position* position) const {
  if (position) {
    return std::llabs(now - position->next) > kMaxGap || now + kMaxStepBack < position->last;
  }
  return last_ != AV_NOPTS_VALUE && std::llabs(now - last_) > kMaxGap;
}

}  // namespace cu264::io
