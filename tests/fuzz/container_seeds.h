// Small videos in the containers that the reader and remux know, for the fuzz targets to begin with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cu264::fuzz {

struct ContainerSeed {
  std::string demuxer;  // libavformat's name
  std::vector<std::uint8_t> file;
};

// Two pictures each, in mp4, fragmented mp4, mkv, ts and as a bare stream.
std::vector<ContainerSeed> container_seeds();

}  // namespace cu264::fuzz
