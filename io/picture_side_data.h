// What a video says about its pictures besides their samples: how bright the display was on which they were
// made, which eye sees them and which way they face.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/av.h"

namespace cu264::io {

// The bytes of libav's structures.
using PictureSideData = std::map<AVPacketSideDataType, std::vector<std::uint8_t>>;

// Collects what holds for all pictures: what the container says, and otherwise the first picture.
PictureSideData picture_side_data(const AVStream& stream, const AVFrame& first);

// A message of H.264 annex D that accompanies every picture.
struct SeiMessage {
  int type = 0;
  std::vector<std::uint8_t> payload;
};

// Returns the messages that say how bright pictures are, for streams that play without their container.
std::vector<SeiMessage> light_messages(const PictureSideData& data);

// Returns libavutil's names of what a picture has and no output takes.
std::vector<std::string> untaken_side_data(const AVFrame& frame);

}  // namespace cu264::io
