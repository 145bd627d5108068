#include "io/output_container.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace cu264::io {
namespace {

struct ContainerFormat {
  const char* name;
  Container container;
  const char* muxer;
  const char* demuxer;
};

constexpr std::array<ContainerFormat, 6> kFormats{{{"h264", Container::h264, "h264", "h264"},
                                                   {"264", Container::h264, "h264", "h264"},
                                                   {"mp4", Container::mp4, "mp4", "mov"},
                                                   {"mov", Container::mov, "mov", "mov"},
                                                   {"mkv", Container::mkv, "matroska", "matroska"},
                                                   {"ts", Container::ts, "mpegts", "mpegts"}}};

const ContainerFormat* find_format(const std::string& name) {
  const auto format = std::find_if(kFormats.begin(), kFormats.end(),
                                   [&](const ContainerFormat& f) { return name == f.name; });
  return format == kFormats.end() ? nullptr : &*format;
}

const ContainerFormat& format_of(Container container) {
  return *std::find_if(kFormats.begin(), kFormats.end(),
                       [&](const ContainerFormat& f) { return f.container == container; });
}

// libavformat does not say what its MPEG-TS muxer accepts.
bool transport_stream_holds(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_AAC:
    case AV_CODEC_ID_MP2:
    case AV_CODEC_ID_MP3:
    case AV_CODEC_ID_AC3:
    case AV_CODEC_ID_EAC3:
    case AV_CODEC_ID_DTS:
    case AV_CODEC_ID_OPUS:
    case AV_CODEC_ID_DVB_SUBTITLE:
      return true;
    default:
      return false;
  }
}

bool holds(Container container, AVCodecID codec) {
  if (container == Container::h264) return false;
  if (container == Container::ts) return transport_stream_holds(codec);
  const AVOutputFormat* format = av_guess_format(muxer_name(container), nullptr, nullptr);
  return format && avformat_query_codec(format, codec, FF_COMPLIANCE_NORMAL) == 1;
}

}  // namespace

Container container_by_name(const std::string& name) {
  if (const ContainerFormat* format = find_format(name)) return format->container;
  throw Error(ErrorCode::invalid_argument, "unknown format '" + name + "'", "one of h264, mp4, mov, mkv, ts");
}

Container container_by_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const ContainerFormat* format = extension.empty() ? nullptr : find_format(extension.substr(1));
  if (format) return format->container;
  throw Error(ErrorCode::invalid_argument, path + ": the extension tells no format",
              "name it .264 .h264 .mp4 .mov .mkv or .ts, or give --format");
}

const char* muxer_name(Container container) {
  return format_of(container).muxer;
}
const char* demuxer_name(Container container) {
  return format_of(container).demuxer;
}
bool is_mp4_family(Container container) {
  return container == Container::mp4 || container == Container::mov;
}
bool repeats_headers(Container container) {
  return container == Container::ts;
}
bool separate_headers(Container container) {
  return is_mp4_family(container) || container == Container::mkv;
}

std::vector<const AVStream*> copyable(Container container, const std::vector<const AVStream*>& streams,
                                      std::vector<std::string>& notes) {
  std::vector<const AVStream*> held;
  for (const AVStream* stream : streams) {
    const AVCodecParameters& codec = *stream->codecpar;
    if (holds(container, codec.codec_id)) {
      held.push_back(stream);
      continue;
    }
    const char* kind = av_get_media_type_string(codec.codec_type);
    notes.push_back(std::string(kind ? kind : "other") + " stream " + std::to_string(stream->index) + " (" +
                    avcodec_get_name(codec.codec_id) + ") dropped: " + format_of(container).name +
                    " cannot hold it");
  }
  return held;
}

}  // namespace cu264::io
