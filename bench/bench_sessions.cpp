// Times what users of many clips and many streams notice: opening an encoder, the next clip, small batches,
// groups of streams, waiting, and memory after thousands of clips. Frames lie in device memory, packets in
// host memory; QP 27, preset `fast`. Prints tables, and writes them as JSON to a file.
//
//   bench_sessions [--only TABLE[,TABLE...]] [--quick] [--json FILE] CLIP.yuv WIDTHxHEIGHT
//
// Tables: opening, clips, small, groups, gops, waiting, memory, teardown. `gops` has P pictures; its clip
// should be of consecutive pictures.
#include <cuda_runtime_api.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/encode_rate.h"
#include "bench/encode_tables.h"
#include "bench/gpu_bench.h"
#include "common/cuda/error_check.h"
#include "common/cuda/memory_cache.h"
#include "cu264/stream_group.h"

namespace cu264::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kClipFrames = 121;

double milliseconds(const StopWatch& watch) {
  return 1e3 * watch.seconds();
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

// The upper left part of each frame.
Clip cropped(const Clip& clip, int width, int height) {
  Clip part;
  part.name = clip.name, part.width = width, part.height = height;
  for (const std::vector<std::uint8_t>& frame : clip.frames) {
    std::vector<std::uint8_t>& samples = part.frames.emplace_back();
    std::size_t plane = 0;
    for (int p = 0; p < 3; ++p) {
      const int half = p == 0 ? 1 : 2;
      for (int y = 0; y < height / half; ++y) {
        const auto row = frame.begin() + static_cast<std::ptrdiff_t>(plane) + y * (clip.width / half);
        samples.insert(samples.end(), row, row + width / half);
      }
      plane += clip.luma_bytes() / static_cast<std::size_t>(half * half);
    }
  }
  return part;
}

int encode_clip(Encoder& encoder, const FramePool& pool, int frames) {
  int packets = 0;
  const auto take = [&encoder] { return encoder.receive().has_value(); };
  for (int i = 0; i < frames; ++i) {
    while (!encoder.send(pool.frame(static_cast<std::uint64_t>(i)))) packets += take();
  }
  encoder.flush();
  while (take()) ++packets;
  return packets;
}

void report_clips(const Clip& clip, Run& run) {
  const FramePool pool(clip, MemoryKind::device, kClipFrames);
  const Config config = config_of(clip, Preset::fast, 0);
  Encoder reused(config);
  encode_clip(reused, pool, kClipFrames);
  std::vector<double> again, opened;
  for (int i = 0; i < (run.quick ? 5 : 20); ++i) {
    const StopWatch watch;
    encode_clip(reused, pool, kClipFrames);
    again.push_back(milliseconds(watch));
  }
  { Encoder warm_up(config); }
  for (int i = 0; i < (run.quick ? 5 : 20); ++i) {
    const StopWatch watch;
    Encoder encoder(config);
    encode_clip(encoder, pool, kClipFrames);
    opened.push_back(milliseconds(watch));
  }
  run.report.row("a clip", {{"frames", kClipFrames},
                            {"reused_ms", median(again), 2},
                            {"open_to_last_packet_ms", median(opened), 2}});
}

void report_small_batches(const Clip& clip, Run& run) {
  const FramePool pool(clip, MemoryKind::device, 256);
  for (const int batch : {1, 4, 16, 32, 64}) {
    const Rate rate = measure_rate(config_of(clip, Preset::fast, batch), pool, run.quick);
    run.report.row("small batches back to back", {{"batch", batch}, {"fps", rate.frames_per_second}});
  }
  for (const int slices : {1, 8}) {
    for (const bool sleeps : {false, true}) {
      Encoder encoder(config_of(clip, Preset::fast, 1, slices));
      std::vector<double> times;
      for (int i = 0; i < 55; ++i) {
        const StopWatch watch;
        encoder.send(pool.frame(static_cast<std::uint64_t>(i)));
        while (!(sleeps ? encoder.receive(1s) : encoder.receive())) continue;
        if (i >= 5) times.push_back(milliseconds(watch));
      }
      run.report.row("latency of one picture", {{"slices", slices},
                                                {"wait", sleeps ? "sleeping" : "spinning"},
                                                {"median_ms", median(times), 3},
                                                {"p99_ms", percentile(times, 0.99), 3}});
    }
  }
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct GroupResult {
  double fps = 0;
  std::vector<double> latencies;  // milliseconds
};

// Each stream sends its next frame when the packet of the previous frame arrives. Every stream begins at
// another frame of the pool.
GroupResult run_group(const Config& config, const FramePool& pool, int streams, int in_flight,
                      double seconds) {
  StreamGroupConfig group_config;
  group_config.backend = BackendChoice::cuda;
  group_config.batches_in_flight = in_flight;
  StreamGroup group(group_config);
  std::map<StreamGroup::Stream, StopWatch> sent;
  std::map<StreamGroup::Stream, std::uint64_t> next_frame;
  std::vector<StreamGroup::Stream> all;
  for (int i = 0; i < streams; ++i) {
    all.push_back(group.open(config));
    next_frame[all.back()] = static_cast<std::uint64_t>(7 * i);
  }
  for (const StreamGroup::Stream stream : all) {
    sent[stream] = {};
    group.submit(stream, pool.frame(next_frame[stream]++), 1s);
  }
  GroupResult result;
  const double warm_up = 0.25 * seconds;
  StopWatch watch;
  double start = 0;
  std::uint64_t packets = 0;
  while (watch.seconds() < warm_up + seconds) {
    auto next = group.receive_any(1s);
    if (!next || next->error) throw std::runtime_error("a group gave no packet");
    StopWatch& own = sent[next->stream];
    if (watch.seconds() >= warm_up) {
      if (start == 0) start = watch.seconds();
      ++packets;
      result.latencies.push_back(milliseconds(own));
    }
    own = {};
    group.submit(next->stream, pool.frame(next_frame[next->stream]++), 1s);
  }
  result.fps = static_cast<double>(packets) / (watch.seconds() - start);
  return result;
}

void report_groups(const Clip& clip, Run& run) {
  const Clip small = cropped(clip, 640, 480);
  for (const Clip* const size : {&clip, &small}) {
    const FramePool pool(*size, MemoryKind::device);
    for (const int streams : {1, 4, 16, 64, 256}) {
      for (const int in_flight : {1, 2, 3, 4}) {
        if (run.quick && in_flight == 4) continue;
        const double before = processor_seconds();
        const StopWatch watch;
        const GroupResult result =
            run_group(config_of(*size, Preset::fast, 0), pool, streams, in_flight, run.quick ? 0.4 : 1.5);
        run.report.row("streams in a group",
                       {{"width", size->width},
                        {"height", size->height},
                        {"streams", streams},
                        {"batches_in_flight", in_flight},
                        {"fps", result.fps},
                        {"median_ms", median(result.latencies), 2},
                        {"p99_ms", percentile(result.latencies, 0.99), 2},
                        {"cores", (processor_seconds() - before) / watch.seconds(), 2}});
      }
    }
  }
}

// P pictures: streams of a group, GOPs of a clip beside each other, and one picture at a time; streams also
// with scene cuts.
void report_gops(const Clip& clip, Run& run) {
  const FramePool pool(clip, MemoryKind::device);
  for (const auto& [preset, name] : kPresets) {
    Config config = config_of(clip, preset, 0);
    config.gop = 30;
    for (const int streams : {1, 16, 64}) {
      for (const bool cuts : {false, true}) {
        config.scene_cuts = cuts;
        const GroupResult result = run_group(config, pool, streams, 2, run.quick ? 0.5 : 1.5);
        run.report.row(
            cuts ? "P pictures of streams in a group, with scene cuts" : "P pictures of streams in a group",
            {{"preset", name},
             {"gop", config.gop},
             {"streams", streams},
             {"fps", result.fps},
             {"median_ms", median(result.latencies), 2},
             {"p99_ms", percentile(result.latencies, 0.99), 2}});
      }
    }
    config.scene_cuts = false;
    for (const int gop : {1, 8, 30}) {
      config.gop = gop, config.batch = 128;
      Encoder encoder(config);
      encode_clip(encoder, pool, kClipFrames);
      std::vector<double> times;
      for (int i = 0; i < (run.quick ? 3 : 9); ++i) {
        const StopWatch watch;
        encode_clip(encoder, pool, kClipFrames);
        times.push_back(milliseconds(watch));
      }
      config.batch = 1;
      const std::vector<double> latency = measure_latency(config, pool, run.quick);
      run.report.row("P pictures of a clip", {{"preset", name},
                                              {"gop", gop},
                                              {"frames", kClipFrames},
                                              {"ms", median(times), 2},
                                              {"one_picture_ms", median(latency), 2}});
    }
  }
}

// Measures the share of a core that the process uses while it waits, once for nothing and once for 60
// pictures a second.
void report_waiting(const Clip& clip, Run& run) {
  const FramePool pool(clip, MemoryKind::device);
  const auto row = [&](const char* what, const auto& work) {
    const double before = processor_seconds();
    const StopWatch watch;
    work();
    run.report.row("waiting",
                   {{"for", what}, {"share_of_a_core", (processor_seconds() - before) / watch.seconds(), 4}});
  };
  StreamGroupConfig config;
  config.backend = BackendChoice::cuda;
  StreamGroup group(config);
  const StreamGroup::Stream stream = group.open(config_of(clip, Preset::fast, 0));
  row("nothing, in a group", [&] { group.receive_any(2s); });
  row("60 pictures a second, in a group", [&] {
    for (int i = 0; i < 120; ++i) {
      group.submit(stream, pool.frame(static_cast<std::uint64_t>(i)), 1s);
      group.receive_any(1s);
      std::this_thread::sleep_for(14ms);
    }
  });
  Encoder encoder(config_of(clip, Preset::best, 1));
  row("pictures of 20 ms one after another, from an encoder", [&] {
    for (int i = 0; i < 100; ++i) {
      encoder.send(pool.frame(static_cast<std::uint64_t>(i)));
      while (!encoder.receive(1s)) continue;
    }
  });
}

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  file >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void report_memory(const Clip& clip, Run& run) {
  const Clip small = cropped(clip, 320, 192);
  const FramePool pool(small, MemoryKind::device);
  const Config config = config_of(small, Preset::fast, 16);
  const auto row = [&](const char* what, int count) {
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "asking for the device's memory");
    run.report.row(
        "memory",
        {{"after", what},
         {"count", count},
         {"resident_MiB", resident_mib(), 1},
         {"device_used_MiB", static_cast<double>(total - free) / (1 << 20), 1},
         {"device_allocations", static_cast<double>(memory_cache_state(0).driver_requests)},
         {"pinned_allocations", static_cast<double>(memory_cache_state(kPinnedMemory).driver_requests)}});
  };
  const int clips = run.quick ? 1000 : 10000, openings = run.quick ? 100 : 1000;
  Encoder encoder(config);
  for (int i = 0; i < 20; ++i) encode_clip(encoder, pool, 8);
  row("clips", 20);
  for (int i = 0; i < clips; ++i) encode_clip(encoder, pool, 8);
  row("clips", clips);
  for (int i = 0; i < 20; ++i) Encoder(config).flush();
  row("openings", 20);
  for (int i = 0; i < openings; ++i) {
    Encoder another(config);
    encode_clip(another, pool, 8);
  }
  row("openings", openings);
}

// Groups and encoders end while pictures are at every stage.
void report_teardown(const Clip& clip, Run& run) {
  const Clip small = cropped(clip, 320, 192);
  const FramePool pool(small, MemoryKind::device);
  const int rounds = run.quick ? 100 : 1000;
  const StopWatch watch;
  for (int round = 0; round < rounds; ++round) {
    StreamGroupConfig config;
    config.backend = BackendChoice::cuda;
    config.batch = 8;
    StreamGroup group(config);
    std::vector<StreamGroup::Stream> streams;
    for (int i = 0; i < 6; ++i) streams.push_back(group.open(config_of(small, Preset::fast, 0)));
    for (int i = 0; i < round % 5; ++i) {
      for (const StreamGroup::Stream stream : streams)
        group.submit(stream, pool.frame(static_cast<std::uint64_t>(i)));
    }
    if (round % 2 == 0) group.receive_any(1ms);
    if (round % 3 == 0) group.close(streams[static_cast<std::size_t>(round % 6)]);
    Encoder encoder(config_of(small, Preset::fast, 4));
    for (int i = 0; i < round % 11; ++i) encoder.send(pool.frame(static_cast<std::uint64_t>(i)));
  }
  run.report.row("teardown", {{"rounds", rounds}, {"seconds", watch.seconds(), 2}});
}

constexpr struct {
  const char* name;
  void (*report)(const Clip&, Run&);
} kTables[] = {{"opening", report_opening}, {"clips", report_clips},      {"small", report_small_batches},
               {"groups", report_groups},   {"gops", report_gops},        {"waiting", report_waiting},
               {"memory", report_memory},   {"teardown", report_teardown}};

void measure(int argc, char** argv) {
  const StopWatch watch;
  check_cuda(cudaFree(nullptr), "making a context");
  Run run;
  run.context_ms = milliseconds(watch);
  std::string only, json;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      run.quick = true;
    } else if ((word == "--only" || word == "--json") && i + 1 < argc) {
      (word == "--only" ? only : json) = argv[++i];
    } else {
      words.push_back(word);
    }
  }
  if (words.size() != 2) {
    throw std::runtime_error(
        "usage: bench_sessions [--only TABLES] [--quick] [--json FILE] CLIP.yuv WIDTHxHEIGHT");
  }
  const Clip clip = read_clip(words[0], words[1]);
  std::vector<std::string> wanted;
  std::istringstream names(only);
  for (std::string name; std::getline(names, name, ',');) wanted.push_back(name);
  for (const auto& table : kTables) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), table.name) == wanted.end()) continue;
    table.report(clip, run);
    if (!json.empty()) write_file(json, run.report.json());
  }
  release_cached_memory();
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  try {
    cu264::bench::measure(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_sessions: %s\n", error.what());
    return 2;
  }
  return 0;
}
