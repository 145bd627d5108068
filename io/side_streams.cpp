#include "io/side_streams.h"

#include <algorithm>

extern "C" {
#include <libavutil/mathematics.h>
}

namespace cu264::io {
namespace {

std::int64_t time_of(const AVPacket& packet) {
  return packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
}

void shift(std::int64_t& time, std::int64_t by) {
  if (time != AV_NOPTS_VALUE) time -= by;
}

}  // namespace

SideStreams::SideStreams(const AVFormatContext* context) {
  for (unsigned i = 0; i < context->nb_streams; ++i) {
    const AVStream* stream = context->streams[i];
    const AVMediaType type = stream->codecpar->codec_type;
    if (type == AVMEDIA_TYPE_AUDIO || type == AVMEDIA_TYPE_SUBTITLE) streams_.push_back(stream);
  }
}

const AVStream* SideStreams::find(int stream_index) const {
  for (const AVStream* stream : streams_) {
    if (stream->index == stream_index) return stream;
  }
  return nullptr;
}

void SideStreams::keep(const std::vector<const AVStream*>& streams) {
  streams_ = streams;
  std::erase_if(held_, [&](const AvPacket& packet) { return !has(packet->stream_index); });
}

void SideStreams::add(AvPacket packet) {
  const AVStream* stream = find(packet->stream_index);
  if (!stream) return;
  const std::int64_t offset = av_rescale_q(start_, AV_TIME_BASE_Q, stream->time_base);
  shift(packet->pts, offset);
  shift(packet->dts, offset);
  packet->time_base = stream->time_base;
  const std::int64_t time = time_of(*packet);
  if (time != AV_NOPTS_VALUE) {
    std::int64_t& reached = reached_.try_emplace(stream->index, INT64_MIN).first->second;
    reached = std::max(reached, av_rescale_q(time, stream->time_base, AV_TIME_BASE_Q));
    if (start_ != 0 && time < 0) return;
  }
  held_.push_back(std::move(packet));
}

void SideStreams::take_before(std::int64_t time, AVRational time_base, std::vector<AvPacket>& out) {
  // The partition is stable, because packets of one stream must stay in their order.
  const auto later = std::stable_partition(held_.begin(), held_.end(), [&](const AvPacket& packet) {
    const std::int64_t begins = time_of(*packet);
    return begins == AV_NOPTS_VALUE || av_compare_ts(begins, packet->time_base, time, time_base) < 0;
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
