// What a Reader knows of its video: the rate and the number of its pictures, how they look, what comes with
// them, and what the user should be told.
#include "io/reader.h"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "io/display_matrix.h"
#include "io/time_code.h"
#include "io/time_range.h"

namespace cu264::io {
namespace {

// The headers of a bare stream may say anything, and all its times follow from its rate.
bool is_sensible(AVRational rate) {
  constexpr AVRational kSlowest{1, 3600}, kFastest{10000, 1};
  return av_cmp_q(rate, kSlowest) >= 0 && av_cmp_q(rate, kFastest) <= 0;
}

bool is_hdr(int transfer) {
  return transfer == AVCOL_TRC_SMPTE2084 || transfer == AVCOL_TRC_ARIB_STD_B67 ||
         transfer == AVCOL_TRC_UNSPECIFIED;
}

constexpr std::int64_t kMaxBytesAhead = 64 << 20;

bool differ_little(AVRational a, AVRational b, double by) {
  return std::abs(av_q2d(a) / av_q2d(b) - 1) < by;
}

}  // namespace

// Uncompressed video is not probed, and its rate is the unit of its times.
AVRational Reader::told_frame_rate() const {
  if (input_.uncompressed()) return av_inv_q(stream_->time_base);
  return av_guess_frame_rate(input_.get(), stream_, nullptr);
}

void Reader::fill_frame_rate() {
  info_.frame_rate = {25, 1};
  if (is_cover(*stream_)) return;  // libavformat counts a cover in the ticks of a clock
  const AVRational told = told_frame_rate();
  if (options_.input.frame_rate.num > 0) {
    info_.frame_rate = options_.input.frame_rate;  // of an input without times: others do not take it
  } else if ((frames_.bare() || input_.uncompressed()) && told.num > 0 && told.den > 0 &&
             !is_sensible(told)) {
    notes_.push_back(name_ + ": its headers tell a rate of " + std::to_string(told.num) + "/" +
                     std::to_string(told.den) + " frames a second; 25 is taken (--fps tells another)");
  } else if (told.num > 0 && told.den > 0) {
    info_.frame_rate = told;
  }
  clock_rate_ = info_.frame_rate;
  if (input_.uncompressed()) {
    stream_->time_base = av_inv_q(info_.frame_rate);
  } else if (options_.input.frame_rate.num == 0) {
    fill_mean_rate();
  }
}

// Bitrate and level are computed with the mean rate. Where the rate varies libavformat guesses another one
// that has every picture's time among its own, such as 1000.
void Reader::fill_mean_rate() {
  const AVRational told = info_.frame_rate, average = stream_->avg_frame_rate, base = stream_->r_frame_rate;
  const bool has_average = average.num > 0 && average.den > 0;
  if (!frames_.bare()) {
    if (has_average && base.num > 0) info_.fixed_frame_rate = differ_little(average, base, 1e-3);
    if (has_average && !info_.fixed_frame_rate) info_.frame_rate = average;
    // Matroska tells a rate, if at all, whether it is kept or not, and of a transport stream the beginning is
    // known.
    const char* const container = input_->iformat->name;
    const bool sure = av_match_name("matroska", container) == 0 &&
                      !(options_.whole_rate && info_.fixed_frame_rate && av_match_name("mpegts", container));
    if (has_average && sure) return;
  }
  RateMeter meter(stream_->time_base, told, frames_.bare());
  info_.fixed_frame_rate = measure_rate(meter);
  const auto mean = info_.fixed_frame_rate ? std::nullopt : meter.mean();
  if (mean && !differ_little(*mean, info_.frame_rate, 1e-2)) info_.frame_rate = *mean;
}

// Returns whether the pictures keep the rate that is told. Packets that are read ahead here wait for their
// turn. A file that is read anew is measured to its end.
bool Reader::measure_rate(RateMeter& meter) {
  const bool file = options_.input.path != "-" && input_->pb && (input_->pb->seekable & AVIO_SEEKABLE_NORMAL);
  if (!file || frames_.bare()) {
    std::int64_t bytes = 0;
    frames_.packets().look_ahead([&](const AVPacket& packet) {
      bytes += packet.size;
      if (packet.stream_index == stream_->index) meter.add(packet);
      return bytes < kMaxBytesAhead && meter.wants_more(!file);
    });
    if (const bool kept = meter.keeps_told_rate(false); kept || !file) return kept;
  }
  meter.forget();
  RateMeter::Part part;
  part.whole = options_.whole_rate;
  if (!frames_.bare()) {
    const std::int64_t start = input_->start_time == AV_NOPTS_VALUE ? 0 : input_->start_time;
    part.first = start + std::llround(options_.span.seek * AV_TIME_BASE);
    if (options_.span.duration > 0)
      part.end = part.first + std::llround(options_.span.duration * AV_TIME_BASE);
  }
  if (options_.frames > 0) part.pictures = options_.frames;
  AvInput again(options_.input);
  return meter.measure(again, stream_->index, part);
}

CarrySource Reader::carry_source() const {
  CarrySource source;
  source.input = input_.get();
  source.video = stream_;
  source.others = chosen_.others;
  source.begin = frames_.begin();
  if (options_.frames > 0) {
    const std::int64_t length = av_rescale_q(options_.frames, av_inv_q(info_.frame_rate), AV_TIME_BASE_Q);
    if (is_between(length, kLatestTime)) source.length = length;
  }
  if (options_.span.duration > 0) {
    const std::int64_t wanted = std::llround(options_.span.duration * AV_TIME_BASE);
    source.length = source.length > 0 ? std::min<std::int64_t>(source.length, wanted) : wanted;
  }
  source.matrix = matrix_;
  source.side_data = side_data_;
  source.time_code = time_code();
  source.file = name_;
  return source;
}

std::string Reader::time_code() const {
  for (const AVDictionary* tags : {stream_->metadata, input_->metadata}) {
    if (const AVDictionaryEntry* const code = av_dict_get(tags, "timecode", nullptr, 0))
      return moved_time_code(code->value, clock_rate_, options_.span.seek, info_.frame_rate);
  }
  return {};
}

void Reader::look_for_matrix(const AVFrame& frame) {
  matrix_ = display_matrix_of(*stream_, frame);
  if (!matrix_ || !options_.autorotate) return;
  if (!PictureTurner::can_turn(*matrix_)) {
    notes_.push_back(name_ + ": asks players to turn it by an angle that --autorotate cannot");
    return;
  }
  turner_ = PictureTurner(*matrix_);
  matrix_.reset();
  turned_ = true;
}

void Reader::fill_info(const AVFrame& frame) {
  info_.width = frame.width, info_.height = frame.height;
  if (frame.width > options_.max_side || frame.height > options_.max_side) {
    throw Error(ErrorCode::bad_input, name_ + ": pictures of " + size_text(frame.width, frame.height) +
                                          " are too large: at most " +
                                          size_text(options_.max_side, options_.max_side));
  }
  const AVRational ratio = frame.sample_aspect_ratio;  // next_source() put the container's there
  check_ratio(ratio);
  if (ratio.num > 0 && ratio.den > 0) info_.sample_aspect_ratio = ratio;
  fill_expected_frames();
  Converter::describe(frame, info_);
  if (filters_ && !is_hdr(info_.transfer)) {  // tone mapping has made other pictures of them
    side_data_.erase(AV_PKT_DATA_MASTERING_DISPLAY_METADATA);
    side_data_.erase(AV_PKT_DATA_CONTENT_LIGHT_LEVEL);
  }
  info_.messages = light_messages(side_data_);
  if (options_.tags.chroma_location) info_.chroma_location = *options_.tags.chroma_location + 1;
  if (!filters_) look_for_matrix(frame);
  if (turned_)
    info_.chroma_location = AVCHROMA_LOC_UNSPECIFIED;  // chroma lies elsewhere beside turned samples
  if (turner_.swaps_sides()) {
    std::swap(info_.width, info_.height);
    std::swap(info_.sample_aspect_ratio.num, info_.sample_aspect_ratio.den);
    if (info_.sample_aspect_ratio.den == 0) info_.sample_aspect_ratio = {0, 1};
  }
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
    const std::int64_t size = avio_size(input_->pb), picture = frames_.packets().picture_bytes();
    if (size > 0 && picture > 0)
      info_.expected_frames = size / (picture + (options_.input.raw ? 0 : kY4mFrameHeader));
  }
  if (info_.expected_frames <= 0 && input_->duration > 0 && input_->duration <= kLatestTime) {
    info_.expected_frames = av_rescale_q(input_->duration, AV_TIME_BASE_Q, av_inv_q(info_.frame_rate));
  }
  info_.expected_frames = std::max<std::int64_t>(info_.expected_frames, 0);
  if (options_.span.seek > 0) {
    info_.expected_frames -= static_cast<std::int64_t>(options_.span.seek * av_q2d(info_.frame_rate));
  }
  info_.expected_frames = std::max<std::int64_t>(info_.expected_frames, 0);
  if (options_.span.duration > 0 && info_.expected_frames > 0) {
    const double wanted = std::ceil(options_.span.duration * av_q2d(info_.frame_rate));
    info_.expected_frames = std::min(info_.expected_frames, static_cast<std::int64_t>(wanted));
  }
  if (options_.frames > 0 && (info_.expected_frames == 0 || options_.frames < info_.expected_frames)) {
    info_.expected_frames = options_.frames;
  }
}

std::string Reader::description() const {
  const char* const format = av_get_pix_fmt_name(static_cast<AVPixelFormat>(stream_->codecpar->format));
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.6g", av_q2d(told_frame_rate()));
  return std::string(input_->iformat->name) + ", " + avcodec_get_name(stream_->codecpar->codec_id) + ", " +
         (format ? format : "unknown samples") + ", " + size_text(source_width_, source_height_) + ", " +
         rate + " pictures a second";
}

std::vector<std::string> Reader::notes() const {
  std::vector<std::string> notes = notes_;
  if (!converter_.change().empty())
    notes.push_back(name_ + ": pictures change from " + converter_.change() +
                    "; all are converted to what the first says");
  // Decoders leave out the second picture by which VP8 and VP9 say it.
  const AVDictionaryEntry* const alpha = av_dict_get(stream_->metadata, "alpha_mode", nullptr, 0);
  if (transparent_ || (alpha && std::string(alpha->value) == "1")) notes.push_back(name_ + ": alpha dropped");
  if (filters_ && !filters_->changing().empty()) {
    notes.push_back("--vf: pictures change their size after " + filters_->changing() +
                    "; all are scaled to the size of the first");
  }
  for (const std::string& what : untaken_) notes.push_back(name_ + ": " + what + " dropped");
  // Filters may still hold some where reading ended early.
  if (sources_ended_ && captions_ < captioned_) {
    notes.push_back(name_ + ": closed captions of " + std::to_string(captioned_ - captions_) +
                    " pictures dropped, with the pictures that --vf drops");
  }
  const std::int64_t moved = frames_.timestamps().moved() + filtered_.moved();
  if (moved > 0) {
    notes.push_back(name_ + ": " + std::to_string(moved) + " timestamps not in order were moved");
  }
  if (frames_.packets().impossible_times() > 0) {
    notes.push_back(name_ + ": " + std::to_string(frames_.packets().impossible_times()) +
                    " packets tell times centuries away, which were not used");
  }
  if (frames_.packets().jumps_closed() > 0) {
    notes.push_back(name_ + ": its clock jumps " + std::to_string(frames_.packets().jumps_closed()) +
                    " times; the output's goes on (--copyts keeps it)");
  }
  if (frames_.packets().doubtful() > 0) {
    notes.push_back(
        name_ + ": " + std::to_string(frames_.packets().doubtful()) +
        " pictures may lack something: counters of the stream's packets jump before or after them");
  }
  if (frames_.skipped() > 0) {
    notes.push_back(name_ + ": " + std::to_string(frames_.skipped()) +
                    " pictures before the first entry point were skipped");
  }
  for (const std::string& loss : side_.losses()) notes.push_back(name_ + ": " + loss);
  if (const std::string damages = damage_.note(); !damages.empty()) notes.push_back(damages);
  return notes;
}

}  // namespace cu264::io
