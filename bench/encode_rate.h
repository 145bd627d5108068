// How the benchmarks of the whole encoder set it up, and steady encoding by the clock.
#pragma once

#include <utility>

#include "bench/gpu_bench.h"
#include "cu264/encoder.h"

namespace cu264::bench {

inline constexpr std::pair<Preset, const char*> kPresets[] = {
    {Preset::fast, "fast"}, {Preset::balanced, "balanced"}, {Preset::best, "best"}};

// QP 27 on the first device. Batch 0: what fills it.
Config config_of(const Clip& clip, Preset preset, int batch, int slices = 1);

struct Rate {
  double frames_per_second = 0;
  double bytes = 0;  // a frame
  int batch = 0;     // pictures
};

// Packets received in host memory, timed from the last packet of a batch to the last of a later one, after
// two batches on each device: median of three times at least four batches on each device.
Rate measure_rate(const Config& config, const FramePool& pool, bool quick);

}  // namespace cu264::bench
