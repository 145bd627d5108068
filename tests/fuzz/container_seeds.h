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

}  // namespace cu264::fuzz
