// Times the whole encoder on the GPU: repeated real frames in device memory or in pinned host memory,
// packets in host memory, QP 27. Reports frames per second, milliseconds of the stages, latency, memory, and
// nvJPEG on the same frames. Prints tables, and writes them as JSON to a file.
//
//   bench_encode [--only TABLE[,TABLE...] | --pipeline] [--quick] [--tile] [--json FILE]
//                CLIP.yuv WIDTHxHEIGHT [CLIP.yuv WIDTHxHEIGHT ...]
//
// --only selects from opening, memory, rates, options, guides, devices, aq, rate_control, encryption, stages,
// pipeline, latency and nvjpeg; without it, all but guides, rate_control, encryption and pipeline are
// measured. --pipeline is --only pipeline: the papers' stages beside those of production and the papers'
// baselines. --quick makes
// short runs with fewer batch sizes. --tile measures rates, stages, latency, memory and encryption of each
// clip also at twice its width and height, which makes 4K of 1080p.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/encode_tables.h"
#include "bench/gpu_bench.h"
#include "common/cuda/error_check.h"
#include "cu264/device.h"

namespace cu264::bench {
namespace {

struct Table {
  const char* name;
  void (*report)(const Clip&, Run&);
  bool by_default = true;
  bool tiled = false;  // --tile measures larger frames, too
};

constexpr Table kTables[] = {{"opening", report_opening},
                             {"memory", report_memory, true, true},
                             {"rates", report_rates, true, true},
                             {"options", report_options},
                             {"guides", report_guides, false},
                             {"devices", report_devices},
                             {"aq", report_adaptive_quantisation},
                             {"rate_control", report_rate_control, false},
                             {"encryption", report_encryption, false, true},
                             {"stages", report_stages, true, true},
                             {"pipeline", report_pipeline, false},
                             {"latency", report_latency, true, true},
                             {"nvjpeg", report_nvjpeg}};

constexpr char kUsage[] =
    "usage: bench_encode [--only TABLE[,TABLE...] | --pipeline] [--quick] [--tile] [--json FILE] CLIP.yuv "
    "WIDTHxHEIGHT "
    "[...]";

struct Options {
  std::vector<Table> tables;
  std::string json;
  bool quick = false;
  bool tile = false;
  std::vector<Clip> clips;
};

// Returns the named tables in the order of kTables. Throws std::runtime_error.
std::vector<Table> tables_named(const std::string& names) {
  bool wanted[std::size(kTables)] = {};
  std::istringstream list(names + ",");
  for (std::string name; std::getline(list, name, ',');) {
    const Table* const at =
        std::find_if(std::begin(kTables), std::end(kTables), [&](const Table& t) { return name == t.name; });
    if (at == std::end(kTables)) {
      std::string known;
      for (const Table& table : kTables) known += std::string(known.empty() ? "" : ", ") + table.name;
      throw std::runtime_error("--only knows no table '" + name + "'; it knows " + known);
    }
    wanted[at - kTables] = true;
  }
  std::vector<Table> tables;
  for (std::size_t i = 0; i < std::size(kTables); ++i)
    if (wanted[i]) tables.push_back(kTables[i]);
  return tables;
}

// Throws std::runtime_error.
Options parse(int argc, char** argv) {
  Options options;
  std::copy_if(std::begin(kTables), std::end(kTables), std::back_inserter(options.tables),
               [](const Table& table) { return table.by_default; });
  std::vector<std::string> clips;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw std::runtime_error(word + " needs a value\n" + kUsage);
      return argv[++i];
    };
    if (word == "--quick") {
      options.quick = true;
    } else if (word == "--tile") {
      options.tile = true;
    } else if (word == "--pipeline") {
      options.tables = tables_named("pipeline");
    } else if (word == "--only") {
      options.tables = tables_named(value());
    } else if (word == "--json") {
      options.json = value();
    } else if (word.rfind("--", 0) == 0) {
      throw std::runtime_error("unknown option " + word + "\n" + kUsage);
    } else {
      clips.push_back(word);
    }
  }
  if (clips.empty() || clips.size() % 2 != 0)
    throw std::runtime_error(std::string("each clip needs its size\n") + kUsage);
  for (std::size_t i = 0; i < clips.size(); i += 2)
    options.clips.push_back(read_clip(clips[i], clips[i + 1]));
  return options;
}

void report_machine(Run& run) {
  const DeviceInfo device = cuda_devices().at(0);
  int runtime = 0;
  check_cuda(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
  run.report.row("machine", {{"device", device.name},
                             {"compute", device.compute_major + 0.1 * device.compute_minor, 1},
                             {"multiprocessors", device.multiprocessors},
                             {"cuda", runtime / 1000 + 0.1 * (runtime % 1000 / 10), 1}});
  run.report.row("copy ceilings, GB/s", {{"device_to_device", 1e-9 * run.copies.device},
                                         {"host_to_device", 1e-9 * run.copies.to_device, 1},
                                         {"device_to_host", 1e-9 * run.copies.to_host, 1}});
}

void measure(const Options& options) {
  const StopWatch watch;
  check_cuda(cudaFree(nullptr), "making a context");
  const double context_ms = 1e3 * watch.seconds();
  Run run{measure_copies(), options.quick, {}, context_ms};
  report_machine(run);
  for (const Table& table : options.tables) {
    for (const Clip& clip : options.clips) {
      table.report(clip, run);
      if (options.tile && table.tiled) table.report(tiled(clip), run);
    }
  }
  if (!options.json.empty()) write_file(options.json, run.report.json());
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  try {
    cu264::bench::measure(cu264::bench::parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_encode: %s\n", error.what());
    return 2;
  }
  return 0;
}
