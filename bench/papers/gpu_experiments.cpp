// Variable-length encoders on the GPU (PAVLE, CUVLE, YAVLE, GVLE), and the list of all experiments there.
#include "bench/papers/gpu_experiments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "bench/papers/authors_encoders.h"
#include "bench/papers/experiments.h"
#include "bench/papers/json_row.h"
#include "bench/papers/sweep_inputs.h"
#include "bench/vle_workload.h"
#include "entropy/vle/published/published_encoders.h"

namespace cu264::bench {
namespace {

constexpr int kRuns = 20;
constexpr int kFileRuns = 50;  // as the GVLE paper

void require_right(VleWorkload& workload, const std::string& name) {
  if (!workload.is_expected()) throw std::runtime_error(name + " coded wrongly");
}

// Each row of the sweep: an encoder, the threads of its blocks, and which part of it is timed.
class Sweep {
 public:
  Sweep(double entropy, double mebibytes, int longest_code = vle::kShortCode)
      : entropy_(entropy),
        mebibytes_(mebibytes),
        workload_(input(entropy, mebibytes), bytes(mebibytes), 0, longest_code) {}

  void time(const vle::PublishedEncoder& encoder, int threads, const char* part) {
    const EncodeTimes times = workload_.time({encoder.name, &encoder, {}}, threads, kRuns);
    if (std::string(part) == "all") require_right(workload_, encoder.name);
    if (workload_.is_missing()) throw std::runtime_error(std::string(encoder.name) + ": codes are too long");
    JsonRow("vle-sweep")
        .number("entropy", entropy_)
        .number("mebibytes", mebibytes_)
        .number("bytes", static_cast<double>(workload_.size()))
        .number("coded", static_cast<double>(workload_.coded_bytes()))
        .text("encoder", encoder.name)
        .number("threads", threads)
        .text("part", part)
        .number("ms", times.kernel)
        .number("with_zeroing_ms", times.whole)
        .print();
  }

 private:
  static std::size_t bytes(double mebibytes) { return static_cast<std::size_t>(mebibytes * (1 << 20)); }
  // The input has at most 4 MiB, which the workload repeats.
  static CorpusFile input(double entropy, double mebibytes) {
    return {"sweep", bytes_of_entropy(entropy, std::min(bytes(mebibytes), std::size_t{4} << 20))};
  }

  double entropy_, mebibytes_;
  VleWorkload workload_;
};

const vle::PublishedEncoder& cuvle_with(int net) {
  for (const vle::PublishedEncoder& encoder : vle::cuvle_variants()) {
    if (encoder.name == "cuvle_net" + std::to_string(net)) return encoder;
  }
  throw std::runtime_error("no CUVLE with this NET");
}

const vle::PublishedEncoder& pavle_kernel(const char* name) {
  for (const vle::PublishedEncoder& kernel : vle::pavle_kernels()) {
    if (std::string(kernel.name) == name) return kernel;
  }
  throw std::runtime_error("no such kernel of PAVLE");
}

double number(const Arguments& arguments, std::size_t index, double otherwise) {
  return index < arguments.size() ? std::stod(arguments[index]) : otherwise;
}

std::vector<CorpusFile> corpora(const Arguments& arguments) {
  return read_corpora({arguments.begin() + 1, arguments.end()});
}

void device(const Arguments&) {
  JsonRow("device").text("name", device_description()).print();
}

}  // namespace

void vle_sweep(const Arguments& arguments) {
  const double most = number(arguments, 0, 256);
  for (const double entropy : kEntropies) {
    for (const double mebibytes : kMebibytes) {
      if (mebibytes > most) continue;
      Sweep sweep(entropy, mebibytes);
      sweep.time(vle::kPavle, vle::kPavle.threads, "all");
      sweep.time(pavle_kernel("pavle"), vle::kPavle.threads, "kernel");
      for (const int threads : {128, 1024}) sweep.time(cuvle_with(16), threads, "all");
      sweep.time(vle::kGvle, vle::kGvle.threads, "all");
      if (entropy != 2.2) continue;
      // CUVLE's choice of NET, and PAVLE's figures 4 and 5, whose kernels take the codes of four symbols in
      // 32 bits.
      for (const int net : {1, 2, 4, 8}) {
        if (mebibytes <= 16) sweep.time(cuvle_with(net), 128, "all");
      }
      Sweep limited(entropy, mebibytes, 8);
      for (const vle::PublishedEncoder& kernel : vle::pavle_kernels()) {
        if (std::string(kernel.name) != "pavle") limited.time(kernel, kernel.threads, "kernel");
      }
    }
  }
}

namespace {

void print_file(const char* experiment, const CorpusFile& file, const VleWorkload& workload,
                const std::string& encoder, const EncodeTimes& times) {
  JsonRow(experiment)
      .text("file", file.name)
      .number("bytes", static_cast<double>(workload.size()))
      .number("coded", static_cast<double>(workload.coded_bytes()))
      .text("encoder", encoder)
      .number("ms", times.kernel)
      .number("with_zeroing_ms", times.whole)
      .print();
}

// The encoders of the papers' authors, in a process of their own, which they may bring down.
void vle_authors(const Arguments& arguments) {
  const auto size = static_cast<std::size_t>(number(arguments, 0, 100) * 1e6);
  for (const CorpusFile& file : corpora(arguments)) {
    VleWorkload workload(file, size);
    workload.run_once({vle::kGvle.name, &vle::kGvle, {}});
    require_right(workload, vle::kGvle.name);  // from now on the stream that is expected
    for (const AuthorsEncoder& authors : authors_encoders()) {
      workload.run_once({authors.checked.name, &authors.checked, {}});
      require_right(workload, authors.checked.name);
      const BenchEncoder timed{authors.timed.name, &authors.timed, {}};
      print_file("vle-authors", file, workload, timed.name,
                 workload.time(timed, authors.timed.threads, kFileRuns));
    }
  }
}

}  // namespace

void vle_files(const Arguments& arguments) {
  const auto size = static_cast<std::size_t>(number(arguments, 0, 100) * 1e6);
  for (const CorpusFile& file : corpora(arguments)) {
    VleWorkload workload(file, size);
    for (const BenchEncoder& encoder : bench_encoders()) {
      const int threads = encoder.published != nullptr ? encoder.published->threads : 0;
      const EncodeTimes times = workload.time(encoder, threads, kFileRuns);
      require_right(workload, encoder.name);
      print_file("vle-files", file, workload, encoder.name, times);
    }
  }
}

void vle_threads(const Arguments& arguments) {
  const auto size = static_cast<std::size_t>(number(arguments, 0, 100) * 1e6);
  for (const CorpusFile& file : corpora(arguments)) {
    VleWorkload workload(file, size);
    for (const vle::PublishedEncoder* encoder :
         {&vle::kYavle, &vle::kGvle, &vle::kYavleTuned, &vle::kGvleTuned}) {
      // GVLE's buffers fit 736 threads into 48 KB of shared memory, which no block has more of without
      // asking.
      for (int threads = 32; threads <= encoder->most_threads; threads += 32) {
        if ((encoder == &vle::kGvle || encoder == &vle::kGvleTuned) && threads > 736) break;
        JsonRow("vle-threads")
            .text("file", file.name)
            .text("encoder", encoder->name)
            .number("threads", threads)
            .number("ms", workload.time({encoder->name, encoder, {}}, threads, 10).kernel)
            .print();
      }
    }
  }
}

void vle_scans(const Arguments& arguments) {
  const auto size = static_cast<std::size_t>(number(arguments, 0, 100) * 1e6);
  for (const CorpusFile& file : corpora(arguments)) {
    VleWorkload workload(file, size);
    for (const ScanTimes& scan : workload.time_scans(10)) {
      JsonRow("vle-scans")
          .text("file", file.name)
          .text("scan", scan.name)
          .number("ms", scan.milliseconds)
          .print();
    }
  }
}

std::vector<Experiment> gpu_experiments() {
  std::vector<Experiment> experiments{{"device", "", device},
                                      {"vle-sweep", "[MOST_MEBIBYTES]", vle_sweep},
                                      {"vle-files", "MEGABYTES FILE ...", vle_files},
                                      {"vle-threads", "MEGABYTES FILE ...", vle_threads},
                                      {"vle-scans", "MEGABYTES FILE ...", vle_scans},
                                      {"rle-sweep", "[MOST_SYMBOLS]", rle_sweep},
                                      {"canny-times", "PICTURE.pgm ...", canny_times}};
  if (!authors_encoders().empty()) experiments.push_back({"vle-authors", "MEGABYTES FILE ...", vle_authors});
  return experiments;
}

}  // namespace cu264::bench
