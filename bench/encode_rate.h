// Sets up the whole encoder for the benchmarks and measures its steady rate.
#pragma once

#include <utility>
#include <vector>

#include "bench/gpu_bench.h"
#include "cu264/encoder.h"

namespace cu264::bench {

inline constexpr std::pair<Preset, const char*> kPresets[] = {
    {Preset::fast, "fast"}, {Preset::balanced, "balanced"}, {Preset::best, "best"}};

// A configuration with QP 27 on the first device. Batch 0 is the size that fills the device.
Config config_of(const Clip& clip, Preset preset, int batch, int slices = 1);

struct Rate {
  double frames_per_second = 0;
  double bytes = 0;  // bytes per frame
  int batch = 0;     // pictures per batch
};

// Measures the rate of packets received in host memory, from the last packet of a batch to the last packet
// of a later one, after two batches on each device. The result is the median of three measurements, each of
// at least four batches on each device.
Rate measure_rate(const Config& config, const FramePool& pool, bool quick);

// Measures the milliseconds from send to the packet, picture by picture, while nothing else is being encoded.
// The caller polls until the packet is there.
std::vector<double> measure_latency(const Config& config, const FramePool& pool, bool quick);

}  // namespace cu264::bench
