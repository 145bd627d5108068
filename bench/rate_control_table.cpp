// Measures what rate control costs: pictures a second of each mode beside constant QP, at about the same
// size.
#include <ctime>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/encode_rate.h"
#include "bench/encode_tables.h"
#include "cu264/encoder.h"

namespace cu264::bench {
namespace {

struct MeasuredEncoder {
  Profile profile;
  Preset preset;
  const char* name;
};
constexpr MeasuredEncoder kEncoders[] = {{Profile::high, Preset::fast, "fast"},
                                         {Profile::high, Preset::balanced, "balanced"},
                                         {Profile::high, Preset::best, "best"},
                                         {Profile::baseline, Preset::fast, "fast"},
                                         {Profile::baseline, Preset::balanced, "balanced"},
                                         {Profile::baseline, Preset::best, "best"}};

struct Controlled {
  double frames_per_second = 0;
  double bytes = 0;    // a picture
  double codings = 0;  // of a picture
  double mean_qp = 0;
  double host_us = 0;  // what the thread that feeds the encoder computes for a picture
};

// Returns the processor time of the calling thread.
double processor_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Measured after as many pictures as fill the pipeline twice, which lets the control settle. Pictures come in
// batches, so a round is a batch.
Controlled measure(const Config& config, const FramePool& pool, bool quick) {
  constexpr int kWarmUp = 1280, kRepeats = 3, kMinRounds = 4;
  const double seconds = quick ? 0.3 : 1;
  Encoder encoder(config);
  const int batch = encoder.info().batch;
  std::uint64_t sent = 0;
  Controlled sum;
  const auto receive = [&](int pictures) {
    for (int received = 0; received < pictures; ++received) {
      while (encoder.send(pool.frame(sent))) ++sent;
      const Packet packet = encoder.receive().value();
      sum.bytes += static_cast<double>(packet.data.size());
      sum.codings += packet.stats.codings;
      sum.mean_qp += packet.stats.mean_qp;
    }
  };
  receive(kWarmUp);
  sum = {};
  double pictures = 0;
  std::vector<double> rates;
  const double began = processor_seconds();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const StopWatch watch;
    int rounds = 0;
    double took = 0;
    for (; rounds < kMinRounds || took < seconds; took = watch.seconds(), ++rounds) receive(batch);
    took = watch.seconds();
    rates.push_back(rounds * batch / took);
    pictures += rounds * batch;
  }
  return {median(std::move(rates)), sum.bytes / pictures, sum.codings / pictures, sum.mean_qp / pictures,
          1e6 * (processor_seconds() - began) / pictures};
}

}  // namespace

void report_rate_control(const Clip& clip, Run& run) {
  const FramePool pool(clip, MemoryKind::device);
  for (const auto& [profile, preset, name] : kEncoders) {
    Config constant = config_of(clip, preset, 0);
    constant.profile = profile;
    double usual = 0;
    const auto row = [&](const char* mode, const Config& config) {
      const Controlled result = measure(config, pool, run.quick);
      if (usual == 0) usual = result.frames_per_second;
      run.report.row("rate control", {{"clip", clip.name},
                                      {"profile", profile == Profile::high ? "high" : "baseline"},
                                      {"preset", name},
                                      {"mode", mode},
                                      {"fps", result.frames_per_second},
                                      {"of_constant_qp", result.frames_per_second / usual, 3},
                                      {"bytes", result.bytes},
                                      {"codings", result.codings, 3},
                                      {"mean_qp", result.mean_qp, 2},
                                      {"host_us", result.host_us, 1}});
      return result;
    };
    const Controlled plain = row("qp 27", constant);
    Config config = constant;
    config.batch = 64;
    row("qp 27, batch 64", config);
    config = constant, config.aq = AdaptiveQuantisation::variance;
    row("qp 27, aq", config);
    config = constant, config.max_frame_bytes = 1 << 22;
    row("qp 27, limit out of reach", config);
    config = constant, config.crf = 27;
    row("crf 27", config);
    config.aq = AdaptiveQuantisation::off;
    row("crf 27, no aq", config);
    config = constant, config.bitrate = static_cast<std::int64_t>(8 * 25 * plain.bytes);
    row("bitrate", config);
    config.cbr = true;
    row("cbr", config);
    config = constant, config.max_frame_bytes = static_cast<std::int64_t>(plain.bytes);
    row("max-frame-bytes", config);
    config = constant, config.frame_bytes = static_cast<std::int64_t>(plain.bytes);
    row("frame-bytes", config);
  }
}

}  // namespace cu264::bench
