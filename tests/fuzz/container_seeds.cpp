#include "tests/fuzz/container_seeds.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cu264/encoder.h"
#include "io/muxer.h"
#include "io/output_file.h"

namespace cu264::fuzz {
namespace {

constexpr int kSide = 32;

Config config_for(io::Container container) {
  Config config;
  config.width = config.height = kSide;
  config.set("backend", "cpu");
  config.set("qp", "30");
  config.headers = io::separate_headers(container)  ? HeaderPlacement::separate
                   : container == io::Container::ts ? HeaderPlacement::every_packet
                                                    : HeaderPlacement::first_packet;
  return config;
}

std::vector<std::uint8_t> film(io::Container container, bool fragmented) {
  const auto name = std::filesystem::temp_directory_path() / ("cu264-seed-" + std::to_string(getpid()));
  Encoder encoder(config_for(container));
  io::MuxerOptions options;
  options.container = container;
  options.fragmented = fragmented;
  options.video.width = options.video.height = kSide;
  options.headers = encoder.headers();
  io::OutputFile output(name.string());
  io::Muxer muxer(output, options);
  std::vector<std::uint8_t> samples(kSide * kSide * 3 / 2);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::uint8_t>(i * i / 7 + i / 5 * 40);
  Frame frame;
  frame.width = frame.height = kSide;
  frame.plane[0] = samples.data(), frame.plane[1] = samples.data() + kSide * kSide;
  frame.plane[2] = frame.plane[1] + kSide * kSide / 4;
  frame.pitch[0] = kSide, frame.pitch[1] = frame.pitch[2] = kSide / 2;
  const auto receive = [&] {
    while (const auto packet = encoder.receive()) muxer.write(packet->data, packet->pts, 1);
  };
  for (frame.pts = 0; frame.pts < 2; ++frame.pts) {
    while (!encoder.send(frame)) receive();
  }
  encoder.flush();
  receive();
  muxer.finish();
  output.commit();
  std::ifstream file(name, std::ios::binary);
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(name);
  return bytes;
}

}  // namespace

std::vector<ContainerSeed> container_seeds() {
  return {{"mov", film(io::Container::mp4, false)},
          {"mov", film(io::Container::mp4, true)},
          {"matroska", film(io::Container::mkv, false)},
          {"mpegts", film(io::Container::ts, false)},
          {"h264", film(io::Container::h264, false)}};
}

}  // namespace cu264::fuzz
