#include "io/reader.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "io/av_versions.h"

namespace cu264::io {
namespace {

// Packets of other streams are looked for this far behind the last picture. Containers interleave within a
// second or so.
constexpr std::int64_t kInterleavingSeconds = 10;

std::string size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

bool is_text_art(AVCodecID codec) {
  return codec == AV_CODEC_ID_ANSI || codec == AV_CODEC_ID_XBIN || codec == AV_CODEC_ID_BINTEXT ||
         codec == AV_CODEC_ID_IDF;
}

}  // namespace

Reader::Reader(const ReaderOptions& options)
    : options_(options),
      name_(options.input.path == "-" ? "standard input" : options.input.path),
      input_(options.input),
      converter_(name_),
      side_(input_.get()),
      packet_(make_packet()) {
  open_decoder();
  const AVRational rate = av_guess_frame_rate(input_.get(), stream_, nullptr);
  info_.frame_rate = rate.num > 0 && rate.den > 0 ? rate : AVRational{25, 1};
  info_.time_base = stream_->time_base;
  timestamps_ = Timestamps(stream_->time_base, info_.frame_rate, input_->iformat->flags & AVFMT_NOTIMESTAMPS);
  if (options_.seek > 0) seek();
  if (options_.duration > 0) {
    end_ = input_begin() + std::llround((options_.seek + options_.duration) * AV_TIME_BASE);
  }
  has_ahead_ = next_picture(ahead_);
  if (!has_ahead_ && !input_.stopped()) {
    if (!first_damage_.empty())
      throw Error(ErrorCode::bad_input, name_ + ": no picture can be decoded: " + first_damage_);
    throw Error(ErrorCode::bad_input,
                name_ + (options_.seek > 0 ? ": ends before the --seek point" : ": holds no picture"));
  }
}

void Reader::open_decoder() {
  const AVCodec* codec = nullptr;
  const int index = av_find_best_stream(input_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  if (index == AVERROR_STREAM_NOT_FOUND) throw Error(ErrorCode::bad_input, name_ + ": holds no video");
  if (index < 0) throw av_error(ErrorCode::bad_input, name_, "its video cannot be decoded", index);
  stream_ = input_->streams[index];
  if (is_text_art(stream_->codecpar->codec_id))
    throw Error(ErrorCode::bad_input, name_ + ": is text, not video");
  for (unsigned i = 0; i < input_->nb_streams; ++i) {
    const bool wanted = static_cast<int>(i) == index || side_.has(static_cast<int>(i));
    input_->streams[i]->discard = wanted ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  }
  decoder_.reset(avcodec_alloc_context3(codec));
  int result = decoder_ ? avcodec_parameters_to_context(decoder_.get(), stream_->codecpar) : AVERROR(ENOMEM);
  if (result >= 0) {
    decoder_->pkt_timebase = stream_->time_base;
    decoder_->thread_count = 0;
    result = avcodec_open2(decoder_.get(), codec, nullptr);
  }
  if (result < 0) throw av_error(ErrorCode::bad_input, name_, "cannot open its decoder", result);
  if (has_display_matrix(*stream_)) {
    notes_.push_back(name_ + ": asks players to rotate it; the output does not");
  }
}

std::int64_t Reader::input_begin() const {
  return input_->start_time != AV_NOPTS_VALUE ? input_->start_time : 0;
}

void Reader::seek() {
  const std::int64_t begin = input_begin();
  const std::int64_t target = begin + std::llround(options_.seek * AV_TIME_BASE);
  start_ = target;
  shift_ = av_rescale_q(target, AV_TIME_BASE_Q, stream_->time_base);
  side_.start_at(target);
  // A container without timestamps is decoded from its start, and so is a pipe.
  if ((input_->iformat->flags & AVFMT_NOTIMESTAMPS) || !input_->pb || !input_->pb->seekable) return;
  // The seek goes a second early, because containers are searched by decoding time, which may be behind the
  // presentation time.
  const std::int64_t early = std::max(begin, target - AV_TIME_BASE);
  av_seek_frame(input_.get(), stream_->index, av_rescale_q(early, AV_TIME_BASE_Q, stream_->time_base),
                AVSEEK_FLAG_BACKWARD);
}

void Reader::keep(const std::vector<const AVStream*>& streams) {
  for (const AVStream* stream : side_.streams()) input_->streams[stream->index]->discard = AVDISCARD_ALL;
  for (const AVStream* stream : streams) input_->streams[stream->index]->discard = AVDISCARD_DEFAULT;
  side_.keep(streams);
}

void Reader::fill_info(const AVFrame& frame) {
  info_.width = frame.width, info_.height = frame.height;
  if (frame.width > options_.max_side || frame.height > options_.max_side) {
    throw Error(ErrorCode::bad_input, name_ + ": pictures of " + size_text(frame.width, frame.height) +
                                          " are too large: at most " +
                                          size_text(options_.max_side, options_.max_side));
  }
  const AVRational ratio = frame.sample_aspect_ratio;  // next_source() put the container's there
  if (ratio.num > 0 && ratio.den > 0) info_.sample_aspect_ratio = ratio;
  // A variable frame rate shows in an average that differs from the base rate.
  const AVRational average = stream_->avg_frame_rate, base = stream_->r_frame_rate;
  if (average.num > 0 && base.num > 0 && !input_.uncompressed()) {
    info_.fixed_frame_rate = std::abs(av_q2d(average) / av_q2d(base) - 1) < 1e-3;
  }
  fill_expected_frames();
  Converter::describe(frame, info_);
  if (options_.tags.chroma_location) info_.chroma_location = *options_.tags.chroma_location + 1;
  const bool retagged = options_.tags.matrix || options_.tags.full_range;
  if (retagged &&
      (av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format))->flags & AV_PIX_FMT_FLAG_RGB)) {
    throw Error(ErrorCode::invalid_argument,
                name_ + ": is RGB, whose conversion decides --colormatrix and --range",
                "drop them, or convert by --vf scale=out_color_matrix=bt709,format=yuv420p");
  }
  const std::string loss = Converter::loss(static_cast<AVPixelFormat>(frame.format));
  if (!loss.empty()) notes_.push_back(name_ + ": " + loss);
  if (is_interlaced(frame)) notes_.push_back(name_ + ": is interlaced; coded as progressive frames");
}

void Reader::fill_expected_frames() {
  info_.expected_frames = stream_->nb_frames;
  if (input_.uncompressed() && input_->pb) {
    constexpr int kY4mFrameHeader = 6;  // "FRAME" and a line feed
    const std::int64_t size = avio_size(input_->pb), picture = picture_bytes();
    if (size > 0 && picture > 0)
      info_.expected_frames = size / (picture + (options_.input.raw ? 0 : kY4mFrameHeader));
  }
  if (info_.expected_frames <= 0 && input_->duration > 0) {
    info_.expected_frames = av_rescale_q(input_->duration, AV_TIME_BASE_Q, av_inv_q(info_.frame_rate));
  }
  if (options_.seek > 0) {
    info_.expected_frames -= static_cast<std::int64_t>(options_.seek * av_q2d(info_.frame_rate));
  }
  info_.expected_frames = std::max<std::int64_t>(info_.expected_frames, 0);
  if (options_.duration > 0 && info_.expected_frames > 0) {
    const double wanted = std::ceil(options_.duration * av_q2d(info_.frame_rate));
    info_.expected_frames = std::min(info_.expected_frames, static_cast<std::int64_t>(wanted));
  }
  if (options_.frames > 0 && (info_.expected_frames == 0 || options_.frames < info_.expected_frames)) {
    info_.expected_frames = options_.frames;
  }
}

bool Reader::read(Picture& picture, std::vector<AvPacket>& side) {
  const bool limit_reached = end_reached_ || (options_.frames > 0 && pictures_ == options_.frames);
  if (!has_ahead_ || input_.stopped()) {
    if (limit_reached) {
      read_side_tail(side);
    } else if (!input_.stopped()) {
      side_.take_all(side);
    }
    return false;
  }
  picture = std::move(ahead_);
  ++pictures_;
  const bool last_wanted = options_.frames > 0 && pictures_ == options_.frames;
  has_ahead_ = !last_wanted && next_picture(ahead_);
  if (has_ahead_) picture.duration = ahead_.pts - picture.pts;
  video_end_ = picture.pts + picture.duration;
  side_.take_before(video_end_, info_.time_base, side);
  return true;
}

// In most containers the other streams' packets up to the end of the last picture lie behind that picture.
void Reader::read_side_tail(std::vector<AvPacket>& side) {
  const std::int64_t limit =
      video_end_ + av_rescale_q(kInterleavingSeconds, AVRational{1, 1}, info_.time_base);
  while (!side_.all_reached(video_end_, info_.time_base) && next_packet(*packet_)) {
    if (packet_->stream_index == stream_->index) {
      if (packet_->dts != AV_NOPTS_VALUE &&
          av_compare_ts(packet_->dts - shift_, stream_->time_base, limit, info_.time_base) > 0) {
        break;
      }
      av_packet_unref(packet_.get());
    } else {
      side_.add(std::exchange(packet_, make_packet()));
    }
  }
  side_.take_before(video_end_, info_.time_base, side);
}

bool Reader::next_picture(Picture& picture) {
  AvFrame frame = make_frame();
  if (!next_frame(*frame)) return false;
  if (info_.width == 0) fill_info(*frame);
  picture.pts = frame->pts;
  picture.duration = filters_ ? 0 : duration_of(*frame);  // filters do not keep it true
  if (picture.duration <= 0)
    picture.duration =
        std::max<std::int64_t>(1, av_rescale_q(1, av_inv_q(info_.frame_rate), info_.time_base));
  picture.frame = converter_.convert(std::move(frame));
  return true;
}

bool Reader::next_frame(AVFrame& frame) {
  if (options_.filters.empty()) return next_source(frame);
  while (!filters_ || !filters_->pull(frame)) {
    if (sources_ended_) return false;
    const AvFrame source = make_frame();
    if (next_source(*source)) {
      if (!filters_) open_filters(*source);
      const std::int64_t duration = duration_of(*source);
      source_end_ = source->pts + (duration > 0 ? duration : timestamps_.frame_duration());
      filters_->push(*source);
    } else {
      sources_ended_ = true;
      if (!filters_) return false;
      filters_->finish(source_end_);
    }
  }
  frame.pts = filtered_.next(frame.pts);
  return true;
}

void Reader::open_filters(AVFrame& first) {
  filters_ = std::make_unique<FilterGraph>(options_.filters, first, stream_->time_base, info_.frame_rate);
  info_.time_base = filters_->time_base();
  const AVRational rate = filters_->frame_rate();
  if (rate.num > 0) info_.frame_rate = rate;
  filtered_ = Timestamps(info_.time_base, info_.frame_rate, false);
}

bool Reader::next_source(AVFrame& frame) {
  for (;; av_frame_unref(&frame)) {
    if (end_reached_ || !decode(&frame)) return false;
    const std::int64_t pts = timestamps_.next(frame.best_effort_timestamp);
    // One microsecond of slack is allowed, which is what rounding to AV_TIME_BASE may cost.
    if (start_ != AV_NOPTS_VALUE && av_compare_ts(pts, stream_->time_base, start_ - 1, AV_TIME_BASE_Q) < 0)
      continue;
    end_reached_ =
        end_ != AV_NOPTS_VALUE && av_compare_ts(pts, stream_->time_base, end_, AV_TIME_BASE_Q) >= 0;
    if (end_reached_) return false;
    check_frame(frame);
    frame.pts = std::max<std::int64_t>(pts - shift_, start_ != AV_NOPTS_VALUE ? 0 : INT64_MIN);
    frame.sample_aspect_ratio = av_guess_sample_aspect_ratio(input_.get(), stream_, &frame);
    options_.tags.apply(frame);
    return true;
  }
}

void Reader::check_frame(const AVFrame& frame) {
  if (frame.decode_error_flags != 0 || (frame.flags & AV_FRAME_FLAG_CORRUPT))
    damage("parts of it are damaged");
  if (source_width_ == 0) {
    source_width_ = frame.width, source_height_ = frame.height;
  } else if (frame.width != source_width_ || frame.height != source_height_) {
    throw Error(ErrorCode::bad_input,
                name_ + ": the frame size changes from " + size_text(source_width_, source_height_) + " to " +
                    size_text(frame.width, frame.height) + " at frame " + std::to_string(pictures_));
  }
}

bool Reader::decode(AVFrame* frame) {
  for (;;) {
    const int result = avcodec_receive_frame(decoder_.get(), frame);
    if (result >= 0) return true;
    if (result == AVERROR_EOF) return false;
    if (result != AVERROR(EAGAIN)) {
      damage(av_error(ErrorCode::bad_input, "decoder", "cannot decode", result).what());
      continue;
    }
    if (!feed_decoder()) {
      if (draining_ || input_.stopped()) return false;
      draining_ = true;
      avcodec_send_packet(decoder_.get(), nullptr);
    }
  }
}

bool Reader::feed_decoder() {
  if (!next_packet(*packet_)) return false;
  if (packet_->stream_index != stream_->index) {
    if (side_.has(packet_->stream_index)) {
      side_.add(std::exchange(packet_, make_packet()));
    } else {
      av_packet_unref(packet_.get());
    }
    return true;
  }
  // A recording may begin between two entry points; the part before the first one cannot be decoded.
  entered_ = entered_ || options_.allow_partial || (packet_->flags & AV_PKT_FLAG_KEY);
  if (!entered_) {
    ++skipped_;
    av_packet_unref(packet_.get());
    return true;
  }
  check_complete(*packet_);
  const int result = packet_->size > 0 ? avcodec_send_packet(decoder_.get(), packet_.get()) : 0;
  av_packet_unref(packet_.get());
  if (result < 0) damage(av_error(ErrorCode::bad_input, "decoder", "cannot decode", result).what());
  return true;
}

bool Reader::next_packet(AVPacket& packet) {
  const int result = av_read_frame(input_.get(), &packet);
  if (result >= 0) return true;
  if (!draining_ && !input_.stopped()) check_end_of_input(result);
  return false;
}

int Reader::picture_bytes() const {
  const AVCodecParameters& format = *stream_->codecpar;
  return av_image_get_buffer_size(static_cast<AVPixelFormat>(format.format), format.width, format.height, 1);
}

// An uncompressed picture that is cut off arrives as a short packet; a compressed one is marked by its
// demuxer.
void Reader::check_complete(const AVPacket& packet) {
  if (!input_.uncompressed()) {
    if (packet.flags & AV_PKT_FLAG_CORRUPT) damage("the input is cut off or damaged");
    return;
  }
  const int whole = picture_bytes();
  if (whole > 0 && packet.size < whole) {
    damage("the last frame is cut off: " + std::to_string(packet.size) + " of " + std::to_string(whole) +
           " bytes");
    packet_->size = 0;  // the picture is not used
  }
  packet_end_ = packet.pos + packet.size;
}

// The demuxer of YUV4MPEG2 reports no error where a picture is cut off, but there are bytes behind the last
// whole one.
void Reader::check_end_of_input(int result) {
  if (result != AVERROR_EOF && result != AVERROR_EXIT) {
    damage(av_error(ErrorCode::bad_input, "input", "cannot read", result).what());
  } else if (input_->pb && input_->pb->error < 0 && input_->pb->error != AVERROR_EOF) {
    damage(av_error(ErrorCode::bad_input, "input", "cannot read", input_->pb->error).what());
  } else if (input_.uncompressed() && !options_.input.raw && input_->pb && packet_end_ > 0 &&
             avio_tell(input_->pb) > packet_end_) {
    damage("the last frame is cut off");
  }
}

void Reader::damage(const std::string& what) {
  if (damages_++ == 0) first_damage_ = what;
  if (options_.allow_partial) return;
  throw Error(ErrorCode::bad_input, name_ + ": near frame " + std::to_string(pictures_) + ": " + what,
              "--allow-partial encodes what can be read");
}

std::string Reader::description() const {
  const char* const format = av_get_pix_fmt_name(decoder_->pix_fmt);
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.6g", av_q2d(av_guess_frame_rate(input_.get(), stream_, nullptr)));
  return std::string(input_->iformat->name) + ", " + avcodec_get_name(decoder_->codec_id) + ", " +
         (format ? format : "unknown samples") + ", " + size_text(source_width_, source_height_) + ", " +
         rate + " pictures a second";
}

std::vector<std::string> Reader::notes() const {
  std::vector<std::string> notes = notes_;
  const std::int64_t moved = timestamps_.moved() + filtered_.moved();
  if (moved > 0) {
    notes.push_back(name_ + ": " + std::to_string(moved) + " timestamps not in order were moved");
  }
  if (skipped_ > 0) {
    notes.push_back(name_ + ": " + std::to_string(skipped_) +
                    " pictures before the first entry point were skipped");
  }
  if (damages_ > 0) {
    notes.push_back(name_ + ": " + std::to_string(damages_) +
                    " damaged or cut-off places, first: " + first_damage_);
  }
  return notes;
}

}  // namespace cu264::io
