// The whole encoder on the GPU: real frames over and over in device memory or in pinned host memory, packets
// in host memory, QP 27. Frames a second, milliseconds of the stages beside the time in which the bytes that
// must move could be copied, latency, memory. Tables on the standard output, and as JSON in a file.
//
//   bench_encode [--json FILE] [--quick] [--tile] [--encrypt PARTS] CLIP.yuv WIDTHxHEIGHT [CLIP.yuv
//   WIDTHxHEIGHT ...]
//
// --encrypt signs,modes,codewords, or some of them: only what encryption costs, of each preset.
// --tile: each clip also at twice its sides, which makes 4K of 1080p. --quick: short runs, fewer batch sizes.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu_bench.h"
#include "bench/stage_bench.h"
#include "cu264/device.h"
#include "cu264/encoder.h"
#include "cu264/protect.h"
#include "encoder/cuda/device.h"

namespace cu264::bench {
namespace {

using encoder::cuda::check;

constexpr std::pair<Preset, const char*> kPresets[] = {
    {Preset::fast, "fast"}, {Preset::balanced, "balanced"}, {Preset::best, "best"}};

struct Options {
  std::string json;
  bool quick = false;
  bool tile = false;
  std::optional<EncryptionParts> encryption;
  std::vector<Clip> clips;
};

Config config_of(const Clip& clip, Preset preset, int batch, int slices = 1) {
  Config config;
  config.width = clip.width, config.height = clip.height;
  config.preset = preset;
  config.batch = batch;
  config.slices = slices;
  config.backend = BackendChoice::cuda;
  config.input_format = PixelFormat::i420;
  return config;
}

struct Rate {
  double frames_per_second = 0;
  double bytes = 0;  // a frame
  int batch = 0;     // pictures
};

// Steady encoding, timed from the last packet of a batch to the last of a later one: after two batches,
// median of three.
Rate measure_rate(const Config& config, const FramePool& pool, bool quick) {
  constexpr int kWarmUpBatches = 2, kRepeats = 3, kFewestBatches = 4;
  const double seconds = quick ? 0.1 : 1;
  Encoder encoder(config);
  const int batch = encoder.info().batch;
  std::uint64_t sent = 0;
  double bytes = 0;
  const auto receive_batch = [&] {
    for (int received = 0; received < batch; ++received) {
      while (encoder.send(pool.frame(sent))) ++sent;
      bytes += static_cast<double>(encoder.receive().value().data.size());
    }
  };
  for (int i = 0; i < kWarmUpBatches; ++i) receive_batch();
  bytes = 0;
  double frames = 0;
  std::vector<double> rates;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const StopWatch watch;
    int batches = 0;
    double took = 0;
    for (; batches < kFewestBatches || took < seconds; took = watch.seconds(), ++batches) receive_batch();
    took = watch.seconds();
    frames += batches * batch;
    rates.push_back(batches * batch / took);
  }
  return {median(std::move(rates)), bytes / frames, batch};
}

void report_rates(const Clip& clip, const CopyRates& copies, bool quick, Report& report) {
  const FramePool device(clip, MemoryKind::device), pinned(clip, MemoryKind::pinned);
  const double samples = static_cast<double>(clip.luma_bytes());
  for (const auto& [preset, name] : kPresets) {
    const Rate rate = measure_rate(config_of(clip, preset, 0), device, quick);
    const Rate from_host = measure_rate(config_of(clip, preset, 0), pinned, quick);
    const double upload_ceiling = copies.to_device / static_cast<double>(clip.frame_bytes());
    report.row("whole encode",
               {{"clip", clip.name},
                {"width", clip.width},
                {"height", clip.height},
                {"preset", name},
                {"batch", rate.batch},
                {"fps", rate.frames_per_second},
                {"Mpixel/s", 1e-6 * samples * rate.frames_per_second},
                {"bytes", rate.bytes},
                {"pinned_fps", from_host.frames_per_second},
                {"upload_ceiling_fps", upload_ceiling},
                {"pinned_share",
                 from_host.frames_per_second / std::min(upload_ceiling, rate.frames_per_second), 2}});
  }
  const std::vector<int> sizes =
      quick ? std::vector{1, 32, 64, 96, 0} : std::vector{1, 8, 16, 32, 64, 96, 128, 0};
  for (const int batch : sizes) {
    const Rate rate = measure_rate(config_of(clip, Preset::fast, batch), device, quick);
    report.row("batch sweep", {{"clip", clip.name},
                               {"preset", "fast"},
                               {"asked", batch == 0 ? "auto" : std::to_string(batch)},
                               {"batch", rate.batch},
                               {"fps", rate.frames_per_second}});
  }
}

// Batches in turn on the first device, on the first two, and so on, from pinned host memory, which all reach.
void report_devices(const Clip& clip, bool quick, Report& report) {
  const FramePool pinned(clip, MemoryKind::pinned);
  const int devices = static_cast<int>(cuda_devices().size());
  for (const auto& [preset, name] : kPresets) {
    for (int used = 1; devices > 1 && used <= devices; ++used) {
      Config config = config_of(clip, preset, 0);
      for (int device = 0; device < used; ++device) config.devices.push_back(device);
      const Rate rate = measure_rate(config, pinned, quick);
      report.row("several devices, from pinned memory", {{"clip", clip.name},
                                                         {"preset", name},
                                                         {"devices", used},
                                                         {"batch", rate.batch},
                                                         {"fps", rate.frames_per_second}});
    }
  }
}

// What the options that add a stage cost, beside the same preset without them, which runs again after each:
// a GPU's clock moves.
void report_options(const Clip& clip, bool quick, Report& report) {
  const FramePool pool(clip, MemoryKind::device);
  const Config plain = config_of(clip, Preset::fast, 0);
  const auto with = [&](const auto& change) {
    Config config = plain;
    change(config);
    return config;
  };
  const ProtectionKey key = ProtectionKey::from_hex(std::string(2 * ProtectionKey::kBytes, '5'));
  const auto marked = [&](WatermarkScheme scheme) {
    return with([&](Config& config) { config.watermark = {key, {'c', 'u', '2', '6', '4'}, scheme}; });
  };
  const auto encrypted = [&](int strength) {
    return with([&](Config& config) {
      config.encryption = EncoderEncryption{key, encryption_strength(strength)};
    });
  };
  const std::pair<const char*, Config> variants[] = {
      {"edge-guided 2", with([](Config& config) { config.edge_guided = 2; })},
      {"aq variance", with([](Config& config) { config.aq = AdaptiveQuantisation::variance; })},
      {"watermark t1-sign", marked(WatermarkScheme::t1_sign)},
      {"watermark t1-parity", marked(WatermarkScheme::t1_parity)},
      {"encrypt signs", encrypted(1)},
      {"encrypt signs,modes", encrypted(2)},
      {"encrypt signs,modes,codewords", encrypted(3)}};
  for (const auto& [name, config] : variants) {
    const Rate rate = measure_rate(config, pool, quick);
    const Rate without = measure_rate(plain, pool, quick);
    report.row("cost of options",
               {{"clip", clip.name},
                {"preset", "fast"},
                {"option", name},
                {"fps", rate.frames_per_second},
                {"plain_fps", without.frames_per_second},
                {"cost_%", 100 * (1 - rate.frames_per_second / without.frames_per_second), 1},
                {"bytes", rate.bytes},
                {"plain_bytes", without.bytes}});
  }
}

// Of any use for measurements alone.
EncoderEncryption bench_encryption(const EncryptionParts& parts) {
  return {ProtectionKey(std::array<std::uint8_t, ProtectionKey::kBytes>{1}), parts, 1};
}

void report_stages(const Clip& clip, const CopyRates& copies, Report& report) {
  constexpr int kRuns = 5, kLargest = 128;
  const FramePool pool(clip, MemoryKind::device, kLargest);
  for (const auto& [preset, name] : kPresets) {
    for (const int batch : {64, kLargest}) {
      const StageBench bench(clip, pool, config_of(clip, preset, batch), batch);
      const double search = device_milliseconds(kRuns, [&] { bench.reconstruct(); });
      const double pack = device_milliseconds(kRuns, [&] { bench.code_and_pack(); });
      const double coded = bench.coded_bytes();
      const double search_bytes = bench.source_bytes() + coded, pack_bytes = coded + bench.stream_bytes();
      const auto floor = [&](double bytes) { return 1e3 * bytes / copies.device; };
      report.row("stages, ms a batch", {{"clip", clip.name},
                                        {"preset", name},
                                        {"batch", batch},
                                        {"reconstruct", search, 3},
                                        {"its_MB", 1e-6 * search_bytes, 1},
                                        {"its_floor", floor(search_bytes), 3},
                                        {"code+pack", pack, 3},
                                        {"cp_MB", 1e-6 * pack_bytes, 1},
                                        {"cp_floor", floor(pack_bytes), 3},
                                        {"cp_%_of_copy", 100 * floor(pack_bytes) / pack, 1},
                                        {"fps_of_both", 1e3 * batch / (search + pack)}});
    }
  }
}

// What comes before the search where a guide gives macroblocks their quantisers.
void report_guides(const Clip& clip, bool quick, Report& report) {
  constexpr int kRuns = 15, kBatch = 128;
  const FramePool pool(clip, MemoryKind::device, kBatch);
  const Config plain = config_of(clip, Preset::fast, kBatch);
  Config edges = plain, variance = plain;
  edges.edge_guided = 2;
  variance.aq = AdaptiveQuantisation::variance;
  const double encode = 1e6 / measure_rate(plain, pool, quick).frames_per_second;
  for (const auto& [name, config] : {std::pair{"edge-guided 2", edges}, std::pair{"aq variance", variance}}) {
    const StageBench bench(clip, pool, config, kBatch);
    const double guide = 1e3 * device_milliseconds(kRuns, [&] { bench.guide(); }) / kBatch;
    report.row("guides, us a picture", {{"clip", clip.name},
                                        {"guide", name},
                                        {"guide_us", guide, 2},
                                        {"encode_us", encode, 2},
                                        {"share_%", 100 * guide / encode, 1}});
  }
}

void report_encryption(const Clip& clip, const EncryptionParts& parts, bool quick, Report& report) {
  constexpr int kRuns = 5, kBatch = 128, kRounds = 3;
  const FramePool pool(clip, MemoryKind::device, kBatch);
  for (const auto& [preset, name] : kPresets) {
    if (quick && preset != Preset::fast) continue;
    Config plain = config_of(clip, preset, 0), encrypted = plain;
    encrypted.encryption = bench_encryption(parts);
    std::vector<double> plain_rates, encrypted_rates;
    for (int round = 0; round < kRounds; ++round) {  // in turn: the device's clock changes with time
      plain_rates.push_back(measure_rate(plain, pool, quick).frames_per_second);
      encrypted_rates.push_back(measure_rate(encrypted, pool, quick).frames_per_second);
    }
    encrypted.batch = kBatch;
    StageBench bench(clip, pool, encrypted, kBatch);
    bench.reconstruct();
    const double pack = device_milliseconds(kRuns, [&] { bench.code_and_pack(); });
    // Of what is encrypted already: as many blocks with as many levels.
    const double encrypt = device_milliseconds(kRuns, [&] { bench.encrypt(); });
    const double pack_encrypted = device_milliseconds(kRuns, [&] { bench.code_and_pack(); });
    const double rate = median(plain_rates), encrypted_rate = median(encrypted_rates);
    report.row("encryption", {{"clip", clip.name},
                              {"preset", name},
                              {"plain_fps", rate},
                              {"encrypted_fps", encrypted_rate},
                              {"cost_%", 100 * (1 - encrypted_rate / rate), 2},
                              {"encrypt_us", 1e3 * encrypt / kBatch, 3},
                              {"code+pack_us", 1e3 * pack / kBatch, 3},
                              {"of_encrypted_us", 1e3 * pack_encrypted / kBatch, 3}});
  }
}

// From send to the packet, nothing else being under way; the caller asks until it is there.
void report_latency(const Clip& clip, bool quick, Report& report) {
  constexpr int kWarmUp = 5;
  const int runs = quick ? 15 : 50;
  const FramePool pool(clip, MemoryKind::device);
  for (const auto& [preset, name] : kPresets) {
    for (const int slices : {1, 8}) {
      Config config = config_of(clip, preset, 1, std::min(slices, (clip.height + 15) / 16));
      Encoder encoder(config);
      std::vector<double> times;
      for (int run = 0; run < runs + kWarmUp; ++run) {
        const Frame frame = pool.frame(static_cast<std::uint64_t>(run));
        const StopWatch watch;
        encoder.send(frame);
        while (!encoder.receive()) continue;
        if (run >= kWarmUp) times.push_back(1e3 * watch.seconds());
      }
      report.row("latency of one picture", {{"clip", clip.name},
                                            {"preset", name},
                                            {"slices", config.slices},
                                            {"median_ms", median(times), 3},
                                            {"worst_ms", *std::max_element(times.begin(), times.end()), 3}});
    }
  }
}

void report_memory(const Clip& clip, Report& report) {
  constexpr double kMiB = 1 << 20;
  const MemoryRequirement memory = memory_required(config_of(clip, Preset::fast, 0));
  report.row("memory of an encoder", {{"clip", clip.name},
                                      {"width", clip.width},
                                      {"height", clip.height},
                                      {"batch", memory.batch},
                                      {"device_MiB", static_cast<double>(memory.device) / kMiB},
                                      {"pinned_MiB", static_cast<double>(memory.pinned) / kMiB}});
}

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> rest;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      options.quick = true;
    } else if (word == "--tile") {
      options.tile = true;
    } else if (word == "--encrypt" && i + 1 < argc) {
      const std::string parts = std::string(",") + argv[++i] + ",";
      const auto has = [&](const char* part) { return parts.find(part) != std::string::npos; };
      options.encryption = {has(",signs,"), has(",modes,"), has(",codewords,")};
    } else if (word == "--json" && i + 1 < argc) {
      options.json = argv[++i];
    } else {
      rest.push_back(word);
    }
  }
  for (std::size_t i = 0; i + 1 < rest.size(); i += 2)
    options.clips.push_back(read_clip(rest[i], rest[i + 1]));
  if (rest.size() % 2 != 0) options.clips.clear();
  return options;
}

void run(const Options& options) {
  Report report;
  const DeviceInfo device = cuda_devices().at(0);
  int runtime = 0;
  check(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
  report.row("machine", {{"device", device.name},
                         {"compute", device.compute_major + 0.1 * device.compute_minor, 1},
                         {"multiprocessors", device.multiprocessors},
                         {"cuda", runtime / 1000 + 0.1 * (runtime % 1000 / 10), 1}});
  const CopyRates copies = measure_copies();
  report.row("copy ceilings, GB/s", {{"device_to_device", 1e-9 * copies.device},
                                     {"host_to_device", 1e-9 * copies.to_device, 1},
                                     {"device_to_host", 1e-9 * copies.to_host, 1}});
  std::vector<Clip> clips;
  for (const Clip& clip : options.clips) {
    clips.push_back(clip);
    if (options.tile) clips.push_back(tiled(clip));
  }
  if (options.encryption) {
    for (const Clip& clip : clips) report_encryption(clip, *options.encryption, options.quick, report);
  } else {
    for (const Clip& clip : clips) report_memory(clip, report);
    for (const Clip& clip : clips) report_rates(clip, copies, options.quick, report);
    for (const Clip& clip : options.clips) report_options(clip, options.quick, report);
    for (const Clip& clip : options.clips) report_devices(clip, options.quick, report);
    for (const Clip& clip : options.clips) report_guides(clip, options.quick, report);
    for (const Clip& clip : clips) report_stages(clip, copies, report);
    for (const Clip& clip : clips) report_latency(clip, options.quick, report);
  }
  if (!options.json.empty()) write_file(options.json, report.json());
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  try {
    const cu264::bench::Options options = cu264::bench::parse(argc, argv);
    if (options.clips.empty()) {
      std::fprintf(
          stderr,
          "usage: bench_encode [--json FILE] [--quick] [--tile] [--encrypt PARTS] CLIP.yuv WIDTHxHEIGHT "
          "[...]\n");
      return 1;
    }
    cu264::bench::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_encode: %s\n", error.what());
    return 2;
  }
  return 0;
}
