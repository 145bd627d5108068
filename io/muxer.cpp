#include "io/muxer.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "io/av_output.h"
#include "io/av_versions.h"
#include "io/tags.h"

namespace cu264::io {
namespace {

// The unit of the video's times. mp4 and mov count how long a picture is shown in 31 bits, which a fine clock
// fills in minutes.
AVRational time_unit(const MuxerOptions& options) {
  constexpr int kFinest = 60000, kCoarser = 18000;  // ticks a second
  const VideoInfo& info = options.video;
  const bool fine = av_cmp_q(info.time_base, AVRational{1, kFinest}) < 0;
  if (!is_mp4_family(options.container) || !fine) return info.time_base;
  if (!info.fixed_frame_rate || info.frame_rate.num > kFinest) return {1, kCoarser};
  return {1, info.frame_rate.num * std::max(1, kCoarser / info.frame_rate.num)};
}

// The time that a transport stream's decoder has between arrival and display, as broadcasters use it.
constexpr int kTransportDelay = 7 * AV_TIME_BASE / 10;

}  // namespace

Muxer::Muxer(OutputFile& file, const MuxerOptions& options)
    : file_(file), time_base_(options.video.time_base), packet_(make_packet()) {
  if (options.container == Container::h264) return;
  writer_ = std::make_unique<ContainerWriter>(file_, options.container);
  video_ = &writer_->add_video();
  describe_video(options);
  writer_->carry(options.carried);
  set_time_code(options.carried.source.time_code);
  write_header(options);
}

void Muxer::describe_video(const MuxerOptions& options) {
  const VideoInfo& info = options.video;
  const CarrySource& source = options.carried.source;
  video_->time_base = time_unit(options);
  // A track of time codes counts pictures, whether they come at a fixed rate or not.
  const bool counts = is_mp4_family(options.container) && !source.time_code.empty();
  if (info.fixed_frame_rate || counts) video_->avg_frame_rate = info.frame_rate;
  video_->sample_aspect_ratio = info.sample_aspect_ratio;
  AVCodecParameters& codec = *video_->codecpar;
  codec.codec_type = AVMEDIA_TYPE_VIDEO, codec.codec_id = AV_CODEC_ID_H264;
  codec.width = info.width, codec.height = info.height;
  codec.format = AV_PIX_FMT_YUV420P;
  codec.sample_aspect_ratio = info.sample_aspect_ratio;
  codec.color_primaries = static_cast<AVColorPrimaries>(info.primaries);
  codec.color_trc = static_cast<AVColorTransferCharacteristic>(info.transfer);
  codec.color_space = static_cast<AVColorSpace>(info.matrix);
  codec.chroma_location = static_cast<AVChromaLocation>(info.chroma_location);
  codec.color_range = info.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  codec.chroma_location = static_cast<AVChromaLocation>(info.chroma_location);
  codec.extradata =
      static_cast<std::uint8_t*>(av_mallocz(options.headers.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  if (!codec.extradata) throw std::bad_alloc();
  std::memcpy(codec.extradata, options.headers.data(), options.headers.size());
  codec.extradata_size = static_cast<int>(options.headers.size());
  if (source.video) {
    // A cover that is coded is a video.
    video_->disposition = source.video->disposition & ~AV_DISPOSITION_ATTACHED_PIC;
    copy_coded_stream_tags(*video_, *source.video);
    for (const auto& [type, bytes] : source.side_data) set_side_data(*video_, type, bytes);
  }
  if (source.matrix) set_display_matrix(*video_, *source.matrix);
}

// The input's time code may be of another picture and rate.
void Muxer::set_time_code(const std::string& code) {
  const auto set = [&](AVDictionary*& tags) {
    if (!av_dict_get(tags, "timecode", nullptr, 0)) return;
    if (av_dict_set(&tags, "timecode", code.empty() ? nullptr : code.c_str(), 0) < 0) throw std::bad_alloc();
  };
  AVFormatContext& context = writer_->context();
  set(context.metadata);
  for (unsigned i = 0; i < context.nb_streams; ++i) set(context.streams[i]->metadata);
}

void Muxer::write_header(const MuxerOptions& options) {
  AvOptions av_options;
  if (options.fragmented) {
    // There is one fragment a second. delay_moov is set because some audio formats are only described by
    // their first packet.
    av_options.set("movflags", "+empty_moov+delay_moov+default_base_moof");
    av_options.set("frag_duration", std::to_string(AV_TIME_BASE));
  }
  if (options.faststart && file_.regular()) {
    av_options.set("movflags", "+faststart");
    // The muxer opens its output once more, by this name.
    AVFormatContext& context = writer_->context();
    av_freep(&context.url);
    context.url = av_strdup(("file:" + file_.readable_path()).c_str());
    if (!context.url) throw std::bad_alloc();
  }
  if (options.container == Container::ts) writer_->context().max_delay = kTransportDelay;
  writer_->begin(av_options);
}

void Muxer::write(std::span<const std::uint8_t> data, std::int64_t pts, std::int64_t duration, bool key) {
  if (!writer_) return file_.write(data.data(), data.size());
  // The packet refers to the caller's bytes; the muxer copies those it keeps.
  packet_->data = const_cast<std::uint8_t*>(data.data());
  packet_->size = packet_size(data.size());
  packet_->stream_index = video_->index;
  packet_->flags = key ? AV_PKT_FLAG_KEY : 0;
  packet_->pts = packet_->dts = pts;  // no reordering
  packet_->duration = duration;
  av_packet_rescale_ts(packet_.get(), time_base_, video_->time_base);
  writer_->write(*packet_);
}

void Muxer::copy(AvPacket packet) {
  if (writer_) writer_->copy(*packet);
}

void Muxer::finish() {
  if (writer_) writer_->finish();
}

}  // namespace cu264::io
