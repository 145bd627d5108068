#include "io/muxer.h"

#include <cstring>
#include <new>

extern "C" {
#include <libavutil/mathematics.h>
}

#include "io/av_output.h"

namespace cu264::io {
namespace {

// The time that a transport stream's decoder has between arrival and display, as broadcasters use it.
constexpr int kTransportDelay = 7 * AV_TIME_BASE / 10;

}  // namespace

Muxer::Muxer(OutputFile& file, const MuxerOptions& options)
    : file_(file), time_base_(options.video.time_base), packet_(make_packet()) {
  if (options.container == Container::h264) return;
  forget_av_log();
  check(avformat_alloc_output_context2(&context_, nullptr, muxer_name(options.container), nullptr),
        "no muxer");
  try {
    io_ = make_output_io(file_);
    context_->pb = io_.get();
    context_->flags |= AVFMT_FLAG_CUSTOM_IO;
    add_video(options);
    for (const AVStream* stream : options.copied) add_copy(*stream);
    write_header(options);
  } catch (...) {
    avformat_free_context(context_);
    throw;
  }
}

Muxer::~Muxer() {
  avformat_free_context(context_);
}

void Muxer::add_video(const MuxerOptions& options) {
  const VideoInfo& info = options.video;
  video_ = avformat_new_stream(context_, nullptr);
  if (!video_) throw std::bad_alloc();
  video_->time_base = info.time_base;
  if (info.fixed_frame_rate) video_->avg_frame_rate = info.frame_rate;
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
  codec.extradata =
      static_cast<std::uint8_t*>(av_mallocz(options.headers.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  if (!codec.extradata) throw std::bad_alloc();
  std::memcpy(codec.extradata, options.headers.data(), options.headers.size());
  codec.extradata_size = static_cast<int>(options.headers.size());
}

void Muxer::add_copy(const AVStream& stream) {
  AVStream* copy = avformat_new_stream(context_, nullptr);
  if (!copy) throw std::bad_alloc();
  check(avcodec_parameters_copy(copy->codecpar, stream.codecpar), "cannot copy a stream");
  copy->codecpar->codec_tag = 0;  // the tag is the input container's; the output's muxer chooses its own
  copy->time_base = stream.time_base;
  copy->disposition = stream.disposition;
  av_dict_copy(&copy->metadata, stream.metadata, 0);
  copies_[stream.index] = copy;
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
    // The muxer opens what it has written once more, by this name.
    av_freep(&context_->url);
    context_->url = av_strdup(("file:" + file_.readable_path()).c_str());
    if (!context_->url) throw std::bad_alloc();
  }
  if (options.container == Container::ts) context_->max_delay = kTransportDelay;
  check(avformat_write_header(context_, av_options.address()), "cannot begin");
}

void Muxer::write(std::span<const std::uint8_t> data, std::int64_t pts, std::int64_t duration) {
  if (!context_) return file_.write(data.data(), data.size());
  // The packet refers to the caller's bytes; the muxer copies those it keeps.
  packet_->data = const_cast<std::uint8_t*>(data.data());
  packet_->size = packet_size(data.size());
  packet_->stream_index = video_->index;
  packet_->flags = AV_PKT_FLAG_KEY;
  packet_->pts = packet_->dts = pts;  // no reordering
  packet_->duration = duration;
  av_packet_rescale_ts(packet_.get(), time_base_, video_->time_base);
  interleave(*packet_);
}

void Muxer::copy(AvPacket packet) {
  const auto stream = copies_.find(packet->stream_index);
  if (stream == copies_.end()) return;
  const AVStream& to = *stream->second;
  packet->stream_index = to.index;
  packet->pos = -1;
  av_packet_rescale_ts(packet.get(), packet->time_base, to.time_base);
  if (packet->dts == AV_NOPTS_VALUE) packet->dts = packet->pts;
  // A coarser time base may give two packets the same time, which muxers refuse.
  const auto last = last_copied_dts_.find(to.index);
  if (last != last_copied_dts_.end() && packet->dts != AV_NOPTS_VALUE && packet->dts < last->second) {
    packet->dts = last->second;
    if (packet->pts != AV_NOPTS_VALUE && packet->pts < packet->dts) packet->pts = packet->dts;
  }
  if (packet->dts != AV_NOPTS_VALUE) last_copied_dts_[to.index] = packet->dts;
  interleave(*packet);
}

void Muxer::interleave(AVPacket& packet) {
  check(av_interleaved_write_frame(context_, &packet), "cannot write");
  if (file_.error() != 0) throw file_.write_error();
}

void Muxer::finish() {
  if (!context_) return;
  check(av_write_trailer(context_), "cannot finish");
  avio_flush(io_.get());
  check(io_->error, "cannot finish");
}

void Muxer::check(int result, const char* doing) const {
  if (file_.error() != 0) throw file_.write_error();
  if (result < 0) throw av_error(ErrorCode::bad_output, file_.name(), doing, result);
}

}  // namespace cu264::io
