// The fast variable-length encoder and the GPU decoder, all in device memory: files repeated to N megabytes,
// the code of at most 16 bits for them, and uniform bytes with codes of 8 and of 16 bits.
//
//   bench_vle_decode [--mb N]... [--runs N] FILE...
//
// Medians of N runs (50). "% of copy": what a device copy that reads and writes as many bytes takes in the
// same run, against the time.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/device_timing.cuh"
#include "cu264/vle.h"
#include "entropy/vle/fast.h"
#include "entropy/vle/gpu_decode.h"
#include "support/device_array.cuh"

namespace cu264::bench {
namespace {

using test::DeviceArray;
using Bytes = std::vector<std::uint8_t>;

struct Workload {
  std::string name;
  Bytes period;
  vle::CodeTable table;
};

Workload from_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  Workload workload{
      path.substr(path.find_last_of('/') + 1), Bytes(std::istreambuf_iterator<char>(file), {}), {}};
  if (workload.period.empty()) throw std::runtime_error(path + " is empty");
  workload.table = vle::make_code_table(vle::histogram(workload.period));
  return workload;
}

Workload uniform(int bits) {
  Workload workload{std::to_string(bits) + "-bit codes", Bytes(4u << 20), {}};
  std::mt19937 random(1);
  for (auto& symbol : workload.period) symbol = static_cast<std::uint8_t>(random());
  for (int symbol = 0; symbol < vle::kSymbols; ++symbol) {
    workload.table.code[symbol] = bits == 16 ? symbol * 257u : symbol;
    workload.table.length[symbol] = static_cast<std::uint8_t>(bits);
  }
  return workload;
}

void run(const Workload& workload, std::size_t megabytes, int runs) {
  const std::size_t period = workload.period.size();
  const std::size_t size = (megabytes * 1000000 + period - 1) / period * period,
                    room = 2 * size + 4 - 2 * size % 4;
  const DeviceArray<std::uint8_t> d_input(size), d_output(room), d_back(size);
  for (std::size_t done = 0; done < size; done += period) {
    check_cuda(cudaMemcpy(d_input.data() + done, workload.period.data(), period, cudaMemcpyHostToDevice),
               "upload");
  }
  const DeviceArray<vle::CodeTable> d_table(std::vector<vle::CodeTable>{workload.table});
  const DeviceArray<vle::EncodeResult> d_result(1);
  const DeviceArray<std::uint64_t> d_index(vle::chunk_count(size));
  const DeviceArray<std::uint8_t> d_scratch(vle::fast_scratch_bytes(size));
  const vle::EncodeCall encode{
      d_input.data(),   size,   d_table.data(), d_output.data(), room, d_result.data(), d_scratch.data(),
      d_scratch.size(), nullptr};
  const double plain = median_milliseconds(runs, [&] { vle::fast_encode(encode); });
  const double indexed = median_milliseconds(runs, [&] { vle::fast_encode(encode, d_index.data()); });
  const vle::EncodeResult result = d_result.download()[0];
  const std::size_t coded = (result.bits + 7) / 8;
  const double copy = copy_milliseconds(runs, size + coded);
  const auto line = [&](const char* what, double time) {
    std::printf("%-14s %5zu %6.3f  %-22s %9.4f %7.0f %7.1f\n", workload.name.c_str(), size / 1000000,
                static_cast<double>(coded) / static_cast<double>(size), what, time,
                static_cast<double>(size) / time / 1e6, 100 * copy / time);
  };
  line("copy", copy);
  line("encode", plain);
  line("encode, index", indexed);
  const DeviceArray<vle::DecodeResult> d_decoded(1);
  for (const bool with_index : {true, false}) {
    const std::size_t stream_size = (coded + 3) / 4 * 4;
    const DeviceArray<std::uint8_t> d_work(vle::decode_scratch_bytes(stream_size, size, with_index));
    check_cuda(cudaMemset(d_back.data(), 0, size), "memset");
    const double time = median_milliseconds(with_index ? runs : std::min(runs, 10), [&] {
      vle::decode({d_output.data(), stream_size, &d_result.data()->bits, d_table.data(),
                   with_index ? d_index.data() : nullptr, d_back.data(), size, d_decoded.data(),
                   d_work.data(), d_work.size(), nullptr});
    });
    const Bytes last = [&] {
      Bytes bytes(period);
      check_cuda(cudaMemcpy(bytes.data(), d_back.data() + size - period, period, cudaMemcpyDeviceToHost),
                 "download");
      return bytes;
    }();
    if (d_decoded.download()[0].corrupt != 0 || last != workload.period) {
      throw std::runtime_error(workload.name + " does not come back");
    }
    line(with_index ? "decode, index" : "decode, without index", time);
  }
}

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::vector<std::size_t> sizes;
  int runs = 50;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if ((argument == "--mb" || argument == "--runs") && i + 1 < argc) {
      const int value = std::max(1, std::atoi(argv[++i]));
      if (argument == "--mb") sizes.push_back(value);
      if (argument == "--runs") runs = value;
    } else if (argument.rfind("--", 0) == 0) {
      throw std::runtime_error("usage: bench_vle_decode [--mb N]... [--runs N] FILE...");
    } else {
      files.push_back(argument);
    }
  }
  if (sizes.empty()) sizes = {100, 1000};
  std::vector<Workload> workloads;
  for (const std::string& file : files) workloads.push_back(from_file(file));
  workloads.push_back(uniform(8));
  workloads.push_back(uniform(16));
  std::printf("%-14s %5s %6s  %-22s %9s %7s %7s\n", "input", "MB", "ratio", "", "ms", "GB/s", "% copy");
  for (const std::size_t size : sizes) {
    for (const Workload& workload : workloads) run(workload, size, runs);
  }
  return 0;
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  try {
    return cu264::bench::main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_vle_decode: %s\n", error.what());
    return 1;
  }
}
