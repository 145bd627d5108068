// Prints where the states of CABAC's contexts are in the streams of a raw I420 file, whose search counts
// CAVLC's bits, as a line of JSON for each QP: for each context of core/cabac_contexts.h the number of its
// bins, and the sum over these bins of the state before the bin, as 0 .. 127 in the order of the probability
// of a one. bench/cabac_rate.py makes the tables of core/cabac_typical_states.h from it.
//
//   cabac_states FILE.yuv WIDTHxHEIGHT PRESET QP...
//   cabac_states --initial QP...                      the states at the start of a slice
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/cabac_contexts.h"
#include "core/cabac_macroblock.h"
#include "core/cabac_states.h"
#include "encoder/config.h"
#include "encoder/cpu/ingest.h"
#include "encoder/cpu/reconstruct_slice.h"
#include "encoder/cpu_picture.h"
#include "encoder/stream_params.h"

namespace cu264::bench {
namespace {

// The place of a state in the order of the probability of a one.
int rank_of(int state) {
  return (state & 1) != 0 ? 64 + (state >> 1) : 63 - (state >> 1);
}

// A sink of bins that follows the states.
struct StateSums {
  std::uint8_t state[core::kCabacContexts];
  std::uint64_t bins[core::kCabacContexts] = {};
  std::uint64_t sums[core::kCabacContexts] = {};

  void begin_slice(int qp) {
    for (int i = 0; i < core::kCabacContexts; ++i) state[i] = core::initial_state(i, qp);
  }
  void decision(int context, int bin) {
    const int before = state[context];
    ++bins[context];
    sums[context] += static_cast<std::uint64_t>(rank_of(before));
    state[context] = static_cast<std::uint8_t>(core::next_state(before, bin));
  }
  void bypass(std::uint32_t, int) {}
  void terminate(int) {}
};

void count_picture(const encoder::CpuPicture& picture, StateSums& sums) {
  for (int mb_y = 0; mb_y < picture.mb_height; ++mb_y) {
    for (int mb_x = 0; mb_x < picture.mb_width; ++mb_x) {
      const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
      const core::MacroblockRecord* const mb = picture.macroblocks.data() + index;
      const core::MacroblockRecord* const left = mb_x > 0 ? mb - 1 : nullptr;
      const core::MacroblockRecord* const above = mb_y > 0 ? mb - picture.mb_width : nullptr;
      const core::CabacNeighbours neighbours{core::cabac_neighbour(left), core::cabac_neighbour(above)};
      core::put_cabac_header(sums, *mb, left, above, neighbours,
                             core::changes_qp(index > 0 ? mb - 1 : nullptr));
      if (mb->kind == core::MacroblockKind::pcm) continue;
      core::put_cabac_residual(sums, *mb, picture.levels.data() + index * core::kLevelsPerMacroblock,
                               neighbours);
    }
  }
}

void print_numbers(const char* name, const std::uint64_t (&numbers)[core::kCabacContexts]) {
  std::printf(", \"%s\": [", name);
  for (int i = 0; i < core::kCabacContexts; ++i)
    std::printf(i > 0 ? ", %llu" : "%llu", static_cast<unsigned long long>(numbers[i]));
  std::printf("]");
}

Preset preset_of(const std::string& name) {
  for (const Preset preset : {Preset::fast, Preset::balanced, Preset::best}) {
    if (name == encoder::name_of(preset)) return preset;
  }
  throw std::runtime_error("'" + name + "' is not a preset");
}

void run(const char* path, const char* size, Preset preset, const std::vector<int>& qps) {
  Config config;
  if (std::sscanf(size, "%dx%d", &config.width, &config.height) != 2 || config.width <= 0 ||
      config.height <= 0)
    throw std::runtime_error(std::string("'") + size + "' is not a size: give WIDTHxHEIGHT");
  const encoder::StreamParams params = encoder::stream_params(config);
  const auto matrix = core::make_colour_matrix(params.input.matrix_coefficients, params.input.full_range);
  encoder::CpuPicture picture;
  picture.resize(params.format.mb_width, params.format.mb_height, 1);
  picture.transform_8x8_mode = true;
  const int chroma_width = (config.width + 1) / 2, chroma_height = (config.height + 1) / 2;
  const std::size_t luma = static_cast<std::size_t>(config.width) * static_cast<std::size_t>(config.height);
  const std::size_t chroma = static_cast<std::size_t>(chroma_width) * static_cast<std::size_t>(chroma_height);
  std::vector<std::uint8_t> samples(luma + 2 * chroma);
  for (const int qp : qps) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
    StateSums sums;
    while (file.read(reinterpret_cast<char*>(samples.data()), static_cast<std::streamsize>(samples.size()))) {
      Frame frame;
      frame.width = config.width, frame.height = config.height;
      frame.plane[0] = samples.data();
      frame.plane[1] = samples.data() + luma;
      frame.plane[2] = frame.plane[1] + chroma;
      frame.pitch[0] = config.width, frame.pitch[1] = frame.pitch[2] = chroma_width;
      encoder::ingest(frame, picture, matrix);
      encoder::reconstruct_slice(picture, 0, qp, preset);
      sums.begin_slice(qp);
      count_picture(picture, sums);
    }
    std::printf("{\"qp\": %d", qp);
    print_numbers("bins", sums.bins);
    print_numbers("sums", sums.sums);
    std::printf("}\n");
  }
}

void print_initial(const std::vector<int>& qps) {
  for (std::size_t i = 0; i < qps.size(); ++i) {
    std::printf(i > 0 ? ", [" : "[[");
    for (int context = 0; context < core::kCabacContexts; ++context)
      std::printf(context > 0 ? ", %d" : "%d", rank_of(core::initial_state(context, qps[i])));
    std::printf("]");
  }
  std::printf("]\n");
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  const bool initial = argc > 2 && std::strcmp(argv[1], "--initial") == 0;
  if (!initial && argc < 5) {
    std::fprintf(stderr,
                 "usage: cabac_states FILE.yuv WIDTHxHEIGHT PRESET QP...\n"
                 "       cabac_states --initial QP...\n");
    return 1;
  }
  try {
    std::vector<int> qps;
    for (int i = initial ? 2 : 4; i < argc; ++i) qps.push_back(std::atoi(argv[i]));
    if (initial) {
      cu264::bench::print_initial(qps);
    } else {
      cu264::bench::run(argv[1], argv[2], cu264::bench::preset_of(argv[3]), qps);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cabac_states: error: %s\n", error.what());
    return 1;
  }
}
