#include "io/reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/av_versions.h"
#include "io/captions.h"
#include "io/time_range.h"
#include "io/transparency.h"

namespace cu264::io {
namespace {

// How many pictures filters may make of one, or between two: more than four hours of them at 60 a second.
constexpr std::int64_t kMaxRepeats = 1000000;

}  // namespace

Reader::Reader(const ReaderOptions& options)
    : options_(options),
      name_(options.input.path == "-" ? "standard input" : options.input.path),
      input_(options.input),
      damage_(name_, options.allow_partial),
      chosen_(choose_streams(input_.get(), options.streams, name_)),
      stream_(chosen_.video),
      side_(chosen_.others),
      frames_(input_, chosen_, side_, damage_, name_),
      converter_(name_),
      notes_(chosen_.notes) {
  for (unsigned i = 0; i < input_->nb_streams; ++i) {
    const bool wanted = static_cast<int>(i) == stream_->index || side_.has(static_cast<int>(i));
    input_->streams[i]->discard = wanted ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  }
  fill_frame_rate();
  info_.time_base = stream_->time_base;
  if (options_.frames > 0 && options_.span.seek <= 0) frames_.packets().expect_at_most(options_.frames);
  frames_.start(options_.span, clock_rate_, options_.input.frame_rate.num == 0);
  has_ahead_ = next_picture(ahead_);
  info_.times_vary = filters_ ? filters_->times_vary(!info_.fixed_frame_rate) : !info_.fixed_frame_rate;
  if (!has_ahead_ && !input_.stopped()) {
    if (!damage_.first().empty())
      throw Error(ErrorCode::bad_input, name_ + ": no picture can be decoded: " + damage_.first());
    throw Error(ErrorCode::bad_input,
                name_ + (options_.span.seek > 0 ? ": ends before the --seek point" : ": holds no picture"));
  }
}

void Reader::keep(const Carried& carried) {
  std::vector<const AVStream*> kept;
  kept.reserve(carried.streams.size());
  for (const CarriedStream& stream : carried.streams) kept.push_back(stream.stream);
  for (const AVStream* stream : chosen_.others) {
    const bool wanted = std::find(kept.begin(), kept.end(), stream) != kept.end();
    input_->streams[stream->index]->discard = wanted ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  }
  side_.keep(kept);
}

std::string Reader::size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

bool Reader::read(VideoPicture& picture, std::vector<AvPacket>& side) {
  const bool limit_reached = frames_.end_reached() || (options_.frames > 0 && pictures_ == options_.frames);
  if (!has_ahead_ || input_.stopped()) {
    if (limit_reached) {
      frames_.read_side_tail(video_end_, info_.time_base, pictures_);
      side_.take_before(video_end_, info_.time_base, side);
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

bool Reader::next_picture(VideoPicture& picture) {
  AvFrame frame = make_frame();
  if (!next_frame(*frame)) return false;
  if (info_.width == 0) {
    fill_info(*frame);
    converter_.keep_to(*frame);
  }
  picture.pts = frame->pts;
  picture.duration = filters_ ? 0 : frames_.duration(*frame);  // filters do not keep it correct
  if (picture.duration <= 0)
    picture.duration = Timestamps(info_.time_base, info_.frame_rate, false).frame_duration();
  picture.captions = captions_of(*frame);
  captions_ += !picture.captions.empty();
  picture.frame = turner_.turn(converter_.convert(std::move(frame)));
  return true;
}

bool Reader::next_frame(AVFrame& frame) {
  if (options_.filters.empty()) return next_source(frame);
  while (!filters_ || !filters_->pull(frame)) {
    if (before_filters_) {  // the graph before is empty
      open_filters(*before_filters_);
      push(*std::exchange(before_filters_, nullptr));
      continue;
    }
    if (sources_ended_) return false;
    AvFrame source = make_frame();
    if (next_source(*source)) {
      filter(std::move(source));
    } else {
      sources_ended_ = true;
      if (!filters_) return false;
      filters_->finish(source_end_);
    }
    repeats_ = 0;
  }
  check_gap(static_cast<double>(++repeats_));
  check_filtered(frame);
  frame.pts = filtered_.next(frame.pts);
  return true;
}

// A file of a few bytes can tell times that are centuries apart.
void Reader::check_gap(double pictures) const {
  if (pictures <= static_cast<double>(kMaxRepeats)) return;
  throw Error(ErrorCode::bad_input,
              name_ + ": --vf makes more than " + std::to_string(kMaxRepeats) +
                  " pictures of what lies between two pictures, after frame " + std::to_string(pictures_),
              "--duration ends before such a gap, --seek begins after it");
}

void Reader::filter(AvFrame source) {
  // A graph is made for frames like its first, and reads or writes beyond the planes of others.
  const PictureShape shape = Converter::shape_of(*source);
  const bool fits = filters_ && shape.width == into_filters_.width && shape.height == into_filters_.height &&
                    shape.format == into_filters_.format;
  if (!fits) {
    if (filters_) filters_->finish(source->pts);
    before_filters_ = std::move(source);
    return;
  }
  push(*source);
}

void Reader::push(AVFrame& source) {
  std::int64_t duration = possible_duration(frames_.duration(source), stream_->time_base);
  if (duration <= 0) duration = frames_.timestamps().frame_duration();
  if (filters_->fills_gaps()) {
    const std::int64_t from = pushed_ ? std::min(source_end_, source.pts) : source.pts;
    check_gap(static_cast<double>(source.pts + duration - from) * av_q2d(stream_->time_base) *
              av_q2d(filters_->frame_rate()));
  }
  pushed_ = true;
  source_end_ = source.pts + duration;
  // The shape of samples is that of the first, too: `scale` may make another size of it in the middle of a
  // graph.
  source.sample_aspect_ratio = into_filters_ratio_;
  filters_->push(source);
}

// Filters may give each frame another size: `scale` evaluates its expressions for each frame.
void Reader::check_filtered(const AVFrame& frame) {
  const PictureShape shape = Converter::shape_of(frame);
  if (out_of_filters_.format == AV_PIX_FMT_NONE) out_of_filters_ = shape;
  const PictureShape& first = out_of_filters_;
  if (shape.width == first.width && shape.height == first.height) return;
  throw Error(ErrorCode::bad_input,
              name_ + ": after --vf, pictures change from " + text_of(first) + " to " + text_of(shape) +
                  " at frame " + std::to_string(pictures_),
              "end the graph with a scale to one size and a format");
}

// The filters see the pictures as they are to be shown, so filters turn them first.
void Reader::open_filters(AVFrame& first) {
  const bool again = filters_ != nullptr;
  if (!again) {
    look_for_matrix(first);
    turning_filters_ = std::exchange(turner_, {}).filters();
    into_filters_rate_ = info_.frame_rate;
  }
  filters_ = std::make_unique<FilterGraph>(options_.filters, first, stream_->time_base, into_filters_rate_,
                                           turning_filters_);
  into_filters_ = Converter::shape_of(first), into_filters_ratio_ = first.sample_aspect_ratio;
  if (again && av_cmp_q(filters_->time_base(), info_.time_base) == 0) return;
  if (again) {
    throw Error(ErrorCode::bad_input, name_ + ": --vf changes the unit of times with the frame size");
  }
  info_.time_base = filters_->time_base();
  const AVRational rate = filters_->frame_rate();
  if (rate.num > 0) info_.frame_rate = rate;
  filtered_ = Timestamps(info_.time_base, info_.frame_rate, false);
}

bool Reader::next_source(AVFrame& frame) {
  if (!frames_.next(frame, pictures_)) return false;
  check_frame(frame);
  frame.sample_aspect_ratio = av_guess_sample_aspect_ratio(input_.get(), stream_, &frame);
  keep_defined_tags(frame);
  options_.tags.apply(frame);
  return true;
}

// A stream tells the shape of its samples by two numbers of 16 bits.
void Reader::check_ratio(AVRational ratio) const {
  constexpr int kMaxTerm = 65535;
  if (ratio.num <= 0 || ratio.den <= 0) return;
  AVRational reduced{0, 1};
  if (av_reduce(&reduced.num, &reduced.den, ratio.num, ratio.den, kMaxTerm) != 0) return;
  throw Error(ErrorCode::bad_input,
              name_ + ": tells samples of the shape " + std::to_string(ratio.num) + ":" +
                  std::to_string(ratio.den) + ", which no H.264 stream can",
              "--sar 1:1 or another says what they are");
}

void Reader::check_frame(const AVFrame& frame) {
  if (frame.decode_error_flags != 0 || (frame.flags & AV_FRAME_FLAG_CORRUPT))
    damage_.report("parts of it are damaged", pictures_);
  if (source_width_ == 0) {
    source_width_ = frame.width, source_height_ = frame.height;
    side_data_ = picture_side_data(*stream_, frame);
  } else if (options_.filters.empty() && (frame.width != source_width_ || frame.height != source_height_)) {
    throw Error(ErrorCode::bad_input,
                name_ + ": the frame size changes from " + size_text(source_width_, source_height_) + " to " +
                    size_text(frame.width, frame.height) + " at frame " + std::to_string(pictures_));
  }
  const auto format = static_cast<AVPixelFormat>(frame.format);
  transparent_ = transparent_ || (has_alpha_channel(format) && is_transparent_somewhere(frame));
  captioned_ += !captions_of(frame).empty();
  for (std::string& name : untaken_side_data(frame)) untaken_.insert(std::move(name));
}

}  // namespace cu264::io
