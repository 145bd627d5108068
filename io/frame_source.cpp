#include "io/frame_source.h"

extern "C" {
#include <libavutil/avstring.h>
}

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/av_versions.h"
#include "io/inside_av.h"
#include "io/time_range.h"

namespace cu264::io {
namespace {

// Packets of other streams are looked for this far after the last picture. Containers interleave within a
// second or so.
constexpr std::int64_t kInterleavingSeconds = 10;

// True for elementary streams. Not all of their demuxers say so.
bool has_no_times(const AVInputFormat& format) {
  constexpr char kElementary[] =
      "h264,hevc,vvc,evc,mpegvideo,m4v,h261,h263,vc1,cavsvideo,avs2,avs3,dirac,obu";
  return (format.flags & AVFMT_NOTIMESTAMPS) != 0 || av_match_list(format.name, kElementary, ',') > 0;
}

// The earliest time of the streams that are wanted. Some transport streams have others that begin much
// earlier.
std::int64_t first_time(const AVFormatContext& input, const ChosenStreams& chosen) {
  const std::int64_t of_input = is_between(input.start_time, kLatestTime) ? input.start_time : 0;
  if ((input.iformat->flags & AVFMT_TS_DISCONT) == 0) return of_input;
  std::int64_t first = INT64_MAX;
  const auto look_at = [&](const AVStream& stream) {
    const AVMediaType type = stream.codecpar->codec_type;
    if ((type != AVMEDIA_TYPE_VIDEO && type != AVMEDIA_TYPE_AUDIO) || stream.start_time == AV_NOPTS_VALUE)
      return;
    if (is_possible_time(stream.start_time, stream.time_base))
      first = std::min(first, av_rescale_q(stream.start_time, stream.time_base, AV_TIME_BASE_Q));
  };
  look_at(*chosen.video);
  for (const AVStream* stream : chosen.others) look_at(*stream);
  return first == INT64_MAX ? of_input : std::max(first, of_input);
}

}  // namespace

FrameSource::FrameSource(AvInput& input, const ChosenStreams& chosen, SideStreams& side, Damage& damage,
                         const std::string& file)
    : input_(input),
      chosen_(chosen),
      side_(side),
      damage_(damage),
      file_(file),
      stream_(*chosen.video),
      packets_(input, stream_, damage),
      decoder_(stream_, chosen.decoder, damage.allowed(), file),
      bare_(has_no_times(*input->iformat)) {}

void FrameSource::start(const InputSpan& span, AVRational frame_rate, bool repeats) {
  repeats_ = repeats;
  timestamps_ = Timestamps(stream_.time_base, frame_rate, bare_);
  const std::int64_t begin = first_time(*input_.get(), chosen_);
  const std::int64_t target = begin + std::llround(span.seek * AV_TIME_BASE);
  begin_ = span.copy_times ? 0 : target;
  const bool jumps = (input_->iformat->flags & AVFMT_TS_DISCONT) != 0 && !span.copy_times;
  packets_.use(Timeline(begin_, jumps));
  if (span.duration > 0) end_ = target - begin_ + std::llround(span.duration * AV_TIME_BASE);
  if (span.seek <= 0) return;
  first_ = target - begin_;
  side_.start_at(first_);
  packets_.expect_part();
  // A container without timestamps is decoded from its start, and so is a pipe.
  if (bare_ || !input_->pb || !input_->pb->seekable) return;
  // The seek goes a second early, because containers are searched by decoding time, which may differ from the
  // presentation time.
  const std::int64_t early = std::max(begin, target - AV_TIME_BASE);
  const InsideAv inside;
  av_seek_frame(input_.get(), stream_.index, av_rescale_q(early, AV_TIME_BASE_Q, stream_.time_base),
                AVSEEK_FLAG_BACKWARD);
}

bool FrameSource::next(AVFrame& frame, std::int64_t picture) {
  for (;; av_frame_unref(&frame)) {
    if (end_reached_ || !decode(&frame, picture)) return false;
    const std::int64_t pts = timestamps_.next(frame.best_effort_timestamp, repeated_fields(frame));
    // One microsecond of slack is allowed, which is what rounding to AV_TIME_BASE may cost.
    if (first_ != AV_NOPTS_VALUE && av_compare_ts(pts, stream_.time_base, first_ - 1, AV_TIME_BASE_Q) < 0)
      continue;
    end_reached_ = end_ != AV_NOPTS_VALUE && av_compare_ts(pts, stream_.time_base, end_, AV_TIME_BASE_Q) >= 0;
    if (end_reached_) return false;
    frame.pts = first_ == AV_NOPTS_VALUE
                    ? pts
                    : std::max(pts, av_rescale_q(first_, AV_TIME_BASE_Q, stream_.time_base));
    return true;
  }
}

int FrameSource::repeated_fields(const AVFrame& frame) const {
  return repeats_ ? frame.repeat_pict : 0;
}

std::int64_t FrameSource::duration(const AVFrame& frame) const {
  return bare_ ? timestamps_.frame_duration(repeated_fields(frame)) : duration_of(frame);
}

void FrameSource::read_side_tail(std::int64_t video_end, AVRational time_base, std::int64_t picture) {
  const std::int64_t more = av_rescale_q(kInterleavingSeconds, AVRational{1, 1}, time_base);
  const std::int64_t end = later_by(video_end, more, time_base);
  const std::int64_t limit = end != AV_NOPTS_VALUE ? end : video_end;
  packets_.expect_part();
  while (!side_.all_reached(video_end, time_base) && packets_.next(*packet_, picture)) {
    if (packet_->stream_index == stream_.index) {
      if (packet_->dts != AV_NOPTS_VALUE &&
          av_compare_ts(packet_->dts, stream_.time_base, limit, time_base) > 0) {
        break;
      }
      av_packet_unref(packet_.get());
    } else {
      side_.add(std::exchange(packet_, make_packet()));
    }
  }
}

bool FrameSource::decode(AVFrame* frame, std::int64_t picture) {
  for (;;) {
    const int result = decoder_.receive(frame);
    if (result == AVERROR(EAGAIN)) {
      if (feed_decoder(picture)) continue;
      if (draining_ || input_.stopped()) return false;
      draining_ = true;
      const int drained = decoder_.send(nullptr);
      if (drained < 0) throw av_error(ErrorCode::bad_input, file_, "cannot decode to the end", drained);
      continue;
    }
    if (result < 0 && result != AVERROR_EOF) {
      decoder_.complaint();  // the same thing in other words
      damage_.report(av_error(ErrorCode::bad_input, "decoder", "cannot decode", result).what(), picture);
      continue;
    }
    check_decoder(picture);
    return result >= 0;
  }
}

bool FrameSource::feed_decoder(std::int64_t picture) {
  if (!packets_.next(*packet_, picture)) return false;
  if (packet_->stream_index != stream_.index) {
    if (side_.has(packet_->stream_index)) {
      side_.add(std::exchange(packet_, make_packet()));
    } else {
      av_packet_unref(packet_.get());
    }
    return true;
  }
  // A recording may begin between two entry points; the part before the first one cannot be decoded. All
  // pictures of an mp4's index are wanted.
  entered_ = entered_ || damage_.allowed() || packets_.indexed() || (packet_->flags & AV_PKT_FLAG_KEY);
  if (!entered_) {
    ++skipped_;
    av_packet_unref(packet_.get());
    return true;
  }
  const int result = packet_->size > 0 ? decoder_.send(packet_.get()) : 0;
  av_packet_unref(packet_.get());
  if (result < 0) {
    decoder_.complaint();  // the same thing in other words
    damage_.report(av_error(ErrorCode::bad_input, "decoder", "cannot decode", result).what(), picture);
  }
  return true;
}

void FrameSource::check_decoder(std::int64_t picture) {
  const std::string complaint = decoder_.complaint();
  if (!complaint.empty() && !input_.stopped())
    damage_.report("cannot decode all of it: " + complaint, picture);
}

}  // namespace cu264::io
