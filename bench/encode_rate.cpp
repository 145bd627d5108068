#include "bench/encode_rate.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace cu264::bench {

Config config_of(const Clip& clip, Preset preset, int batch, int slices) {
  Config config;
  config.profile = Profile::baseline;  // the profile that all earlier builds were measured with
  config.width = clip.width, config.height = clip.height;
  config.preset = preset;
  config.batch = batch;
  config.slices = slices;
  config.backend = BackendChoice::cuda;
  config.input_format = PixelFormat::i420;
  return config;
}

Rate measure_rate(const Config& config, const FramePool& pool, bool quick) {
  constexpr int kWarmUpRounds = 2, kRepeats = 3, kMinRounds = 4;
  const double seconds = quick ? 0.1 : 1;
  Encoder encoder(config);
  const int batch = encoder.info().batch;
  // Devices take batches in turn; in a round each of them takes one.
  const int round = batch * std::max(1, static_cast<int>(config.devices.size()));
  std::uint64_t sent = 0;
  double bytes = 0;
  const auto receive_round = [&] {
    for (int received = 0; received < round; ++received) {
      while (encoder.send(pool.frame(sent))) ++sent;
      bytes += static_cast<double>(encoder.receive().value().data.size());
    }
  };
  for (int i = 0; i < kWarmUpRounds; ++i) receive_round();
  bytes = 0;
  double frames = 0;
  std::vector<double> rates;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const StopWatch watch;
    int rounds = 0;
    double took = 0;
    for (; rounds < kMinRounds || took < seconds; took = watch.seconds(), ++rounds) receive_round();
    took = watch.seconds();
    frames += rounds * round;
    rates.push_back(rounds * round / took);
  }
  return {median(std::move(rates)), bytes / frames, batch};
}

std::vector<double> measure_latency(const Config& config, const FramePool& pool, bool quick) {
  constexpr int kWarmUp = 5;
  const int runs = quick ? 15 : 50;
  Encoder encoder(config);
  std::vector<double> times;
  for (int i = 0; i < runs + kWarmUp; ++i) {
    const Frame frame = pool.frame(static_cast<std::uint64_t>(i));
    const StopWatch watch;
    encoder.send(frame);
    while (!encoder.receive()) continue;
    if (i >= kWarmUp) times.push_back(1e3 * watch.seconds());
  }
  return times;
}

}  // namespace cu264::bench
