// Compares run-length coding with CUB's and prints Markdown.
//
//   bench_rle [RUNS]
//
// Figures are medians of RUNS (50) calls, including what the calls zero. "GB/s" counts the input. The floor
// is the time of a copy by the runtime of as many bytes as must be read and written. Every result is
// compared with CUB's, that of the decoder with the input.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/version.cuh>
#include <exception>
#include <random>

#include "bench/device_timing.cuh"
#include "cu264/rle.h"
#include "entropy/rle/published/parle.h"

namespace {

using namespace cu264;
using namespace cu264::bench;

void require(bool right, const char* what) {
  if (!right) throw std::runtime_error(std::string(what) + " is wrong");
}

// Makes runs of 1 to 2 * average - 1 symbols.
template <class T>
std::vector<T> make_input(std::size_t count, unsigned average) {
  std::mt19937 random(7);
  std::vector<T> input(count);
  T symbol{};
  for (std::size_t i = 0; i < count;) {
    symbol = static_cast<T>(symbol + 1 + random() % 100);
    const std::size_t end = std::min<std::size_t>(count, i + 1 + random() % (2 * average - 1));
    for (; i < end; ++i) input[i] = symbol;
  }
  return input;
}

template <class T>
void bench_runs(const char* type, std::size_t bytes, unsigned average, int runs, bool cpu) {
  const std::size_t count = bytes / sizeof(T);
  const std::vector<T> input = make_input<T>(count, average);
  const DeviceBuffer<T> d_input(count), d_symbols(count), d_expected_symbols(count);
  const DeviceBuffer<std::uint32_t> d_lengths(count), d_expected_lengths(count);
  const DeviceBuffer<std::uint64_t> d_count(1), d_expected_count(1);
  check_cuda(cudaMemcpy(d_input.data(), input.data(), bytes, cudaMemcpyHostToDevice), "upload");
  const auto items = static_cast<std::int64_t>(count);
  std::size_t cub_bytes = 0;
  const auto cub_encode = [&](void* d_scratch) {
    check_cuda(
        cub::DeviceRunLengthEncode::Encode(d_scratch, cub_bytes, d_input.data(), d_expected_symbols.data(),
                                           d_expected_lengths.data(), d_expected_count.data(), items),
        "CUB");
  };
  cub_encode(nullptr);
  const DeviceBuffer<char> d_cub(cub_bytes);
  const double cub = median_milliseconds(runs, [&] { cub_encode(d_cub.data()); });
  std::uint64_t run_count = 0;
  check_cuda(cudaMemcpy(&run_count, d_expected_count.data(), sizeof run_count, cudaMemcpyDeviceToHost),
             "download");
  const std::size_t moved = bytes + run_count * (sizeof(T) + 4);
  const double copy = copy_milliseconds(runs, moved);
  const auto line = [&](const char* name, double time) {
    std::printf("| %s | %zu | %.1f | %s | %.4f | %.0f | %.0f %% | %.2f |\n", type, bytes / 1000000,
                static_cast<double>(count) / static_cast<double>(run_count), name, time,
                static_cast<double>(bytes) / time / 1e6, 100 * copy / time, cub / time);
  };
  line("CUB", cub);
  const rle::EncodeArrays<T> arrays{d_input.data(), count, d_symbols.data(), d_lengths.data(),
                                    d_count.data()};
  for (const bool published : {false, true}) {
    const DeviceBuffer<char> d_scratch(published ? rle::parle_scratch_bytes(count)
                                                 : rle::encode_scratch_bytes(count));
    const auto encode = [&](void* d_memory) {
      if (published)
        rle::launch_parle(arrays, d_memory, nullptr);
      else
        rle::launch_encode(arrays, d_memory, nullptr);
    };
    const double time = median_milliseconds(runs, [&] { encode(d_scratch.data()); });
    require(same_bytes(d_count.data(), d_expected_count.data(), 8), "the number of runs");
    require(same_bytes(d_symbols.data(), d_expected_symbols.data(), run_count * sizeof(T)), "a symbol");
    require(same_bytes(d_lengths.data(), d_expected_lengths.data(), run_count * 4), "a length");
    line(published ? "PARLE" : "`device_encode`", time);
  }
  const DeviceBuffer<T> d_output(count);
  std::size_t scratch = 0;
  const auto decode = [&](void* d_scratch) {
    rle::device_decode(d_scratch, scratch, d_symbols.data(), d_lengths.data(), run_count, d_output.data(),
                       count, d_count.data(), nullptr);
  };
  decode(nullptr);
  const DeviceBuffer<char> d_scratch(scratch);
  const double time = median_milliseconds(runs, [&] { decode(d_scratch.data()); });
  require(same_bytes(d_output.data(), d_input.data(), bytes), "a decoded symbol");
  line("`device_decode`", time);
  if (cpu) {
    std::vector<T> symbols(count);
    std::vector<std::uint32_t> lengths(count);
    rle::encode(input, symbols, lengths);
    const auto start = std::chrono::steady_clock::now();
    rle::encode(input, symbols, lengths);
    line("serial CPU",
         std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 50;
    std::printf("# Run-length coding\n\n%s, CUB %d.%d.%d\n\n", device_name().c_str(), CUB_MAJOR_VERSION,
                CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    std::printf("| symbols | MB | symbols a run | | ms | GB/s | floor / time | CUB's time / ours |\n");
    std::printf("|---|---:|---:|---|---:|---:|---:|---:|\n");
    for (const std::size_t bytes : {std::size_t{100000000}, std::size_t{1} << 30}) {
      const bool small = bytes == 100000000;
      bench_runs<std::uint8_t>("uint8", bytes, 9, runs, small);
      bench_runs<std::int32_t>("int32", bytes, 9, runs, small);
    }
    bench_runs<std::uint8_t>("uint8", 100000000, 1, runs, false);
    bench_runs<std::int32_t>("int32", 100000000, 1, runs, false);
    bench_runs<std::uint8_t>("uint8", 100000000, 10000, runs, false);
    bench_runs<std::int32_t>("int32", 100000000, 10000, runs, false);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_rle: %s\n", error.what());
    return 1;
  }
  return 0;
}
