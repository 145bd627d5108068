// Small videos in the containers that the reader and remux know, as starting points for the fuzz targets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cu264::fuzz {

struct ContainerSeed {
  std::string demuxer;  // libavformat's name
  std::vector<std::uint8_t> file;
};

// Each has two pictures; they are in mp4, fragmented mp4, mkv, ts and a bare stream.
std::vector<ContainerSeed> container_seeds();

// Each has two pictures with sound and, where the container can, subtitles, a chapter and tags beside them;
// they are in mkv, mov, mp4 and ts.
std::vector<ContainerSeed> carried_seeds();

// What the encoder makes of one picture.
struct CodedPicture {
  std::vector<std::uint8_t> headers;
  std::vector<std::uint8_t> access_unit;
};
CodedPicture coded_picture();

}  // namespace cu264::fuzz
