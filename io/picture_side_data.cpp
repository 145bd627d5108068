#include "io/picture_side_data.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

extern "C" {
#include <libavutil/mastering_display_metadata.h>
}

#include "io/av_versions.h"

namespace cu264::io {
namespace {

constexpr int kMasteringDisplay = 137, kContentLight = 144;  // payloadType

constexpr std::array<std::pair<AVFrameSideDataType, AVPacketSideDataType>, 4> kOfAllPictures{
    {{AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AV_PKT_DATA_MASTERING_DISPLAY_METADATA},
     {AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_CONTENT_LIGHT_LEVEL},
     {AV_FRAME_DATA_STEREO3D, AV_PKT_DATA_STEREO3D},
     {AV_FRAME_DATA_SPHERICAL, AV_PKT_DATA_SPHERICAL}}};

// What a viewer may miss. Captions and the display matrix are carried elsewhere, and the rest describes the
// old coding.
constexpr std::array<AVFrameSideDataType, 7> kUntaken{
    AV_FRAME_DATA_DYNAMIC_HDR_PLUS, AV_FRAME_DATA_DOVI_METADATA, AV_FRAME_DATA_DOVI_RPU_BUFFER,
    AV_FRAME_DATA_ICC_PROFILE,      AV_FRAME_DATA_AFD,           AV_FRAME_DATA_S12M_TIMECODE,
    AV_FRAME_DATA_FILM_GRAIN_PARAMS};

void append(std::vector<std::uint8_t>& payload, std::uint32_t value, int bytes) {
  while (bytes-- > 0) payload.push_back(static_cast<std::uint8_t>(value >> (8 * bytes)));
}

// In units of 1 / `scale`, as far as `bytes` hold it.
void append(std::vector<std::uint8_t>& payload, AVRational value, std::int64_t scale, int bytes) {
  const double units = value.den != 0 ? av_q2d(value) * static_cast<double>(scale) + 0.5 : 0;
  const double most = bytes == 2 ? 65535 : 4294967295.0;
  append(payload, static_cast<std::uint32_t>(std::clamp(units, 0.0, most)), bytes);
}

template <class Struct>
bool read(const PictureSideData& data, AVPacketSideDataType type, Struct& to) {
  const auto found = data.find(type);
  if (found == data.end() || found->second.size() < sizeof to) return false;
  std::memcpy(&to, found->second.data(), sizeof to);
  return true;
}

}  // namespace

PictureSideData picture_side_data(const AVStream& stream, const AVFrame& first) {
  PictureSideData data;
  for (const auto& [of_frame, of_stream] : kOfAllPictures) {
    const auto told = side_data_of(stream, of_stream);
    const AVFrameSideData* const own = av_frame_get_side_data(&first, of_frame);
    if (!told.empty()) {
      data[of_stream].assign(told.begin(), told.end());
    } else if (own) {
      data[of_stream].assign(own->data, own->data + own->size);
    }
  }
  return data;
}

std::vector<SeiMessage> light_messages(const PictureSideData& data) {
  std::vector<SeiMessage> messages;
  AVMasteringDisplayMetadata display;
  if (read(data, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, display) && display.has_primaries &&
      display.has_luminance) {
    std::vector<std::uint8_t> payload;
    for (const int component : {1, 2, 0}) {  // green, blue, red
      for (const AVRational& coordinate : display.display_primaries[component])
        append(payload, coordinate, 50000, 2);
    }
    for (const AVRational& coordinate : display.white_point) append(payload, coordinate, 50000, 2);
    append(payload, display.max_luminance, 10000, 4);
    append(payload, display.min_luminance, 10000, 4);
    messages.push_back({kMasteringDisplay, std::move(payload)});
  }
  AVContentLightMetadata light;
  if (read(data, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, light)) {
    std::vector<std::uint8_t> payload;
    append(payload, std::min(light.MaxCLL, 65535u), 2);
    append(payload, std::min(light.MaxFALL, 65535u), 2);
    messages.push_back({kContentLight, std::move(payload)});
  }
  return messages;
}

std::vector<std::string> untaken_side_data(const AVFrame& frame) {
  std::vector<std::string> names;
  for (int i = 0; i < frame.nb_side_data; ++i) {
    const AVFrameSideDataType type = frame.side_data[i]->type;
    if (std::find(kUntaken.begin(), kUntaken.end(), type) == kUntaken.end()) continue;
    if (const char* const name = av_frame_side_data_name(type)) names.emplace_back(name);
  }
  return names;
}

}  // namespace cu264::io
