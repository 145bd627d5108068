// Encodes many cameras at once: one thread for each makes pictures and submits them, one thread takes the
// packets of all and writes each stream to a file of its own.
//
//   many_streams STREAMS PICTURES WIDTH HEIGHT FOLDER
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cu264/stream_group.h"

namespace {

// A grey ramp that moves.
std::vector<std::uint8_t> picture(int width, int height, int camera, int number) {
  std::vector<std::uint8_t> samples;
  for (int i = 0; i < width * height; ++i)
    samples.push_back(static_cast<std::uint8_t>(i % width + i / width * camera + 3 * number));
  return samples;
}

void run(int streams, int pictures, int width, int height, const std::string& folder) {
  cu264::StreamGroup group;
  cu264::Config config;
  config.width = width, config.height = height, config.preset = cu264::Preset::fast;
  std::vector<std::ofstream> files;
  std::vector<std::thread> cameras;
  for (int camera = 0; camera < streams; ++camera) {
    config.qp = 24 + camera % 8;
    const auto stream = group.open(config);  // 0, 1, 2 and so on
    files.emplace_back(folder + "/stream" + std::to_string(stream) + ".264", std::ios::binary);
    cameras.emplace_back([&group, stream, camera, pictures, width, height] {
      for (int n = 0; n < pictures; ++n) {
        const std::vector<std::uint8_t> samples = picture(width, height, camera, n);
        cu264::Frame frame;
        frame.format = cu264::PixelFormat::gray8, frame.width = width, frame.height = height;
        frame.plane[0] = samples.data(), frame.pitch[0] = width, frame.pts = n;
        group.submit(stream, frame, std::chrono::hours(1));  // waits while the stream's queue is full
      }
    });
  }
  for (int left = streams * pictures; left > 0; --left) {
    const auto next = group.receive_any(std::chrono::hours(1)).value();
    if (next.error) std::fprintf(stderr, "stream %u: %s\n", next.stream, next.error->what());
    files[next.stream].write(reinterpret_cast<const char*>(next.packet.data.data()),
                             static_cast<std::streamsize>(next.packet.data.size()));
  }
  for (std::thread& camera : cameras) camera.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return std::fputs("usage: many_streams STREAMS PICTURES WIDTH HEIGHT FOLDER\n", stderr), 2;
  try {
    run(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]), argv[5]);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "many_streams: %s\n", error.what()), 1;
  }
}
