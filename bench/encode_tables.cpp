// Tables of the whole encoder: memory, frames per second, the cost of its options, several devices, latency.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bench/encode_rate.h"
#include "bench/encode_tables.h"
#include "cu264/device.h"
#include "cu264/protect.h"

namespace cu264::bench {

void report_memory(const Clip& clip, Run& run) {
  constexpr double kMiB = 1 << 20;
  const MemoryRequirement memory = memory_required(config_of(clip, Preset::fast, 0));
  run.report.row("memory of an encoder", {{"clip", clip.name},
                                          {"width", clip.width},
                                          {"height", clip.height},
                                          {"batch", memory.batch},
                                          {"device_MiB", static_cast<double>(memory.device) / kMiB},
                                          {"pinned_MiB", static_cast<double>(memory.pinned) / kMiB}});
}

void report_rates(const Clip& clip, Run& run) {
  const FramePool device(clip, MemoryKind::device), pinned(clip, MemoryKind::pinned);
  const double samples = static_cast<double>(clip.luma_bytes());
  for (const auto& [preset, name] : kPresets) {
    const Rate rate = measure_rate(config_of(clip, preset, 0), device, run.quick);
    const Rate from_host = measure_rate(config_of(clip, preset, 0), pinned, run.quick);
    const double upload_ceiling = run.copies.to_device / static_cast<double>(clip.frame_bytes());
    run.report.row("whole encode",
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
      run.quick ? std::vector{1, 32, 64, 96, 0} : std::vector{1, 8, 16, 32, 64, 96, 128, 0};
  for (const int batch : sizes) {
    const Rate rate = measure_rate(config_of(clip, Preset::fast, batch), device, run.quick);
    run.report.row("batch sweep", {{"clip", clip.name},
                                   {"preset", "fast"},
                                   {"asked", batch == 0 ? "auto" : std::to_string(batch)},
                                   {"batch", rate.batch},
                                   {"fps", rate.frames_per_second}});
  }
}

// The cost of options that add a stage. The preset without them is measured again after each of them,
// because a GPU's clock changes with time.
void report_options(const Clip& clip, Run& run) {
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
      {"aq steps", with([](Config& config) { config.aq = AdaptiveQuantisation::steps; })},
      {"aq variance", with([](Config& config) { config.aq = AdaptiveQuantisation::variance; })},
      {"watermark t1-sign", marked(WatermarkScheme::t1_sign)},
      {"watermark t1-parity", marked(WatermarkScheme::t1_parity)},
      {"encrypt signs", encrypted(1)},
      {"encrypt signs,modes", encrypted(2)},
      {"encrypt signs,modes,codewords", encrypted(3)}};
  for (const auto& [name, config] : variants) {
    const Rate rate = measure_rate(config, pool, run.quick);
    const Rate without = measure_rate(plain, pool, run.quick);
    run.report.row("cost of options",
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

// The cost of what guides quantisation, for each preset. The preset without a guide is measured again after
// each of them, because a GPU's clock changes with time.
void report_guides(const Clip& clip, Run& run) {
  constexpr std::pair<const char*, const char*> kGuides[] = {
      {"aq", "variance"}, {"aq", "steps"}, {"edge-thresholds", "distributed"}, {"edge-thresholds", "frame"}};
  const FramePool pool(clip, MemoryKind::device);
  for (const auto& [preset, name] : kPresets) {
    const Config plain = config_of(clip, preset, 0);
    for (const auto& [option, value] : kGuides) {
      Config config = plain;
      config.set(option, value);
      if (config.aq == plain.aq) config.aq = AdaptiveQuantisation::edges;
      const Rate rate = measure_rate(config, pool, run.quick);
      const Rate without = measure_rate(plain, pool, run.quick);
      run.report.row(
          "cost of guides",
          {{"clip", clip.name},
           {"preset", name},
           {"guide", config.aq == AdaptiveQuantisation::edges ? std::string("edges, ") + value : value},
           {"batch", rate.batch},
           {"fps", rate.frames_per_second},
           {"plain_fps", without.frames_per_second},
           {"cost_%", 100 * (1 - rate.frames_per_second / without.frames_per_second), 1},
           {"bytes", rate.bytes},
           {"plain_bytes", without.bytes}});
    }
  }
}

// Frames are in pinned host memory, which all devices can read.
void report_devices(const Clip& clip, Run& run) {
  const int devices = static_cast<int>(cuda_devices().size());
  if (devices == 1) {
    std::printf("\nseveral devices, from pinned memory: this machine has one\n");
    return;
  }
  const FramePool pinned(clip, MemoryKind::pinned);
  for (const auto& [preset, name] : kPresets) {
    double of_one = 0;
    Config config = config_of(clip, preset, 0);
    for (int device = 0; device < devices; ++device) {
      config.devices.push_back(device);
      const Rate rate = measure_rate(config, pinned, run.quick);
      if (device == 0) of_one = rate.frames_per_second;
      run.report.row("several devices, from pinned memory",
                     {{"clip", clip.name},
                      {"preset", name},
                      {"devices", device + 1},
                      {"batch", rate.batch},
                      {"fps", rate.frames_per_second},
                      {"times_one", rate.frames_per_second / of_one, 2}});
    }
  }
}

void report_latency(const Clip& clip, Run& run) {
  const FramePool pool(clip, MemoryKind::device);
  for (const auto& [preset, name] : kPresets) {
    for (const int slices : {1, 8}) {
      Config config = config_of(clip, preset, 1, std::min(slices, (clip.height + 15) / 16));
      const std::vector<double> times = measure_latency(config, pool, run.quick);
      run.report.row("latency of one picture",
                     {{"clip", clip.name},
                      {"preset", name},
                      {"slices", config.slices},
                      {"median_ms", median(times), 3},
                      {"worst_ms", *std::max_element(times.begin(), times.end()), 3}});
    }
  }
}

}  // namespace cu264::bench
