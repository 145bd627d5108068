#include "io/side_streams.h"

#include <algorithm>
#include <set>
#include <utility>

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

// The memory that a packet takes, together with what libavcodec allocates beside its content.
std::size_t bytes_of(const AVPacket& packet) {
  constexpr std::size_t kBeside = 512;
  std::size_t bytes = kBeside + static_cast<std::size_t>(packet.size);
  for (int i = 0; i < packet.side_data_elems; ++i) bytes += kBeside + packet.side_data[i].size;
  return bytes;
}

}  // namespace

void SideStreams::keep(const std::vector<const AVStream*>& streams) {
  std::set<int> kept;
  for (const AVStream* stream : streams) {
    if (!has_packets(*stream)) continue;
    kept.insert(stream->index);
    streams_.try_emplace(stream->index, Stream{stream, {}});
  }
  std::erase_if(streams_, [&](const auto& one) {
    if (kept.contains(one.first)) return false;
    bytes_ -= one.second.bytes;
    return true;
  });
}

void SideStreams::add(AvPacket packet) {
  const auto found = streams_.find(packet->stream_index);
  if (found == streams_.end()) return;
  Stream& to = found->second;
  packet->time_base = to.stream->time_base;
  if (!is_wanted(to, *packet)) return;
  const std::size_t bytes = bytes_of(*packet);
  to.bytes += bytes, bytes_ += bytes;
  to.waiting.push_back({std::move(packet), added_++});
  while (bytes_ > most_bytes_) lose_one();
}

bool SideStreams::is_wanted(Stream& to, const AVPacket& packet) {
  const AVStream& stream = *to.stream;
  const std::int64_t time = time_of(packet);
  if (time == AV_NOPTS_VALUE) return true;
  to.reached = std::max(to.reached, av_rescale_q(time, stream.time_base, AV_TIME_BASE_Q));
  if (start_ == AV_NOPTS_VALUE) return true;
  const std::int64_t shown = packet.pts != AV_NOPTS_VALUE ? packet.pts : time;
  if (av_compare_ts(shown, stream.time_base, start_, AV_TIME_BASE_Q) < 0) return false;
  if (stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO)
    to.begun = to.begun || (packet.flags & AV_PKT_FLAG_KEY) != 0;
  return stream.codecpar->codec_type != AVMEDIA_TYPE_VIDEO || to.begun;
}

void SideStreams::lose_one() {
  const auto most = std::max_element(streams_.begin(), streams_.end(), [](const auto& a, const auto& b) {
    return a.second.bytes < b.second.bytes;
  });
  Stream& from = most->second;
  const std::size_t bytes = bytes_of(*from.waiting.back().packet);
  from.bytes -= bytes, bytes_ -= bytes;
  from.waiting.pop_back();
  ++from.lost;
}

void SideStreams::take_before(std::int64_t time, AVRational time_base, std::vector<AvPacket>& out) {
  // Packets of one stream must stay in their order, so one that is later holds back those after it.
  const auto is_later = [&](const AVPacket& packet) {
    const std::int64_t begins = time_of(packet);
    return begins != AV_NOPTS_VALUE && av_compare_ts(begins, packet.time_base, time, time_base) >= 0;
  };
  std::vector<Waiting> taken;
  for (auto& [index, from] : streams_) {
    while (!from.waiting.empty() && !is_later(*from.waiting.front().packet)) {
      const std::size_t bytes = bytes_of(*from.waiting.front().packet);
      from.bytes -= bytes, bytes_ -= bytes;
      taken.push_back(std::move(from.waiting.front()));
      from.waiting.pop_front();
    }
  }
  hand_out(taken, out);
}

void SideStreams::take_all(std::vector<AvPacket>& out) {
  std::vector<Waiting> taken;
  for (auto& [index, from] : streams_) {
    std::move(from.waiting.begin(), from.waiting.end(), std::back_inserter(taken));
    from.waiting.clear();
    from.bytes = 0;
  }
  bytes_ = 0;
  hand_out(taken, out);
}

// Packets of different streams go out in the order in which they came.
void SideStreams::hand_out(std::vector<Waiting>& taken, std::vector<AvPacket>& out) {
  std::sort(taken.begin(), taken.end(),
            [](const Waiting& a, const Waiting& b) { return a.number < b.number; });
  for (Waiting& one : taken) out.push_back(std::move(one.packet));
}

bool SideStreams::all_reached(std::int64_t time, AVRational time_base) const {
  const std::int64_t wanted = av_rescale_q_rnd(time, time_base, AV_TIME_BASE_Q, AV_ROUND_UP);
  return std::all_of(streams_.begin(), streams_.end(),
                     [&](const auto& one) { return one.second.reached >= wanted; });
}

std::vector<std::string> SideStreams::losses() const {
  std::vector<std::string> texts;
  for (const auto& [index, stream] : streams_) {
    if (stream.lost == 0) continue;
    texts.push_back(std::to_string(stream.lost) + " packets of stream " + std::to_string(index) +
                    " dropped: they come too long before their pictures, and more than " +
                    std::to_string(most_bytes_ >> 20) + " MiB waited");
  }
  return texts;
}

}  // namespace cu264::io
