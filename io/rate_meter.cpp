#include "io/rate_meter.h"

#include <algorithm>
#include <cstdlib>

extern "C" {
#include <libavutil/mathematics.h>
}

namespace cu264::io {
namespace {

constexpr std::size_t kMaxReordered = 16;  // pictures that H.264 and HEVC may hold back

}  // namespace

void RateMeter::add(const AVPacket& packet) {
  if (bare_) {
    const std::int64_t usual = av_rescale_q(1, av_inv_q(told_), time_base_);
    times_.push_back(end_);
    end_ += packet.duration;
    halves_ += packet.duration > usual / 2 + 1 ? 2 : 1;
    repeats_ = repeats_ || packet.duration > usual + 1;
    return;
  }
  const std::int64_t time = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if (time != AV_NOPTS_VALUE && packet.size > 0) times_.push_back(time);
}

bool RateMeter::measure(AvInput& input, int stream_index, const Part& part) {
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    if (static_cast<int>(i) != stream_index) input->streams[i]->discard = AVDISCARD_ALL;
  }
  if (part.first > 0) avformat_seek_file(input.get(), -1, INT64_MIN, part.first, part.first, 0);
  const auto reaches = [&](std::int64_t time, std::int64_t limit) {
    return time != AV_NOPTS_VALUE && av_compare_ts(time, time_base_, limit, AV_TIME_BASE_Q) >= 0;
  };
  const bool begins = part.first != INT64_MIN, ends = part.end != INT64_MAX;
  const AvPacket packet = make_packet();
  for (; pictures() < part.pictures && av_read_frame(input.get(), packet.get()) >= 0;
       av_packet_unref(packet.get())) {
    if (packet->stream_index != stream_index) continue;
    if (ends && reaches(packet->dts, part.end)) break;
    if (begins && packet->pts != AV_NOPTS_VALUE && !reaches(packet->pts, part.first)) continue;
    if (!ends || !reaches(packet->pts, part.end)) add(*packet);
    if (!part.whole && pictures() == kEnough && keeps_told_rate(false)) return true;
  }
  return keeps_told_rate(true);
}

bool RateMeter::keeps_told_rate(bool ended) const {
  if (bare_) return !repeats_;
  std::vector<std::int64_t> sorted = times_;
  std::sort(sorted.begin(), sorted.end());
  if (!ended) sorted.resize(sorted.size() - std::min(sorted.size(), kMaxReordered));
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const std::int64_t expected =
        sorted[0] + av_rescale_q(static_cast<std::int64_t>(i), av_inv_q(told_), time_base_);
    if (std::llabs(sorted[i] - expected) > 1) return false;
  }
  return sorted.size() > 1;
}

std::optional<AVRational> RateMeter::mean() const {
  constexpr std::int64_t kMaxTerm = 1'000'000;  // which the headers of a stream can say twice
  if (times_.size() < 2) return std::nullopt;
  const auto [first, last] = std::minmax_element(times_.begin(), times_.end());
  const std::int64_t halves = bare_ ? halves_ : 2 * static_cast<std::int64_t>(times_.size() - 1);
  const std::int64_t ticks = bare_ ? end_ : *last - *first;
  if (ticks <= 0) return std::nullopt;
  AVRational mean;
  av_reduce(&mean.num, &mean.den, halves * time_base_.den, 2 * ticks * time_base_.num, kMaxTerm);
  return mean.num > 0 && mean.den > 0 ? std::optional(mean) : std::nullopt;
}

}  // namespace cu264::io
