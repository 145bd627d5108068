// The hot functions of the mode decision, alone: time a block.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/cavlc_block.h"
#include "core/quant.h"
#include "core/rdoq.h"
#include "encoder/cpu/intra4x4_search_inl.h"

namespace cu264::bench {
namespace {

namespace search = encoder::CU264_ISA;

constexpr std::size_t kBlocks = 4096;  // more than a branch predictor remembers
constexpr int kQp = 27;

enum Density : int { kSparse, kDense };

// Coefficients in coding order, as rdoq_block takes them.
struct Coefficients {
  std::int32_t scaled[16] = {};
  std::uint32_t negative = 0;
};

// Sparse: magnitudes fall off quickly, and about three levels of a block are not zero. Dense: all are large.
std::vector<Coefficients> make_coefficients(int density, int shift) {
  std::mt19937 random(1);
  std::vector<Coefficients> blocks(kBlocks);
  for (Coefficients& block : blocks) {
    block.negative = random() & 0xffff;
    for (int k = 0; k < 16; ++k) {
      const std::uint32_t sixteenths = density == kSparse ? 48u / (1 + static_cast<std::uint32_t>(k)) : 160u;
      const std::uint32_t magnitude = random() % (sixteenths + 1) + (density == kSparse ? 0 : 12);
      block.scaled[k] = static_cast<std::int32_t>(magnitude << (shift - 4));
    }
  }
  return blocks;
}

struct Levels {
  std::int16_t level[16] = {};
};

std::vector<Levels> make_levels(int density, int shift) {
  std::vector<Levels> blocks;
  for (const Coefficients& block : make_coefficients(density, shift)) {
    Levels& levels = blocks.emplace_back();
    for (int k = 0; k < 16; ++k) {
      const int level = core::quantise(block.scaled[k], shift, 1 << (shift - 1));
      levels.level[k] = static_cast<std::int16_t>(block.negative >> k & 1 ? -level : level);
    }
  }
  return blocks;
}

void set_density_label(benchmark::State& state) {
  state.SetLabel(state.range(0) == kSparse ? "sparse" : "dense");
}

void cavlc_block_bits(benchmark::State& state) {
  const std::vector<Levels> blocks =
      make_levels(static_cast<int>(state.range(0)), core::make_quantiser(kQp).shift);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(core::cavlc_block_bits(blocks[i].level, 16, 4));
    i = (i + 1) % kBlocks;
  }
  set_density_label(state);
}
BENCHMARK(cavlc_block_bits)->Arg(kSparse)->Arg(kDense)->ArgName("density");

void rdoq_block(benchmark::State& state) {
  const int shift = core::make_quantiser(kQp).shift;
  const std::vector<Coefficients> blocks = make_coefficients(static_cast<int>(state.range(0)), shift);
  std::int16_t levels[16] = {};
  std::size_t i = 0;
  for (auto _ : state) {
    core::rdoq_block(core::CavlcRate{}, blocks[i].scaled, blocks[i].negative, core::BlockCategory::luma_4x4,
                     shift, 4, levels);
    benchmark::DoNotOptimize(levels);
    i = (i + 1) % kBlocks;
  }
  set_density_label(state);
}
BENCHMARK(rdoq_block)->Arg(kSparse)->Arg(kDense)->ArgName("density");

// All nine Intra_4x4 modes of a block at once.
void satd_all_modes(benchmark::State& state) {
  std::mt19937 random(1);
  std::uint8_t source[16];
  search::Intra4x4Predictions predictions;
  for (std::uint8_t& sample : source) sample = static_cast<std::uint8_t>(random());
  for (auto& lanes : predictions.sample) {
    for (std::uint8_t& sample : lanes) sample = static_cast<std::uint8_t>(random());
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(source);
    benchmark::DoNotOptimize(predictions);
    search::Lanes satd;
    search::satd_all_modes(source, predictions, satd);
    benchmark::DoNotOptimize(satd);
  }
}
BENCHMARK(satd_all_modes);

void predict_all_modes(benchmark::State& state) {
  std::mt19937 random(1);
  search::Intra4x4Canvas canvas;
  for (std::uint8_t& sample : canvas.samples) sample = static_cast<std::uint8_t>(random());
  search::Intra4x4Predictions predictions;
  for (auto _ : state) {
    benchmark::DoNotOptimize(canvas);
    search::predict_all_modes(canvas, 0, 0, {true, true, true}, true, predictions);
    benchmark::DoNotOptimize(predictions);
  }
}
BENCHMARK(predict_all_modes);

}  // namespace
}  // namespace cu264::bench
