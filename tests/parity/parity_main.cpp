// Runs the parity tests. To measure one stage alone while working on it,
//
//   parity_tests --time FILE.yuv WxH [BATCH [QP [PRESET [SLICES [PROFILE [CQM]]]]]]
//
// repeats the pictures of a raw 4:2:0 file in device memory up to BATCH (64) and prints what `reconstruct`
// takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "encoder/config.h"
#include "tests/parity/device_pictures.h"

namespace {

using cu264::Config;
using cu264::parity::DevicePictures;
using cu264::parity::SourceBatch;

SourceBatch read_pictures(const std::string& path, int width, int height, int most) {
  SourceBatch sources;
  sources.width = width, sources.height = height;
  const int chroma = ((width + 1) / 2) * ((height + 1) / 2);
  std::ifstream file(path, std::ios::binary);
  while (static_cast<int>(sources.pictures.size()) < most) {
    std::vector<std::uint8_t> picture(static_cast<std::size_t>(width) * height + 2 * chroma);
    file.read(reinterpret_cast<char*>(picture.data()), static_cast<std::streamsize>(picture.size()));
    if (!file) break;
    sources.pictures.push_back(std::move(picture));
  }
  if (sources.pictures.empty()) throw std::runtime_error(path + ": no picture of that size in it");
  return sources;
}

int time_reconstruct(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2)
    throw std::runtime_error("--time FILE.yuv WxH [BATCH [QP [PRESET [SLICES [PROFILE [CQM]]]]]]");
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : std::string(otherwise);
  };
  Config config;
  config.set("size", arguments[1]);
  const int batch = std::max(1, std::stoi(argument(2, "64")));
  config.set("qp", argument(3, "27"));
  config.set("preset", argument(4, "fast"));
  config.set("slices", argument(5, "1"));
  config.set("profile", argument(6, "baseline"));
  config.set("cqm", argument(7, "flat"));
  const bool large = cu264::encoder::uses_transform_8x8(config), cabac = cu264::encoder::uses_cabac(config);
  const SourceBatch sources = read_pictures(arguments[0], config.width, config.height, batch);
  const int copies =
      (batch + static_cast<int>(sources.pictures.size()) - 1) / static_cast<int>(sources.pictures.size());
  DevicePictures device(sources, config.slices, false, copies);
  const auto reconstruct = [&] {
    return device.reconstruct(config.qp, config.preset, large, cabac, config.scaling_lists);
  };
  for (int warm_up = 0; warm_up < 2; ++warm_up) reconstruct();
  std::vector<float> times;
  for (int run = 0; run < 11; ++run) times.push_back(reconstruct());
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("reconstruct %dx%d qp %d %s slices %d %s: %d pictures in %.3f ms (%.3f to %.3f) = %.0f fps\n",
              config.width, config.height, config.qp, argument(4, "fast").c_str(), config.slices,
              argument(6, "baseline").c_str(), device.pictures(), median, times.front(), times.back(),
              1000.0 * device.pictures() / median);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--time") {
    try {
      return time_reconstruct({argv + 2, argv + argc});
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
