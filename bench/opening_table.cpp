// Measures where the time of opening an encoder goes.
#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "bench/encode_rate.h"
#include "bench/encode_tables.h"
#include "common/cuda/memory_cache.h"
#include "cu264/encoder.h"

namespace cu264::bench {
namespace {

double opening_milliseconds(const Config& config) {
  const StopWatch watch;
  const Encoder encoder(config);
  return 1e3 * watch.seconds();
}

}  // namespace

// Must run before anything else opens an encoder, because the first opening includes what happens only once
// in a process.
void report_opening(const Clip& clip, Run& run) {
  const Config config = config_of(clip, Preset::fast, 0);
  const auto row = [&](const char* what, double ms) {
    run.report.row("opening", {{"clip", clip.name}, {"what", what}, {"ms", ms, 3}});
  };
  const double first = opening_milliseconds(config);
  std::vector<double> uncached, cached, closing, device_memory, pinned_memory;
  const MemoryRequirement memory = memory_required(config);
  for (int i = 0; i < 5; ++i) {
    release_cached_memory();
    uncached.push_back(opening_milliseconds(config));
    release_cached_memory();
    const StopWatch for_device;
    const CachedMemory device = take_device(memory.device, 0);
    device_memory.push_back(1e3 * for_device.seconds());
    const StopWatch for_pinned;
    const CachedMemory pinned = take_pinned(memory.pinned);
    pinned_memory.push_back(1e3 * for_pinned.seconds());
  }
  opening_milliseconds(config);
  for (int i = 0; i < 20; ++i) {
    const StopWatch open;
    auto encoder = std::make_unique<Encoder>(config);
    cached.push_back(1e3 * open.seconds());
    const StopWatch close;
    encoder.reset();
    closing.push_back(1e3 * close.seconds());
  }
  row("context", run.context_ms);
  row("first opening, without the context", first);
  row("of it modules and the first launches", first - median(uncached));
  row("opening with memory from the driver", median(uncached));
  row("of it device memory", median(device_memory));
  row("page-locked memory, with buffers for frames from the host", median(pinned_memory));
  row("opening with cached memory: streams, events, tables", median(cached));
  row("closing", median(closing));
}

}  // namespace cu264::bench
