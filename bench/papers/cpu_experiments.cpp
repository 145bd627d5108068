// The papers' measurements on the processor: serial coders, and the quality of edge maps.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "bench/corpora.h"
#include "bench/edge_score.h"
#include "bench/papers/experiments.h"
#include "bench/papers/json_row.h"
#include "bench/papers/pgm.h"
#include "bench/papers/sweep_inputs.h"
#include "cu264/canny.h"
#include "cu264/rle.h"
#include "cu264/vle_types.h"
#include "entropy/vle/cpu_encode.h"
#include "entropy/vle/cpu_histogram.h"
#include "entropy/vle/huffman.h"

namespace cu264::bench {
namespace {

double milliseconds(const std::function<void()>& call) {
  std::vector<double> times;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    call();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[1];
}

double number(const std::vector<std::string>& arguments, std::size_t index, double otherwise) {
  return index < arguments.size() ? std::stod(arguments[index]) : otherwise;
}

std::vector<std::uint8_t> repeated(const std::vector<std::uint8_t>& bytes, std::size_t size) {
  std::vector<std::uint8_t> all;
  all.reserve(size + bytes.size());
  while (all.size() < size) all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

struct CoderTimes {
  double serial, parallel;
};

CoderTimes time_coders(const std::vector<std::uint8_t>& input) {
  const vle::CodeTable table = vle::make_code_table(vle::count_serial(input), vle::kShortCode);
  std::vector<std::uint8_t> stream(2 * input.size() + 4);
  const double parallel = milliseconds([&] { vle::encode_parallel(table, input, stream); });
  return {milliseconds([&] { vle::encode_serial(table, input, stream); }), parallel};
}

// vle-sweep-cpu [MOST MEBIBYTES]
void vle_sweep_cpu(const std::vector<std::string>& arguments) {
  const double most = number(arguments, 0, 256);
  for (const double entropy : kEntropies) {
    for (const double mebibytes : kMebibytes) {
      if (mebibytes > most) continue;
      const auto size = static_cast<std::size_t>(mebibytes * (1 << 20));
      const std::vector<std::uint8_t> part = bytes_of_entropy(entropy, std::min(size, std::size_t{4} << 20));
      const CoderTimes times = time_coders(repeated(part, size));
      JsonRow("vle-sweep-cpu")
          .number("entropy", entropy)
          .number("mebibytes", mebibytes)
          .number("serial_ms", times.serial)
          .number("parallel_ms", times.parallel)
          .print();
    }
  }
}

// vle-files-cpu MEGABYTES FILE|FOLDER ...
void vle_files_cpu(const std::vector<std::string>& arguments) {
  const auto size = static_cast<std::size_t>(number(arguments, 0, 100) * 1e6);
  for (const CorpusFile& file : read_corpora({arguments.begin() + 1, arguments.end()})) {
    const CoderTimes times = time_coders(repeated(file.bytes, size));
    JsonRow("vle-files-cpu")
        .text("file", file.name)
        .number("serial_ms", times.serial)
        .number("parallel_ms", times.parallel)
        .print();
  }
}

// rle-cpu [MOST SYMBOLS]
void rle_cpu(const std::vector<std::string>& arguments) {
  const double most = number(arguments, 0, 1e8);
  for (const unsigned average : {1u, 9u, 10000u}) {
    for (double count = 1e4; count <= most; count *= 10) {
      const std::vector<std::int32_t> input = symbols_in_runs(static_cast<std::size_t>(count), average);
      std::vector<std::int32_t> symbols(input.size());
      std::vector<std::uint32_t> lengths(input.size());
      const double time = milliseconds([&] { rle::encode(input, symbols, lengths); });
      JsonRow("rle-cpu").number("run", average).number("symbols", count).number("ms", time).print();
    }
  }
}

BinaryMap binary(const GrayPicture& picture, int least) {
  BinaryMap map{picture.width, picture.height, picture.samples};
  for (std::uint8_t& pixel : map.pixels) pixel = pixel >= least;
  return map;
}

// canny-quality PICTURE.pgm ...: with the marks in PICTURE_gt.pgm beside it (20 or more: marked)
void canny_quality(const std::vector<std::string>& arguments) {
  constexpr int kTolerance = 2, kMarked = 20;
  for (const std::string& path : arguments) {
    const std::string truth_path = path.substr(0, path.rfind(".pgm")) + "_gt.pgm";
    if (!std::filesystem::exists(truth_path)) continue;
    const GrayPicture picture = read_gray(path), marks = read_gray(truth_path);
    if (marks.samples.size() != picture.samples.size())
      throw std::runtime_error(truth_path + " has another size");
    const BinaryMap truth = binary(marks, kMarked);
    for (const bool fine : {true, false}) {
      for (const bool distributed : {false, true}) {
        canny::Params params;
        params.candidates = fine ? canny::candidates_001() : canny::candidates_003();
        params.partition = distributed ? canny::Partition::columns : canny::Partition::frame;
        canny::ExecutionOptions execution;
        execution.backend = BackendChoice::cpu;
        GrayPicture edges = picture;
        edges.samples = canny::detect(params, picture.samples.data(), picture.width, picture.width,
                                      picture.height, execution);
        const EdgeScore result = score(binary(edges, 1), truth, kTolerance);
        JsonRow("canny-quality")
            .text("picture", picture.name)
            .number("width", picture.width)
            .number("height", picture.height)
            .text("set", fine ? "C0.01" : "C0.03")
            .text("method", distributed ? "distributed" : "frame")
            .number("mse", result.mse)
            .number("f", result.f)
            .print();
      }
    }
  }
}

}  // namespace

std::vector<Experiment> cpu_experiments() {
  return {{"vle-sweep-cpu", "[MOST_MEBIBYTES]", vle_sweep_cpu},
          {"vle-files-cpu", "MEGABYTES FILE ...", vle_files_cpu},
          {"rle-cpu", "[MOST_SYMBOLS]", rle_cpu},
          {"canny-quality", "PICTURE.pgm ...", canny_quality}};
}

}  // namespace cu264::bench
