// The tables of the GVLE paper (thesis 2.3, section 4) on the GPU at hand, as Markdown.
//
//   bench_vle [--mb N]... [--runs N] [--cpu] [--sweep] [--variants] [--once ENCODER] [FILE|FOLDER]...
//
// Files (default: folder corpora of $CU264_TEST_DATA) are repeated to at least N megabytes (default: 100 and
// 1000). One warm-up and 50 runs (as many as fit in a second), medians. --cpu times the CPU too, at the first
// size. --sweep times all sizes of thread blocks, --variants those of PAVLE and CUVLE, on the first file.
// --once launches one encoder once a file and prints nothing: for a profiler.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "bench/vle_workload.h"
#include "entropy/vle/published/cuvle.h"
#include "entropy/vle/published/pavle.h"

namespace {

using namespace cu264::bench;

struct Options {
  std::vector<std::string> paths;
  std::vector<std::size_t> megabytes;
  int runs = 50;
  bool cpu = false, sweep = false, variants = false;
  std::string once;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw std::runtime_error(argument + " needs a value");
      return argv[++i];
    };
    if (argument == "--mb")
      options.megabytes.push_back(std::stoul(value()));
    else if (argument == "--runs")
      options.runs = std::max(1, std::stoi(value()));
    else if (argument == "--once")
      options.once = value();
    else if (argument == "--cpu")
      options.cpu = true;
    else if (argument == "--sweep")
      options.sweep = true;
    else if (argument == "--variants")
      options.variants = true;
    else if (argument.rfind("--", 0) == 0)
      throw std::runtime_error("unknown option " + argument);
    else
      options.paths.push_back(argument);
  }
  if (options.paths.empty()) {
    const char* const data = std::getenv("CU264_TEST_DATA");
    if (data == nullptr) throw std::runtime_error("name files, or set CU264_TEST_DATA");
    options.paths.push_back(std::string(data) + "/corpora");
  }
  if (options.megabytes.empty()) options.megabytes = {100, 1000};
  return options;
}

// What was measured on one file.
struct Row {
  std::string file;
  std::size_t size = 0, coded = 0;
  double copy = 0, histogram = 0;
  CpuTimes cpu;
  std::vector<ScanTimes> scans;
  std::vector<EncodeTimes> times;  // of each encoder

  double gigabytes(double milliseconds) const { return static_cast<double>(size) / milliseconds / 1e6; }
};

// Beside the corpora: what the longest codes, and codes without pattern, cost.
std::vector<std::pair<CorpusFile, int>> with_synthetic(const std::vector<CorpusFile>& files) {
  std::vector<std::pair<CorpusFile, int>> inputs;
  for (const CorpusFile& file : files) inputs.emplace_back(file, 0);
  CorpusFile random{"(random bytes)", std::vector<std::uint8_t>(1000003)};
  std::uint32_t state = 1;
  for (auto& byte : random.bytes)
    byte = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  inputs.emplace_back(random, 0);
  random.name = "(all codes 16 bits)";
  inputs.emplace_back(random, 16);
  return inputs;
}

Row measure(const CorpusFile& file, int forced_length, std::size_t megabytes, bool cpu, bool scans, int runs,
            const std::vector<BenchEncoder>& encoders) {
  VleWorkload workload(file, megabytes * 1000000, forced_length);
  Row row{file.name, workload.size(), workload.coded_bytes(), 0, 0, {}, {}, {}};
  if (cpu) row.cpu = workload.time_cpu();
  for (const BenchEncoder& encoder : encoders) {
    row.times.push_back(workload.time(encoder, encoder.published ? encoder.published->threads : 0, runs));
    if (!workload.is_expected()) throw std::runtime_error(encoder.name + " coded " + file.name + " wrongly");
  }
  row.copy = workload.copy_milliseconds(runs);
  row.histogram = workload.histogram_milliseconds(runs);
  if (scans) row.scans = workload.time_scans(runs);
  return row;
}

void print_rule(std::size_t columns) {
  std::printf("|---|");
  for (std::size_t i = 1; i < columns; ++i) std::printf("---:|");
  std::printf("\n");
}

void print_files(const std::vector<Row>& rows, const std::vector<BenchEncoder>& encoders) {
  const bool has_cpu = rows[0].cpu.serial > 0;
  std::printf(
      "Kernel time, ms (of those that zero the output first, + what that takes):\n\n| file | ratio | copy |");
  for (const BenchEncoder& encoder : encoders) std::printf(" %s |", encoder.name.c_str());
  std::printf(" histogram |%s\n", has_cpu ? " serial CPU | all CPU threads |" : "");
  print_rule(encoders.size() + 4 + (has_cpu ? 2 : 0));
  for (const Row& row : rows) {
    std::printf("| %s | %.3f | %.4f |", row.file.c_str(),
                static_cast<double>(row.coded) / static_cast<double>(row.size), row.copy);
    for (const EncodeTimes& time : row.times) {
      if (time.whole > time.kernel)
        std::printf(" %.4f + %.4f |", time.kernel, time.whole - time.kernel);
      else
        std::printf(" %.4f |", time.kernel);
    }
    std::printf(" %.4f |", row.histogram);
    if (has_cpu) std::printf(" %.1f | %.1f |", row.cpu.serial, row.cpu.parallel);
    std::printf("\n");
  }
  std::printf("\nGB/s of input, and share of a device copy of the same bytes, %%:\n\n| file |");
  for (const BenchEncoder& encoder : encoders) std::printf(" %s |", encoder.name.c_str());
  std::printf("\n");
  print_rule(encoders.size() + 1);
  for (const Row& row : rows) {
    std::printf("| %s |", row.file.c_str());
    for (const EncodeTimes& time : row.times)
      std::printf(" %.0f (%.0f) |", row.gigabytes(time.kernel), 100 * row.copy / time.kernel);
    std::printf("\n");
  }
}

struct Statistics {
  double average = 0, minimum = 0, maximum = 0;
};

template <class Value>
Statistics statistics(const std::vector<Row>& rows, const Value& value) {
  Statistics result{0, value(rows[0]), value(rows[0])};
  for (const Row& row : rows) {
    result.average += value(row) / static_cast<double>(rows.size());
    result.minimum = std::min(result.minimum, value(row));
    result.maximum = std::max(result.maximum, value(row));
  }
  return result;
}

// Tables 2 to 6: each step of the ablation; with the factors of the paper's RTX 2080.
void print_ablation(const std::vector<Row>& rows, const std::vector<BenchEncoder>& encoders) {
  struct Step {
    int table;
    const char *from, *to, *change;
    double paper;
  };
  const Step steps[] = {{2, "yavle", "exp_vlet", "split code table", 1.21},
                        {3, "exp_vlet", "exp_gm", "coalesced global memory", 1.53},
                        {4, "exp_gm", "exp_reg", "thread-codes in registers", 1.23},
                        {5, "exp_reg", "gvle", "inter-block scan", 1.14},
                        {6, "yavle", "gvle", "all", 2.57}};
  const auto average = [&](const char* name) {
    const auto encoder =
        std::find_if(encoders.begin(), encoders.end(), [&](const auto& e) { return e.name == name; });
    const auto i = static_cast<std::size_t>(encoder - encoders.begin());
    return statistics(rows, [&](const Row& row) { return row.times[i].kernel; }).average;
  };
  std::printf("\n| table | from | to | what changes | ms | ms | improvement | the paper's |\n");
  print_rule(8);
  for (const Step& step : steps) {
    const double from = average(step.from), to = average(step.to);
    std::printf("| %d | %s | %s | %s | %.4f | %.4f | %.2fx | %.2fx |\n", step.table, step.from, step.to,
                step.change, from, to, from / to, step.paper);
  }
}

// Table 7.
void print_statistics(const std::vector<Row>& rows, const std::vector<BenchEncoder>& encoders) {
  std::size_t gvle = 0;
  while (encoders[gvle].name != "gvle") ++gvle;
  std::printf("\nTable 7:\n\n| | average | minimum | maximum |\n");
  print_rule(4);
  const auto print = [&](const std::string& name, const auto& runtime, const char* decimals) {
    const std::string line = "| %s | " + std::string(decimals) + " | " + decimals + " | " + decimals + " |\n";
    const Statistics time = statistics(rows, runtime);
    std::printf(line.c_str(), (name + ", ms").c_str(), time.average, time.minimum, time.maximum);
    const Statistics factor =
        statistics(rows, [&](const Row& row) { return runtime(row) / row.times[gvle].kernel; });
    std::printf("| GVLE is faster by | %.2fx | %.2fx | %.2fx |\n", factor.average, factor.minimum,
                factor.maximum);
  };
  for (std::size_t i = 0; i < encoders.size(); ++i) {
    const auto kernel = [i](const Row& row) { return row.times[i].kernel; };
    print(encoders[i].name, kernel, "%.4f");
  }
  const auto serial = [](const Row& row) { return row.cpu.serial; };
  if (serial(rows[0]) > 0) print("serial CPU", serial, "%.1f");
}

void print_scans(const std::vector<Row>& rows) {
  std::printf(
      "\nTable 8, scans of the input's words:\n\n| | average | minimum | maximum | GVLE_scan is faster by "
      "|\n");
  print_rule(5);
  for (std::size_t i = 0; i < rows[0].scans.size(); ++i) {
    const Statistics time = statistics(rows, [i](const Row& row) { return row.scans[i].milliseconds; });
    const Statistics factor = statistics(
        rows, [i](const Row& row) { return row.scans[i].milliseconds / row.scans[0].milliseconds; });
    std::printf("| %s, ms | %.4f | %.4f | %.4f | %.2fx |\n", rows[0].scans[i].name, time.average,
                time.minimum, time.maximum, factor.average);
  }
}

// Figure 7.
void print_sweep(const CorpusFile& file, std::size_t megabytes, const std::vector<BenchEncoder>& encoders) {
  VleWorkload workload(file, megabytes * 1000000);
  std::printf("\n## Thread-block sizes: %s, %zu MB, kernel time in ms\n\n| threads |", file.name.c_str(),
              megabytes);
  for (const BenchEncoder& encoder : encoders)
    if (encoder.published) std::printf(" %s |", encoder.name.c_str());
  std::printf("\n");
  print_rule(1 + static_cast<std::size_t>(std::count_if(encoders.begin(), encoders.end(), [](const auto& e) {
               return e.published != nullptr;
             })));
  for (int threads = 32; threads <= 1024; threads += 32) {
    std::printf("| %d |", threads);
    for (const BenchEncoder& encoder : encoders) {
      if (!encoder.published) continue;
      if (threads > encoder.published->most_threads)
        std::printf(" |");
      else
        std::printf(" %.4f |", workload.time(encoder, threads, 10).kernel);
    }
    std::printf("\n");
  }
}

void print_variants(const CorpusFile& file, std::size_t megabytes) {
  VleWorkload workload(file, megabytes * 1000000);
  std::printf("\n## Variants: %s, %zu MB\n\n| variant | kernel, ms | GB/s of input |\n", file.name.c_str(),
              megabytes);
  print_rule(3);
  const auto print = [&](const cu264::vle::PublishedEncoder& variant) {
    const double time = workload.time({variant.name, &variant, {}}, variant.threads, 20).kernel;
    std::printf("| %s | %.4f | %.0f |\n", variant.name, time,
                static_cast<double>(workload.size()) / time / 1e6);
  };
  for (const auto& variant : cu264::vle::cuvle_variants()) print(variant);
  for (const auto& variant : cu264::vle::pavle_variants()) print(variant);
}

void run(const Options& options) {
  const std::vector<CorpusFile> files = read_corpora(options.paths);
  const std::vector<BenchEncoder> encoders = bench_encoders();
  if (!options.once.empty()) {
    for (const BenchEncoder& encoder : encoders) {
      if (encoder.name != options.once && options.once != "all") continue;
      for (const CorpusFile& file : files)
        VleWorkload(file, options.megabytes[0] * 1000000).run_once(encoder);
    }
    return;
  }
  std::printf("# Variable-length encoders\n\n%s\n", device_description().c_str());
  for (const std::size_t megabytes : options.megabytes) {
    std::vector<Row> rows;
    for (const auto& [file, forced_length] : with_synthetic(files)) {
      const bool first = megabytes == options.megabytes[0];
      rows.push_back(
          measure(file, forced_length, megabytes, options.cpu && first, first, options.runs, encoders));
    }
    std::printf("\n## %zu MB\n\n", megabytes);
    print_files(rows, encoders);
    rows.resize(files.size());  // the paper's averages are over its files
    print_ablation(rows, encoders);
    print_statistics(rows, encoders);
    if (!rows[0].scans.empty()) print_scans(rows);
    std::fflush(stdout);
  }
  if (options.variants) print_variants(files[0], options.megabytes[0]);
  if (options.sweep) print_sweep(files[0], options.megabytes[0], encoders);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_vle: %s\n", error.what());
    return 1;
  }
  return 0;
}
