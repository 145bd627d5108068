#include "io/container_writer.h"

#include <cstring>
#include <new>
#include <string>
#include <utility>

extern "C" {
#include <libavutil/mathematics.h>
}

#include "io/av_output.h"
#include "io/stream_choice.h"
#include "io/tags.h"

namespace cu264::io {

ContainerWriter::ContainerWriter(OutputFile& file, Container container) : file_(file), container_(container) {
  forget_av_log();
  check(avformat_alloc_output_context2(&context_, nullptr, muxer_name(container), nullptr), "no muxer");
  try {
    io_ = make_output_io(file_);
  } catch (...) {
    avformat_free_context(context_);
    throw;
  }
  context_->pb = io_.get();
  context_->flags |= AVFMT_FLAG_CUSTOM_IO;
}

ContainerWriter::~ContainerWriter() {
  avformat_free_context(context_);
}

AVStream& ContainerWriter::add_stream() {
  AVStream* const stream = avformat_new_stream(context_, nullptr);
  if (!stream) throw std::bad_alloc();
  return *stream;
}

AVStream& ContainerWriter::add_video() {
  return add_stream();
}

void ContainerWriter::carry(const Carried& carried) {
  const CarrySource& source = carried.source;
  if (!source.input) return;
  if (carried.unofficial) context_->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
  if (carried.experimental) context_->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
  for (const CarriedStream& stream : carried.streams) add(stream, source.file);
  copy_file_tags(*context_, *source.input);
  if (is_mp4_family(container_) || container_ == Container::mkv) {
    copy_chapters(*context_, *source.input, source.begin, source.length);
  }
}

void ContainerWriter::add(const CarriedStream& carried, const std::string& file) {
  const AVStream& stream = *carried.stream;
  if (is_cover(stream) && container_ == Container::mkv) return add_cover(stream);
  AVStream& copy = add_stream();
  std::unique_ptr<SubtitleConverter> converter;
  if (carried.convert_to != AV_CODEC_ID_NONE) {
    converter = std::make_unique<SubtitleConverter>(stream, carried.convert_to, file);
    converter->describe(*copy.codecpar);
  } else {
    check(avcodec_parameters_copy(copy.codecpar, stream.codecpar), "cannot copy a stream");
    copy_side_data(copy, stream);
  }
  copy.codecpar->codec_tag = 0;  // the tag is the input container's; the output's muxer chooses its own
  copy.time_base = stream.time_base;
  copy.disposition = stream.disposition;
  copy.avg_frame_rate = stream.avg_frame_rate;
  copy.sample_aspect_ratio = stream.sample_aspect_ratio;
  check(av_dict_copy(&copy.metadata, stream.metadata, 0), "cannot copy a stream");
  if (is_cover(stream)) {
    covers_[&copy] = &stream;
  } else {
    copies_[stream.index] = Copy{&copy, std::move(converter), stream.codecpar->video_delay};
  }
}

// Matroska keeps a cover picture as an attached file. Its muxer would make a video of a stream.
void ContainerWriter::add_cover(const AVStream& cover) {
  const bool png = cover.codecpar->codec_id == AV_CODEC_ID_PNG;
  AVStream& attachment = add_stream();
  AVCodecParameters& codec = *attachment.codecpar;
  codec.codec_type = AVMEDIA_TYPE_ATTACHMENT, codec.codec_id = cover.codecpar->codec_id;
  const auto size = static_cast<std::size_t>(cover.attached_pic.size);
  codec.extradata = static_cast<std::uint8_t*>(av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE));
  if (!codec.extradata) throw std::bad_alloc();
  std::memcpy(codec.extradata, cover.attached_pic.data, size);
  codec.extradata_size = cover.attached_pic.size;
  check(av_dict_copy(&attachment.metadata, cover.metadata, 0), "cannot copy a stream");
  const int keep = AV_DICT_DONT_OVERWRITE;
  check(av_dict_set(&attachment.metadata, "filename", png ? "cover.png" : "cover.jpg", keep),
        "cannot copy a stream");
  check(av_dict_set(&attachment.metadata, "mimetype", png ? "image/png" : "image/jpeg", keep),
        "cannot copy a stream");
}

// Edit lists, which say when a track begins, count in the movie's unit of time. libavformat's is a
// millisecond, which is coarser than pictures.
std::int64_t ContainerWriter::movie_timescale() const {
  constexpr std::int64_t kFine = 10000;
  std::int64_t scale = context_->streams[0]->time_base.den;
  while (scale < kFine) scale *= 2;
  return scale;
}

void ContainerWriter::begin(AvOptions& options) {
  if (is_mp4_family(container_)) options.set("movie_timescale", std::to_string(movie_timescale()));
  check(avformat_write_header(context_, options.address()), "cannot begin");
  write_covers();
}

void ContainerWriter::write_covers() {
  for (const auto& [to, cover] : covers_) {
    AvPacket packet = make_packet();
    check(av_packet_ref(packet.get(), &cover->attached_pic), "cannot copy a stream");
    packet->stream_index = to->index;
    packet->pts = packet->dts = 0;
    packet->flags |= AV_PKT_FLAG_KEY;
    write(*packet);
  }
}

void ContainerWriter::copy(AVPacket& packet) {
  const auto found = copies_.find(packet.stream_index);
  if (found == copies_.end()) return;
  Copy& copy = found->second;
  if (copy.converter && !copy.converter->convert(packet)) return;
  // In mp4 and mov a subtitle lasts until the next, so each must say when it ends.
  const bool subtitle = copy.to->codecpar->codec_type == AVMEDIA_TYPE_SUBTITLE;
  if (subtitle && is_mp4_family(container_) && packet.duration <= 0) {
    ++copy.dropped;
    return;
  }
  packet.stream_index = copy.to->index;
  packet.pos = -1;
  complete_times(copy, packet);
  av_packet_rescale_ts(&packet, packet.time_base, copy.to->time_base);
  keep_order(copy, packet);
  write(packet);
}

std::vector<std::string> ContainerWriter::notes() const {
  std::vector<std::string> notes;
  for (const auto& [index, copy] : copies_) {
    if (copy.dropped == 0) continue;
    notes.push_back("subtitle stream " + std::to_string(index) + ": " + std::to_string(copy.dropped) +
                    (copy.dropped == 1 ? " subtitle" : " subtitles") +
                    " dropped, which do not say how long they are shown, as " + name_of(container_) +
                    " needs it");
  }
  return notes;
}

// Matroska stores no decoding times, and libavformat does not know those of the first pictures.
void ContainerWriter::complete_times(Copy& copy, AVPacket& packet) {
  if (packet.dts == AV_NOPTS_VALUE && copy.delay > 0) {
    const bool first = copy.next_dts == AV_NOPTS_VALUE && packet.pts != AV_NOPTS_VALUE;
    packet.dts = first ? packet.pts - copy.delay * packet.duration : copy.next_dts;
  }
  if (packet.dts == AV_NOPTS_VALUE) packet.dts = packet.pts;
  if (packet.dts != AV_NOPTS_VALUE) copy.next_dts = packet.dts + packet.duration;
}

// A coarser time base may give two packets the same time, which most muxers refuse.
void ContainerWriter::keep_order(Copy& copy, AVPacket& packet) const {
  if (packet.dts == AV_NOPTS_VALUE) return;
  const int step = (context_->oformat->flags & AVFMT_TS_NONSTRICT) != 0 ? 0 : 1;
  if (copy.last_dts != AV_NOPTS_VALUE && packet.dts < copy.last_dts + step) {
    packet.dts = copy.last_dts + step;
    if (packet.pts != AV_NOPTS_VALUE && packet.pts < packet.dts) packet.pts = packet.dts;
  }
  copy.last_dts = packet.dts;
}

void ContainerWriter::write(AVPacket& packet) {
  check(av_interleaved_write_frame(context_, &packet), "cannot write");
  if (file_.error() != 0) throw file_.write_error();
}

void ContainerWriter::finish() {
  check(av_write_trailer(context_), "cannot finish");
  avio_flush(io_.get());
  check(io_->error, "cannot finish");
}

void ContainerWriter::check(int result, const char* doing) const {
  if (file_.error() != 0) throw file_.write_error();
  if (result < 0) throw av_error(ErrorCode::bad_output, file_.name(), doing, result);
}

}  // namespace cu264::io
