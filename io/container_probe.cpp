#include "io/container_probe.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>

extern "C" {
#include <libavutil/display.h>
}

#include "io/av_versions.h"

namespace cu264::io {
namespace {

// libavformat does not say what its MPEG-TS muxer accepts: it takes anything as private data, which nothing
// reads.
bool transport_stream_holds(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
    case AV_CODEC_ID_AAC:
    case AV_CODEC_ID_AAC_LATM:
    case AV_CODEC_ID_MP2:
    case AV_CODEC_ID_MP3:
    case AV_CODEC_ID_AC3:
    case AV_CODEC_ID_EAC3:
    case AV_CODEC_ID_DTS:
    case AV_CODEC_ID_TRUEHD:
    case AV_CODEC_ID_OPUS:
    case AV_CODEC_ID_DVB_SUBTITLE:
    case AV_CODEC_ID_DVB_TELETEXT:
    case AV_CODEC_ID_SMPTE_KLV:
    case AV_CODEC_ID_TIMED_ID3:
      return true;
    default:
      return false;
  }
}

// The mov muxer writes any audio of WAV files under the number that it has there, but its reader understands
// only these.
bool mov_reads(AVCodecID codec) {
  const AVOutputFormat* const format = av_guess_format(muxer_name(Container::mov), nullptr, nullptr);
  unsigned tag = 0;
  const bool named = format && av_codec_get_tag2(format->codec_tag, codec, &tag) != 0;
  const bool by_number = (tag & 0xffff) == MKTAG('m', 's', 0, 0);
  return (named && !by_number) || codec == AV_CODEC_ID_VORBIS || codec == AV_CODEC_ID_SPEEX;
}

// A muxer that writes into memory.
class TrialMuxer {
 public:
  explicit TrialMuxer(Container container) {
    if (avformat_alloc_output_context2(&context_, nullptr, muxer_name(container), nullptr) < 0)
      throw std::bad_alloc();
    AVStream* const video = add_stream();
    // Every container takes this codec, and needs no parameter sets of it.
    video->codecpar->codec_type = AVMEDIA_TYPE_VIDEO, video->codecpar->codec_id = AV_CODEC_ID_MPEG2VIDEO;
    video->codecpar->width = video->codecpar->height = 16;
    video->time_base = {1, 1000};
  }
  ~TrialMuxer() {
    if (context_->pb) {
      std::uint8_t* bytes = nullptr;
      avio_close_dyn_buf(context_->pb, &bytes);
      av_free(bytes);
    }
    avformat_free_context(context_);
  }
  TrialMuxer(const TrialMuxer&) = delete;
  TrialMuxer& operator=(const TrialMuxer&) = delete;

  AVFormatContext& context() { return *context_; }
  AVStream& video() { return *context_->streams[0]; }
  AVStream* add_stream() {
    AVStream* const stream = avformat_new_stream(context_, nullptr);
    if (!stream) throw std::bad_alloc();
    return stream;
  }

  // Returns false if the muxer refuses.
  bool begin() {
    if (avio_open_dyn_buf(&context_->pb) < 0) throw std::bad_alloc();
    return avformat_write_header(context_, nullptr) >= 0;
  }

  // Returns what the muxer has written.
  std::span<const std::uint8_t> header() {
    avio_flush(context_->pb);
    std::uint8_t* bytes = nullptr;
    const int size = avio_get_dyn_buf(context_->pb, &bytes);
    return {bytes, static_cast<std::size_t>(std::max(size, 0))};
  }

 private:
  AVFormatContext* context_ = nullptr;
};

bool begins(Container container, const AVStream& stream, int compliance) {
  TrialMuxer muxer(container);
  muxer.context().strict_std_compliance = compliance;
  AVStream* const copy = muxer.add_stream();
  if (avcodec_parameters_copy(copy->codecpar, stream.codecpar) < 0) throw std::bad_alloc();
  copy->codecpar->codec_tag = 0;
  copy->time_base = stream.time_base;
  copy->disposition = stream.disposition;
  if (av_dict_copy(&copy->metadata, stream.metadata, 0) < 0) throw std::bad_alloc();
  return muxer.begin();
}

}  // namespace

Holding holds(Container container, const AVStream& stream) {
  const AVCodecID codec = stream.codecpar->codec_id;
  if (container == Container::h264) return Holding::no;
  if (container == Container::ts && !transport_stream_holds(codec)) return Holding::no;
  const bool audio = stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
  if (container == Container::mov && audio && !mov_reads(codec)) return Holding::no;
  // The mov muxer gives codecs that it has no name for the names of other containers, which few players know.
  const AVOutputFormat* const format = av_guess_format(muxer_name(container), nullptr, nullptr);
  const bool named = !is_mp4_family(container) ||
                     (format && avformat_query_codec(format, codec, FF_COMPLIANCE_EXPERIMENTAL) == 1);
  if (named && begins(container, stream, FF_COMPLIANCE_NORMAL)) return Holding::yes;
  return begins(container, stream, FF_COMPLIANCE_EXPERIMENTAL) ? Holding::experimental : Holding::no;
}

bool holds_display_matrix(Container container) {
  if (container != Container::mkv) return is_mp4_family(container);
  // Matroska says it as ProjectionPoseRoll, which libavformat writes since some release after 5.1.
  static constexpr std::array<std::uint8_t, 2> kProjectionPoseRoll{0x76, 0x75};
  TrialMuxer muxer(container);
  std::array<std::int32_t, 9> matrix{};
  av_display_rotation_set(matrix.data(), 90);
  set_display_matrix(muxer.video(), matrix);
  if (!muxer.begin()) return false;
  const auto header = muxer.header();
  return std::search(header.begin(), header.end(), kProjectionPoseRoll.begin(), kProjectionPoseRoll.end()) !=
         header.end();
}

}  // namespace cu264::io
