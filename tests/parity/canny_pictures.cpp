#include "tests/parity/canny_pictures.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

namespace cu264::parity {

GrayPicture flat(int width, int height, int value) {
  return {
      width, height,
      std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height, static_cast<std::uint8_t>(value))};
}

GrayPicture noise(int width, int height, unsigned seed) {
  GrayPicture picture = flat(width, height, 0);
  std::mt19937 random(seed);
  for (std::uint8_t& sample : picture.samples) sample = static_cast<std::uint8_t>(random());
  return picture;
}

GrayPicture discs(int width, int height, unsigned seed) {
  GrayPicture picture = flat(width, height, 0);
  std::mt19937 random(seed);
  std::vector<double> level(picture.samples.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) level[static_cast<std::size_t>(y) * width + x] = 60.0 + 60.0 * x / width;
  }
  for (int disc = 0; disc < 4 + width * height / 2000; ++disc) {
    const int cx = static_cast<int>(random() % width), cy = static_cast<int>(random() % height);
    const int radius = 2 + static_cast<int>(random() % 40);
    const double step = static_cast<double>(random() % 121) - 60.0;
    for (int y = std::max(0, cy - radius); y < std::min(height, cy + radius); ++y) {
      for (int x = std::max(0, cx - radius); x < std::min(width, cx + radius); ++x) {
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius) {
          level[static_cast<std::size_t>(y) * width + x] += step;
        }
      }
    }
  }
  for (std::size_t i = 0; i < level.size(); ++i) {
    picture.samples[i] =
        static_cast<std::uint8_t>(std::clamp(level[i] + static_cast<int>(random() % 5), 0.0, 255.0));
  }
  return picture;
}

GrayPicture serpentine(int height) {
  GrayPicture levels = flat(32, height, 0);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < 32; ++x) {
      const bool turn = y % 4 == 1 ? x == 31 : y % 4 == 3 && x == 0;
      if (y % 2 == 0 || turn) levels.samples[static_cast<std::size_t>(y) * 32 + x] = 5;
    }
  }
  levels.samples[0] = 30;
  return levels;
}

GrayPicture random_levels(int width, int height, int percent, int most, unsigned seed) {
  GrayPicture levels = flat(width, height, 0);
  std::mt19937 random(seed);
  for (std::uint8_t& level : levels.samples) {
    if (static_cast<int>(random() % 100) < percent) level = static_cast<std::uint8_t>(1 + random() % most);
  }
  return levels;
}

std::vector<std::string> pgm_paths() {
  std::vector<std::string> paths;
  const char* const folder = std::getenv("CU264_TEST_DATA");
  if (folder == nullptr) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".pgm") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

GrayPicture read_pgm(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  int width = 0, height = 0, most = 0;
  file >> magic >> width >> height >> most;
  file.get();
  if (!file || magic != "P5" || most != 255) throw std::runtime_error(path + ": not an 8-bit PGM");
  GrayPicture picture = flat(width, height, 0);
  file.read(reinterpret_cast<char*>(picture.samples.data()),
            static_cast<std::streamsize>(picture.samples.size()));
  return picture;
}

}  // namespace cu264::parity
