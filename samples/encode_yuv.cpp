// Encodes raw planar 4:2:0 video to an H.264 file: encode_yuv INPUT.yuv WIDTHxHEIGHT OUTPUT.264 [QP]
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "cu264/encoder.h"

namespace {

void write(std::ofstream& output, const cu264::Packet& packet) {
  output.write(reinterpret_cast<const char*>(packet.data.data()),
               static_cast<std::streamsize>(packet.data.size()));
  if (!output) throw std::runtime_error("the output cannot be written");
}

void encode(std::ifstream& input, std::ofstream& output, const cu264::Config& config) {
  const std::size_t luma = static_cast<std::size_t>(config.width) * config.height;
  const int chroma_width = (config.width + 1) / 2;
  const std::size_t chroma = static_cast<std::size_t>(chroma_width) * ((config.height + 1) / 2);
  std::vector<char> picture(luma + 2 * chroma);

  cu264::Frame frame;
  frame.width = config.width, frame.height = config.height;
  frame.plane[0] = reinterpret_cast<const std::uint8_t*>(picture.data());
  frame.plane[1] = frame.plane[0] + luma;
  frame.plane[2] = frame.plane[1] + chroma;
  frame.pitch[0] = config.width, frame.pitch[1] = frame.pitch[2] = chroma_width;

  cu264::Encoder encoder(config);
  for (; input.read(picture.data(), static_cast<std::streamsize>(picture.size())); ++frame.pts) {
    while (!encoder.send(frame)) write(output, *encoder.receive());
  }
  encoder.flush();
  while (const auto packet = encoder.receive()) write(output, *packet);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: encode_yuv INPUT.yuv WIDTHxHEIGHT OUTPUT.264 [QP]\n");
    return 1;
  }
  try {
    cu264::Config config;
    config.set("size", argv[2]);
    if (argc > 4) config.set("qp", argv[4]);
    std::ifstream input(argv[1], std::ios::binary);
    if (!input) throw std::runtime_error("the input cannot be read");
    std::ofstream output(argv[3], std::ios::binary);
    encode(input, output, config);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "encode_yuv: %s\n", error.what());
    return 2;
  }
}
