// PARLE on the GPU: its own four kernels, and the library's single pass, over sizes and lengths of runs.
#include <stdexcept>

#include "bench/device_timing.cuh"
#include "bench/papers/gpu_experiments.h"
#include "bench/papers/json_row.h"
#include "bench/papers/sweep_inputs.h"
#include "cu264/rle.h"
#include "entropy/rle/published/parle.h"

namespace cu264::bench {
namespace {

constexpr int kRuns = 15;

void time_runs(std::size_t count, unsigned average) {
  const std::vector<std::int32_t> input = symbols_in_runs(count, average);
  std::vector<std::int32_t> symbols(count);
  std::vector<std::uint32_t> lengths(count);
  const std::size_t runs = rle::encode(input, symbols, lengths);
  const DeviceBuffer<std::int32_t> d_input(count), d_symbols(count), d_expected(count);
  const DeviceBuffer<std::uint32_t> d_lengths(count);
  const DeviceBuffer<std::uint64_t> d_runs(1);
  check_cuda(cudaMemcpy(d_input.data(), input.data(), count * 4, cudaMemcpyHostToDevice), "upload");
  check_cuda(cudaMemcpy(d_expected.data(), symbols.data(), runs * 4, cudaMemcpyHostToDevice), "upload");
  const rle::EncodeArrays<std::int32_t> arrays{d_input.data(), count, d_symbols.data(), d_lengths.data(),
                                               d_runs.data()};
  for (const bool published : {true, false}) {
    const DeviceBuffer<char> d_scratch(published ? rle::parle_scratch_bytes(count)
                                                 : rle::encode_scratch_bytes(count));
    const double time = median_milliseconds(kRuns, [&] {
      if (published)
        rle::launch_parle(arrays, d_scratch.data(), nullptr);
      else
        rle::launch_encode(arrays, d_scratch.data(), nullptr);
    });
    std::uint64_t found = 0;
    check_cuda(cudaMemcpy(&found, d_runs.data(), sizeof found, cudaMemcpyDeviceToHost), "download");
    if (found != runs || !same_bytes(d_symbols.data(), d_expected.data(), runs * 4))
      throw std::runtime_error("wrong runs");
    JsonRow("rle-sweep")
        .number("run", average)
        .number("symbols", static_cast<double>(count))
        .number("runs", static_cast<double>(runs))
        .text("coder", published ? "PARLE" : "device_encode")
        .number("ms", time)
        .print();
  }
}

}  // namespace

void rle_sweep(const Arguments& arguments) {
  const double most = arguments.empty() ? 1e8 : std::stod(arguments[0]);
  for (const unsigned average : {1u, 9u, 10000u}) {
    for (double count = 1e4; count <= most; count *= 10) time_runs(static_cast<std::size_t>(count), average);
  }
}

}  // namespace cu264::bench
