// Pictures as PGM files of 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cu264::bench {

struct GrayPicture {
  std::string name;  // the file name without its folder and ending
  int width = 0, height = 0;
  std::vector<std::uint8_t> samples;
};

inline GrayPicture read_gray(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  GrayPicture picture;
  std::string magic;
  int most = 0;
  file >> magic >> picture.width >> picture.height >> most;
  file.get();
  if (!file || magic != "P5" || most != 255) throw std::runtime_error(path + ": not an 8-bit PGM");
  picture.samples.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height));
  if (!file.read(reinterpret_cast<char*>(picture.samples.data()),
                 static_cast<std::streamsize>(picture.samples.size()))) {
    throw std::runtime_error(path + ": cut short");
  }
  picture.name = path.substr(path.find_last_of('/') + 1);
  picture.name = picture.name.substr(0, picture.name.rfind(".pgm"));
  return picture;
}

}  // namespace cu264::bench
