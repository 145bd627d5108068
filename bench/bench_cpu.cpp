// Times the CPU backend at 1080p: whole pictures through the public API, and each stage alone on one thread.
//
//   bench_cpu [--benchmark_filter=REGEX]
//
// Pictures are generated (the "natural" pictures of the tests). The items are pictures; per_mb is the time
// per macroblock.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/bitstream/nal_unit.h"
#include "core/bits.h"
#include "cu264/encoder.h"
#include "encoder/cpu/ingest.h"
#include "encoder/cpu/reconstruct_slice.h"
#include "encoder/deblock_picture.h"
#include "entropy/cavlc/slice_coder.h"
#include "support/picture.h"

namespace cu264::bench {
namespace {

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;
constexpr int kMbWidth = (kWidth + 15) / 16;
constexpr int kMbHeight = (kHeight + 15) / 16;
constexpr int kMacroblocks = kMbWidth * kMbHeight;
constexpr int kQp = 27;
constexpr int kPresets[] = {static_cast<int>(Preset::fast), static_cast<int>(Preset::balanced),
                            static_cast<int>(Preset::best)};

const char* name_of(Preset preset) {
  return preset == Preset::fast ? "fast" : preset == Preset::balanced ? "balanced" : "best";
}

Frame frame_of(const test::Picture& picture) {
  Frame frame;
  frame.width = picture.width, frame.height = picture.height;
  for (int c = 0; c < 3; ++c) frame.plane[c] = picture.plane(c), frame.pitch[c] = picture.plane_width(c);
  return frame;
}

const test::Picture& source() {
  static const test::Picture picture = test::make_picture(test::Content::natural, kWidth, kHeight);
  return picture;
}

encoder::CpuPicture ingested() {
  encoder::CpuPicture picture;
  picture.resize(kMbWidth, kMbHeight, 1);
  encoder::ingest(frame_of(source()), picture);
  return picture;
}

encoder::CpuPicture reconstructed(int qp) {
  encoder::CpuPicture picture = ingested();
  encoder::reconstruct_slice(picture, 0, qp, Preset::fast);
  return picture;
}

// The slice data of a picture, and the memory that it is written to.
class CodedSlice {
 public:
  CodedSlice()
      : capacity_(entropy::max_slice_rbsp_bytes(kMacroblocks)), bytes_(new std::uint8_t[capacity_]) {}

  void code(const core::CodedPictureView& picture) {
    core::BitWriter writer(bytes_.get(), capacity_);
    entropy::SliceStats stats;
    entropy::code_slice(picture, 0, 0b1, 1, writer, stats);
    size_ = writer.size();
    benchmark::ClobberMemory();
  }
  std::vector<std::uint8_t> bytes() const { return {bytes_.get(), bytes_.get() + size_}; }
  std::size_t size() const { return size_; }

 private:
  std::size_t capacity_;
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
};

void report(benchmark::State& state, std::size_t bytes_a_picture) {
  using benchmark::Counter;
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes_a_picture));
  state.counters["per_mb"] =
      Counter(kMacroblocks, Counter::kIsIterationInvariantRate | Counter::kInvert);  // in seconds
}

Config config_of(Preset preset, int threads) {
  Config config;
  config.profile = Profile::baseline;
  config.width = kWidth, config.height = kHeight, config.qp = kQp;
  config.preset = preset;
  config.threads = threads;
  config.backend = BackendChoice::cpu;
  return config;
}

// The pipeline is full when the clock starts, and one picture is sent for each that is received. An
// iteration takes as many pictures as there are threads, since that many are finished at about the same
// time.
void encode_with(const Config& config, const std::string& label, benchmark::State& state) {
  Encoder encoder(config);
  const Frame frame = frame_of(source());
  std::size_t bytes = 0;
  const auto encode_some = [&] {
    for (int i = 0; i < config.threads; ++i) {
      while (!encoder.send(frame)) bytes = encoder.receive()->data.size();
    }
  };
  for (int i = 0; i < 3; ++i) encode_some();
  for (auto _ : state) encode_some();
  state.SetLabel(label);
  state.SetItemsProcessed(state.iterations() * config.threads);
  state.counters["stream_bytes"] = static_cast<double>(bytes);
}

void encode(benchmark::State& state) {
  const auto preset = static_cast<Preset>(state.range(0));
  encode_with(config_of(preset, static_cast<int>(state.range(1))), name_of(preset), state);
}
BENCHMARK(encode)
    ->ArgsProduct({{kPresets[0], kPresets[1], kPresets[2]}, {1, 2}})
    ->ArgNames({"preset", "threads"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// What guides quantisation, as options: none; variance; steps; edges by thresholds of sub-images, by those of
// the picture, and by two that are given.
constexpr const char* kGuides[][2] = {{"aq", "off"},
                                      {"aq", "variance"},
                                      {"aq", "steps"},
                                      {"edge-thresholds", "distributed"},
                                      {"edge-thresholds", "frame"},
                                      {"edge-thresholds", "0.08,0.19"}};

// A thread for each processor.
void encode_guided(benchmark::State& state) {
  const auto preset = static_cast<Preset>(state.range(0));
  const auto& [option, value] = kGuides[state.range(1)];
  Config config = config_of(preset, std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  config.set(option, value);
  const bool edges = config.aq == AdaptiveQuantisation::automatic;
  if (edges) config.aq = AdaptiveQuantisation::edges;
  encode_with(config, std::string(name_of(preset)) + ", " + (edges ? "edges, " : "") + value, state);
}
BENCHMARK(encode_guided)
    ->ArgsProduct({{kPresets[0], kPresets[1], kPresets[2]}, {0, 1, 2, 3, 4, 5}})
    ->ArgNames({"preset", "guide"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void ingest(benchmark::State& state) {
  const Frame frame = frame_of(source());
  encoder::CpuPicture picture = ingested();
  for (auto _ : state) {
    encoder::ingest(frame, picture);
    benchmark::ClobberMemory();
  }
  report(state, source().samples.size());
}
BENCHMARK(ingest)->Unit(benchmark::kMicrosecond);

void reconstruct_slice(benchmark::State& state) {
  const auto preset = static_cast<Preset>(state.range(0));
  encoder::CpuPicture picture = ingested();
  for (auto _ : state) {
    encoder::reconstruct_slice(picture, 0, static_cast<int>(state.range(1)), preset);
    benchmark::ClobberMemory();
  }
  state.SetLabel(name_of(preset));
  report(state, source().samples.size());
}
BENCHMARK(reconstruct_slice)
    ->ArgsProduct({{kPresets[0], kPresets[1], kPresets[2]}, {kQp}})
    ->ArgsProduct({{kPresets[0]}, {17, 37}})
    ->ArgNames({"preset", "qp"})
    ->Unit(benchmark::kMillisecond);

void deblock_picture(benchmark::State& state) {
  const encoder::CpuPicture unfiltered = reconstructed(static_cast<int>(state.range(0)));
  encoder::CpuPicture picture = unfiltered;
  for (auto _ : state) {
    state.PauseTiming();  // the filter works in place, and what it has smoothed takes less time
    for (int c = 0; c < 3; ++c)
      std::copy(unfiltered.reconstruction[c].samples.begin(), unfiltered.reconstruction[c].samples.end(),
                picture.reconstruction[c].samples.begin());
    state.ResumeTiming();
    encoder::deblock_picture(picture);
    benchmark::ClobberMemory();
  }
  report(state, source().samples.size());
}
BENCHMARK(deblock_picture)->Arg(kQp)->Arg(37)->ArgName("qp")->Unit(benchmark::kMillisecond);

// The bytes are those of the stream.
void code_slice(benchmark::State& state) {
  encoder::CpuPicture picture = reconstructed(static_cast<int>(state.range(0)));
  CodedSlice slice;
  for (auto _ : state) slice.code(picture.view());
  report(state, slice.size());
}
BENCHMARK(code_slice)->Arg(17)->Arg(kQp)->Arg(37)->ArgName("qp")->Unit(benchmark::kMillisecond);

void append_nal_of(benchmark::State& state, const std::vector<std::uint8_t>& rbsp) {
  std::vector<std::uint8_t> nal_unit;
  for (auto _ : state) {
    nal_unit.clear();
    bitstream::append_nal(nal_unit, 3, 5, rbsp, true);  // an IDR slice (H.264 table 7-1)
    benchmark::DoNotOptimize(nal_unit.data());
  }
  report(state, rbsp.size());
}

void append_nal(benchmark::State& state) {
  encoder::CpuPicture picture = reconstructed(kQp);
  CodedSlice slice;
  slice.code(picture.view());
  append_nal_of(state, slice.bytes());
}
BENCHMARK(append_nal)->Unit(benchmark::kMicrosecond);

// The worst case: every two bytes need an emulation prevention byte.
void append_nal_of_zeros(benchmark::State& state) {
  std::vector<std::uint8_t> rbsp(1 << 18);
  rbsp.back() = 0x80;
  append_nal_of(state, rbsp);
}
BENCHMARK(append_nal_of_zeros)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("search compiled for", cu264::encoder::instruction_set());
  benchmark::RunSpecifiedBenchmarks();
}
