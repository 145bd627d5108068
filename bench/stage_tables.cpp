// Times the encoder's stages one by one and compares them with the time in which the bytes that must be
// moved could be copied.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/encode_rate.h"
#include "bench/encode_tables.h"
#include "bench/stage_bench.h"
#include "cu264/protect.h"

namespace cu264::bench {
namespace {

// An encryption that is of use for measurements only.
EncoderEncryption bench_encryption(int strength) {
  return {ProtectionKey(std::array<std::uint8_t, ProtectionKey::kBytes>{1}), encryption_strength(strength)};
}

}  // namespace

void report_stages(const Clip& clip, Run& run) {
  constexpr int kRuns = 5;
  const auto own = [&](Preset preset) { return memory_required(config_of(clip, preset, 0)).batch; };
  const FramePool pool(clip, MemoryKind::device, std::max(own(Preset::fast), 128));
  for (const auto& [preset, name] : kPresets) {
    for (const int batch : {64, 128, own(preset)}) {
      const StageBench bench(clip, pool, config_of(clip, preset, batch), batch);
      const double search = device_milliseconds(kRuns, [&] { bench.reconstruct(); });
      const double pack = device_milliseconds(kRuns, [&] { bench.code_and_pack(); });
      const double coded = bench.coded_bytes();
      const double search_bytes = bench.source_bytes() + coded, pack_bytes = coded + bench.stream_bytes();
      const auto floor = [&](double bytes) { return 1e3 * bytes / run.copies.device; };
      run.report.row("stages, ms a batch", {{"clip", clip.name},
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

// The cost of adaptive quantisation, which computes the QPs of macroblocks before the search.
void report_adaptive_quantisation(const Clip& clip, Run& run) {
  constexpr int kRuns = 15, kBatch = 128;
  const FramePool pool(clip, MemoryKind::device, kBatch);
  const Config plain = config_of(clip, Preset::fast, kBatch);
  Config edges = plain, steps = plain, variance = plain;
  edges.edge_guided = 2;
  steps.aq = AdaptiveQuantisation::steps;
  variance.aq = AdaptiveQuantisation::variance;
  const double encode = 1e6 / measure_rate(plain, pool, run.quick).frames_per_second;
  for (const auto& [name, config] : {std::pair{"edge-guided 2", edges}, std::pair{"aq steps", steps},
                                     std::pair{"aq variance", variance}}) {
    const StageBench bench(clip, pool, config, kBatch);
    const double time = 1e3 * device_milliseconds(kRuns, [&] { bench.adaptive_quantisation(); }) / kBatch;
    run.report.row("adaptive quantisation, us a picture", {{"clip", clip.name},
                                                           {"mode", name},
                                                           {"aq_us", time, 2},
                                                           {"encode_us", encode, 2},
                                                           {"share_%", 100 * time / encode, 1}});
  }
}

// Plain and encrypted batches are measured in turn, because the device's clock changes with time.
void report_encryption(const Clip& clip, Run& run) {
  constexpr int kRuns = 5, kBatch = 128, kRounds = 3;
  constexpr std::pair<int, const char*> kStrengths[] = {
      {1, "signs"}, {2, "signs,modes"}, {3, "signs,modes,codewords"}};
  const FramePool pool(clip, MemoryKind::device, kBatch);
  for (const auto& [preset, name] : kPresets) {
    if (run.quick && preset != Preset::fast) continue;
    for (const auto& [strength, parts] : kStrengths) {
      const Config plain = config_of(clip, preset, 0);
      Config encrypted = plain;
      encrypted.encryption = bench_encryption(strength);
      std::vector<double> plain_rates, encrypted_rates;
      for (int round = 0; round < kRounds; ++round) {
        plain_rates.push_back(measure_rate(plain, pool, run.quick).frames_per_second);
        encrypted_rates.push_back(measure_rate(encrypted, pool, run.quick).frames_per_second);
      }
      encrypted.batch = kBatch;
      StageBench bench(clip, pool, encrypted, kBatch);
      bench.reconstruct();
      const double pack = device_milliseconds(kRuns, [&] { bench.code_and_pack(); });
      const double keystream = device_milliseconds(kRuns, [&] { bench.encrypt(); });
      const double encrypted_pack = device_milliseconds(kRuns, [&] { bench.code_and_pack(); });
      const double rate = median(plain_rates), encrypted_rate = median(encrypted_rates);
      run.report.row("encryption", {{"clip", clip.name},
                                    {"preset", name},
                                    {"parts", parts},
                                    {"plain_fps", rate},
                                    {"encrypted_fps", encrypted_rate},
                                    {"cost_%", 100 * (1 - encrypted_rate / rate), 2},
                                    {"code+pack_us", 1e3 * pack / kBatch, 3},
                                    {"encrypted_us", 1e3 * encrypted_pack / kBatch, 3},
                                    {"keystream_us", 1e3 * keystream / kBatch, 3}});
    }
  }
}

}  // namespace cu264::bench
