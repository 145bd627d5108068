#include "io/subtitle_converter.h"

#include <cstring>
#include <new>
#include <utility>

extern "C" {
#include <libavutil/mathematics.h>
}

#include "io/av_output.h"

namespace cu264::io {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;
constexpr AVRational kMilliseconds{1, 1000};

// A decoded subtitle, which owns its texts.
struct Subtitle {
  AVSubtitle value{};
  Subtitle() = default;
  ~Subtitle() { avsubtitle_free(&value); }
  Subtitle(const Subtitle&) = delete;
  Subtitle& operator=(const Subtitle&) = delete;
};

bool is_text(AVCodecID codec) {
  const AVCodecDescriptor* const descriptor = avcodec_descriptor_get(codec);
  return descriptor && (descriptor->props & AV_CODEC_PROP_TEXT_SUB) != 0;
}

}  // namespace

AVCodecID text_subtitles_of(Container container) {
  if (is_mp4_family(container)) return AV_CODEC_ID_MOV_TEXT;
  return container == Container::mkv ? AV_CODEC_ID_SUBRIP : AV_CODEC_ID_NONE;
}

bool SubtitleConverter::can_convert(const AVStream& from, AVCodecID to) {
  const AVCodecID codec = from.codecpar->codec_id;
  return to != AV_CODEC_ID_NONE && from.codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE && is_text(codec) &&
         avcodec_find_decoder(codec) && avcodec_find_encoder(to);
}

SubtitleConverter::SubtitleConverter(const AVStream& from, AVCodecID to, std::string file)
    : file_(std::move(file)), time_base_(from.time_base), buffer_(kMaxTextBytes) {
  const AVCodec* const decoder = avcodec_find_decoder(from.codecpar->codec_id);
  decoder_.reset(avcodec_alloc_context3(decoder));
  int result = decoder_ ? avcodec_parameters_to_context(decoder_.get(), from.codecpar) : AVERROR(ENOMEM);
  if (result >= 0) {
    decoder_->pkt_timebase = from.time_base;
    result = avcodec_open2(decoder_.get(), decoder, nullptr);
  }
  if (result < 0)
    throw av_error(ErrorCode::bad_input, file_, "cannot open the decoder of its subtitles", result);
  const AVCodec* const encoder = avcodec_find_encoder(to);
  encoder_.reset(avcodec_alloc_context3(encoder));
  if (!encoder_) throw std::bad_alloc();
  encoder_->time_base = kMilliseconds;
  // The decoder's header describes the styles that its texts refer to.
  const auto size = static_cast<std::size_t>(decoder_->subtitle_header_size);
  if (decoder_->subtitle_header && size > 0) {
    encoder_->subtitle_header = static_cast<std::uint8_t*>(av_mallocz(size + 1));
    if (!encoder_->subtitle_header) throw std::bad_alloc();
    std::memcpy(encoder_->subtitle_header, decoder_->subtitle_header, size);
    encoder_->subtitle_header_size = decoder_->subtitle_header_size;
  }
  result = avcodec_open2(encoder_.get(), encoder, nullptr);
  if (result < 0) throw av_error(ErrorCode::bad_input, file_, "cannot convert its subtitles", result);
}

void SubtitleConverter::describe(AVCodecParameters& parameters) const {
  if (avcodec_parameters_from_context(&parameters, encoder_.get()) < 0) throw std::bad_alloc();
}

bool SubtitleConverter::convert(AVPacket& packet) {
  Subtitle text;
  int complete = 0;
  int result = avcodec_decode_subtitle2(decoder_.get(), &text.value, &complete, &packet);
  if (result < 0) throw av_error(ErrorCode::bad_input, file_, "cannot decode its subtitles", result);
  if (complete == 0 || text.value.num_rects == 0 || packet.pts == AV_NOPTS_VALUE) return false;
  const std::int64_t delay = text.value.start_display_time;
  if (text.value.end_display_time > text.value.start_display_time &&
      text.value.end_display_time != UINT32_MAX) {
    packet.duration = av_rescale_q(text.value.end_display_time - delay, kMilliseconds, time_base_);
  }
  packet.pts += av_rescale_q(delay, kMilliseconds, time_base_);
  packet.dts = packet.pts;
  // Encoders take the times of the whole subtitle from its packet.
  text.value.end_display_time -= text.value.start_display_time;
  text.value.start_display_time = 0;
  result =
      avcodec_encode_subtitle(encoder_.get(), buffer_.data(), static_cast<int>(buffer_.size()), &text.value);
  if (result < 0) throw av_error(ErrorCode::bad_input, file_, "cannot convert its subtitles", result);
  AvPacket made = make_packet();
  if (av_new_packet(made.get(), result) < 0 || av_packet_copy_props(made.get(), &packet) < 0)
    throw std::bad_alloc();
  std::memcpy(made->data, buffer_.data(), static_cast<std::size_t>(result));
  made->stream_index = packet.stream_index;
  av_packet_unref(&packet);
  av_packet_move_ref(&packet, made.get());
  return true;
}

}  // namespace cu264::io
