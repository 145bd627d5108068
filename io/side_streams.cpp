#include "io/side_streams.h"

#include <algorithm>
#include <iterator>

extern "C" {
#include <libavutil/mathematics.h>
}

#include "io/stream_choice.h"

namespace cu264::io {
namespace {

// Pictures of other videos may come in another order than they are shown in, and must stay in it.
std::int64_t time_of(const AVPacket& packet) {
  return packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
}

bool has_packets(const AVStream& stream) {
  return stream.codecpar->codec_type != AVMEDIA_TYPE_ATTACHMENT && !is_cover(stream);
}

}  // namespace

const AVStream* SideStreams::find(int stream_index) const {
  for (const AVStream* stream : streams_) {
    if (stream->index == stream_index) return stream;
  }
  return nullptr;
}

void SideStreams::keep(const std::vector<const AVStream*>& streams) {
  streams_.clear();
  std::copy_if(streams.begin(), streams.end(), std::back_inserter(streams_),
               [](const AVStream* stream) { return has_packets(*stream); });
  std::erase_if(held_, [&](const AvPacket& packet) { return !has(packet->stream_index); });
}

void SideStreams::add(AvPacket packet) {
  const AVStream* stream = find(packet->stream_index);
  if (!stream) return;
  packet->time_base = stream->time_base;
  const std::int64_t time = time_of(*packet);
  if (time != AV_NOPTS_VALUE) {
    std::int64_t& reached = reached_.try_emplace(stream->index, INT64_MIN).first->second;
    reached = std::max(reached, av_rescale_q(time, stream->time_base, AV_TIME_BASE_Q));
    if (start_ != AV_NOPTS_VALUE) {
      const std::int64_t shown = packet->pts != AV_NOPTS_VALUE ? packet->pts : time;
      if (av_compare_ts(shown, stream->time_base, start_, AV_TIME_BASE_Q) < 0) return;
      if (stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO) {
        if (!begun_.contains(stream->index) && !(packet->flags & AV_PKT_FLAG_KEY)) return;
        begun_.insert(stream->index);
      }
    }
  }
  held_.push_back(std::move(packet));
}

void SideStreams::take_before(std::int64_t time, AVRational time_base, std::vector<AvPacket>& out) {
  // Packets of one stream must stay in their order: the partition is stable, and one that is later holds back
  // those behind it.
  std::set<int> reached;
  const auto later = std::stable_partition(held_.begin(), held_.end(), [&](const AvPacket& packet) {
    const std::int64_t begins = time_of(*packet);
    if (begins != AV_NOPTS_VALUE && av_compare_ts(begins, packet->time_base, time, time_base) >= 0)
      reached.insert(packet->stream_index);
    return !reached.contains(packet->stream_index);
  });
  std::move(held_.begin(), later, std::back_inserter(out));
  held_.erase(held_.begin(), later);
}

void SideStreams::take_all(std::vector<AvPacket>& out) {
  std::move(held_.begin(), held_.end(), std::back_inserter(out));
  held_.clear();
}

bool SideStreams::all_reached(std::int64_t time, AVRational time_base) const {
  return std::all_of(streams_.begin(), streams_.end(), [&](const AVStream* stream) {
    const auto reached = reached_.find(stream->index);
    return reached != reached_.end() && av_compare_ts(reached->second, AV_TIME_BASE_Q, time, time_base) >= 0;
  });
}

}  // namespace cu264::io
