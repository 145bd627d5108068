// Prints the measure of each picture of a raw I420 file, and what the bits model predicts from it, as a line
// of JSON. bench/rate_model.py fits and checks the model with it.
//
//   picture_measures FILE.yuv WIDTHxHEIGHT AQ      AQ: 1 or 0, adaptive quantisation by variance
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "encoder/config.h"
#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/bits_model.h"
#include "encoder/stream_params.h"

namespace cu264::bench {
namespace {

constexpr const char* kNames[core::kMeasured] = {"luma_levels", "luma_two_groups", "luma_all_groups",
                                                 "splits",      "chroma_levels",   "chroma_blocks"};

void print_row(const char* name, const std::uint32_t (&bins)[core::kMeasureBins]) {
  std::printf(", \"%s\": [", name);
  for (int bin = 0; bin < core::kMeasureBins; ++bin) std::printf(bin > 0 ? ", %u" : "%u", bins[bin]);
  std::printf("]");
}

void print_measure(const core::PictureMeasure& measure) {
  std::printf(
      "{\"macroblocks\": %u, \"measured\": %u, \"activity\": %llu, \"weights\": %lld, \"aq_strength\": %d",
      measure.macroblocks, measure.measured, static_cast<unsigned long long>(measure.activity),
      static_cast<long long>(measure.weights), measure.aq_strength);
  for (int what = 0; what < core::kMeasured; ++what) print_row(kNames[what], measure.histogram[what]);
  const Preset presets[] = {Preset::fast, Preset::balanced, Preset::best};
  for (const Preset preset : presets) {
    const encoder::LogCurve logs = encoder::logs_of(encoder::size_curve(measure, preset));
    std::printf(", \"%s\": [", encoder::name_of(preset));
    for (int qp = 0; qp <= 51; ++qp) {
      const auto bits = encoder::bits_at(logs, qp * encoder::kQpOne);
      std::printf(qp > 0 ? ", %lld" : "%lld", static_cast<long long>(bits));
    }
    std::printf("]");
  }
  std::printf(", \"qp_q8_of_crf\": [");
  for (int crf = 0; crf <= 51; ++crf) {
    std::printf(crf > 0 ? ", %d" : "%d", encoder::crf_qp_q8(measure, crf * encoder::kQpOne, false));
  }
  std::printf("]}\n");
}

void run(const char* path, const char* size, bool aq) {
  Config config;
  if (std::sscanf(size, "%dx%d", &config.width, &config.height) != 2 || config.width <= 0 ||
      config.height <= 0)
    throw std::runtime_error(std::string("'") + size + "' is not a size: give WIDTHxHEIGHT");
  encoder::StreamParams params = encoder::stream_params(config);
  params.pacing.controls_rate = true;
  params.decisions.aq.reset();
  if (aq) params.decisions.aq = encoder::AqParams{encoder::AqMode::variance, encoder::kStrengthOne};
  const auto analyser = encoder::make_cpu_analyser(params);
  const int chroma_width = (config.width + 1) / 2, chroma_height = (config.height + 1) / 2;
  const std::size_t luma = static_cast<std::size_t>(config.width) * static_cast<std::size_t>(config.height);
  const std::size_t chroma = static_cast<std::size_t>(chroma_width) * static_cast<std::size_t>(chroma_height);
  std::vector<std::uint8_t> samples(luma + 2 * chroma);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  while (file.read(reinterpret_cast<char*>(samples.data()), static_cast<std::streamsize>(samples.size()))) {
    Frame frame;
    frame.width = config.width, frame.height = config.height;
    frame.plane[0] = samples.data();
    frame.plane[1] = samples.data() + luma;
    frame.plane[2] = frame.plane[1] + chroma;
    frame.pitch[0] = config.width, frame.pitch[1] = frame.pitch[2] = chroma_width;
    print_measure(analyser->analyse(frame, nullptr, {})->measure());
  }
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: picture_measures FILE.yuv WIDTHxHEIGHT AQ\n");
    return 1;
  }
  try {
    cu264::bench::run(argv[1], argv[2], std::strcmp(argv[3], "1") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "picture_measures: error: %s\n", error.what());
    return 1;
  }
}
