// Measures what the encoder's watermarks cost: bench_watermark [DENSITY ...]
//
// It takes up to 10 pictures of each clip of the folder that CU264_TEST_DATA names, at QP 24, with each
// scheme, density and preset. It prints a Markdown table: how far PSNR-Y against the source falls, how much
// larger the stream is than the unmarked one, and whether the payload was recovered.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cu264/protect.h"
#include "support/decode.h"
#include "support/encode.h"

namespace {

using namespace cu264;
using namespace cu264::test;
using Bytes = std::vector<std::uint8_t>;

struct Coded {
  double bytes = 0;
  double psnr = 0;
  Bytes stream;
};

Coded code(const Config& config, const std::vector<Picture>& pictures) {
  const EncodedStream encoded = encode(config, pictures);
  Coded coded;
  coded.stream = encoded.bytes();
  coded.bytes = static_cast<double>(coded.stream.size());
  for (std::size_t i = 0; i < pictures.size(); ++i)
    coded.psnr += luma_psnr(pictures[i], reconstruction_of(encoded, i));
  coded.psnr /= static_cast<double>(pictures.size());
  return coded;
}

void measure(const std::string& name, const std::vector<Picture>& pictures, const char* preset,
             const std::vector<std::uint32_t>& densities) {
  const ProtectionKey key(std::array<std::uint8_t, 32>{2, 6, 4});
  const Bytes payload{0x26, 0x40};
  Config config;
  config.set("profile", "baseline");
  config.set("backend", "cpu");
  config.set("qp", "24");
  config.set("preset", preset);
  const Coded plain = code(config, pictures);
  for (const WatermarkScheme scheme : {WatermarkScheme::t1_sign, WatermarkScheme::t1_parity}) {
    for (const std::uint32_t density : densities) {
      config.watermark = EncoderWatermark{key, payload, scheme, density};
      std::string read = "0";
      double carriers = 0;
      Coded marked = plain;
      try {
        marked = code(config, pictures);
        const auto extractor = make_watermark_extractor(key);
        if (run_tool(*extractor, marked.stream).payload != payload) read = "LOST";
        carriers = static_cast<double>(extractor->counts().carriers) / static_cast<double>(pictures.size());
      } catch (const Error& error) {
        read = "no room";
      }
      std::printf("| %s | %s | %s | %u | %.0f | %.3f | %+.3f | %s |\n", name.c_str(), preset,
                  scheme == WatermarkScheme::t1_sign ? "t1-sign" : "t1-parity", density, carriers,
                  plain.psnr - marked.psnr, 100 * (marked.bytes / plain.bytes - 1), read.c_str());
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::uint32_t> densities;
  for (int i = 1; i < argc; ++i)
    densities.push_back(static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10)));
  if (densities.empty()) densities = {4096, 65536};
  const char* const data = std::getenv("CU264_TEST_DATA");
  if (data == nullptr)
    return std::fprintf(stderr, "bench_watermark: CU264_TEST_DATA names no folder of clips\n"), 1;
  std::printf(
      "| clip | preset | scheme | density | carriers a picture | PSNR-Y falls, dB | size %% | errors |\n"
      "|---|---|---|---|---|---|---|---|\n");
  std::vector<std::filesystem::path> clips;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(data) / "video")) {
    clips.push_back(entry.path());
  }
  std::sort(clips.begin(), clips.end());
  for (const auto& clip : clips) {
    const std::vector<Picture> pictures = load_clip(clip.string(), 10);
    for (const char* preset : {"fast", "balanced", "best"})
      measure(clip.stem().string(), pictures, preset, densities);
  }
}
