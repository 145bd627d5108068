#include "io/carried.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/container_probe.h"
#include "io/stream_choice.h"
#include "io/subtitle_converter.h"
#include "io/tags.h"

namespace cu264::io {
namespace {

constexpr std::uint32_t kTimeCodeTag = MKTAG('t', 'm', 'c', 'd');

std::string describe(const AVStream& stream) {
  const AVCodecParameters& codec = *stream.codecpar;
  const char* const kind = av_get_media_type_string(codec.codec_type);
  std::string text = is_cover(stream) ? "cover picture" : kind ? std::string(kind) + " stream" : "stream";
  return text + " " + std::to_string(stream.index) + " (" + avcodec_get_name(codec.codec_id) + ")";
}

bool is_time_code_track(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_DATA && stream.codecpar->codec_tag == kTimeCodeTag;
}

// To libavformat a time code is a tag, which it turns back into a track where the container has one.
bool has_time_code(const CarrySource& source) {
  return av_dict_get(source.video->metadata, "timecode", nullptr, 0) != nullptr ||
         av_dict_get(source.input->metadata, "timecode", nullptr, 0) != nullptr;
}

bool holds_cover(Container container, const AVStream& stream) {
  if (stream.attached_pic.size <= 0) return false;
  const AVCodecID codec = stream.codecpar->codec_id;
  if (container == Container::mkv) return codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_PNG;
  return container == Container::mp4 &&
         (codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_BMP);
}

bool holds_attachment(Container container, const AVStream& stream) {
  return container == Container::mkv && holds(container, stream) == Holding::yes;
}

class Plan {
 public:
  Plan(Container container, CarrySource source, std::vector<std::string>& notes)
      : container_(container), notes_(notes) {
    carried_.source = std::move(source);
  }

  Carried make() {
    if (!carried_.source.input) return std::move(carried_);
    for (const AVStream* stream : carried_.source.others) add(*stream);
    note_time_code();
    take_side_data();
    note_chapters_and_tags();
    if (carried_.source.matrix && !holds_display_matrix(container_)) {
      note("players are asked to turn the pictures, which " + std::string(name_of(container_)) +
           " cannot say; --autorotate turns them");
    }
    return std::move(carried_);
  }

 private:
  void add(const AVStream& stream) {
    if (is_time_code_track(stream)) return;  // the tag says it
    if ((stream.disposition & AV_DISPOSITION_TIMED_THUMBNAILS) != 0) return drop(stream);
    if (is_cover(stream)) return keep_or_drop(stream, holds_cover(container_, stream));
    if (stream.codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT)
      return keep_or_drop(stream, holds_attachment(container_, stream));
    const Holding holding = holds(container_, stream);
    if (holding == Holding::no) return convert_or_drop(stream);
    carried_.streams.push_back({&stream});
    if (stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO) note(describe(stream) + " copied, not encoded");
    // Matroska does not tell how many samples TTA has. libavformat takes the file's length for it.
    if (container_ == Container::mkv && stream.codecpar->codec_id == AV_CODEC_ID_TTA) {
      note(describe(stream) + " kept in mkv, where players that use FFmpeg may lose its last second");
    }
    if (holding == Holding::experimental) {
      carried_.experimental = true;
      note(describe(stream) + " kept in " + name_of(container_) +
           ", which FFmpeg calls experimental: not every " + "player reads it");
    }
  }

  void keep_or_drop(const AVStream& stream, bool keep) {
    if (!keep) return drop(stream);
    carried_.streams.push_back({&stream});
  }

  void convert_or_drop(const AVStream& stream) {
    const AVCodecID to = text_subtitles_of(container_);
    if (!SubtitleConverter::can_convert(stream, to)) return drop(stream);
    carried_.streams.push_back({&stream, to});
    note(describe(stream) + " converted to " + avcodec_get_name(to));
  }

  void drop(const AVStream& stream) {
    note(describe(stream) + " dropped: " + name_of(container_) + " cannot hold it");
  }

  void note_time_code() {
    const bool held = container_ != Container::ts && container_ != Container::h264;
    if (!has_time_code(carried_.source)) return;
    if (!held) return note(std::string("time code dropped: ") + name_of(container_) + " cannot hold it");
    if (carried_.source.time_code.empty()) note("time code dropped: it does not fit the frame rate");
  }

  // The stream itself also says how bright the pictures are.
  void take_side_data() {
    const PictureSideData& data = carried_.source.side_data;
    const bool held = container_ == Container::mp4 || container_ == Container::mkv;
    const auto take = [&](AVPacketSideDataType type, const char* what) {
      if (!data.contains(type)) return;
      if (!held) return note(std::string(what) + " dropped: " + name_of(container_) + " cannot hold it");
      carried_.unofficial = true;
    };
    take(AV_PKT_DATA_STEREO3D, "stereoscopic layout");
    take(AV_PKT_DATA_SPHERICAL, "spherical projection");
    if (!side_data_of(*carried_.source.video, AV_PKT_DATA_DOVI_CONF).empty())
      note("Dolby Vision metadata dropped");
  }

  void note_chapters_and_tags() {
    const AVFormatContext& input = *carried_.source.input;
    const bool holds_chapters = is_mp4_family(container_) || container_ == Container::mkv;
    if (input.nb_chapters > 0 && !holds_chapters) {
      note(std::to_string(input.nb_chapters) + " chapters dropped: " + name_of(container_) +
           " cannot hold them");
    }
    const std::string lost = lost_file_tags(container_, input);
    if (!lost.empty()) note("tags dropped: " + lost + ": " + name_of(container_) + " cannot hold them");
  }

  void note(const std::string& text) { notes_.push_back(text); }

  Container container_;
  std::vector<std::string>& notes_;
  Carried carried_;
};

}  // namespace

Carried carry(Container container, CarrySource source, std::vector<std::string>& notes) {
  return Plan(container, std::move(source), notes).make();
}

}  // namespace cu264::io
