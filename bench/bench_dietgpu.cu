// Compares the Huffman coder `fast` with DietGPU's ANS coder on the GPU and prints Markdown.
//
//   bench_dietgpu [--mb N] [--runs N] FILE|FOLDER...
//
// Files are repeated to at least N megabytes (100). Figures are medians of up to N runs (30) after a warm-up.
// Both have one table for all of a file. DietGPU makes its own within its time, so the histogram of `fast` is
// timed too; the table of `fast` is made on the host. DietGPU's output is decompressed and compared.
#include <dietgpu/ans/GpuANSCodec.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/device_timing.cuh"
#include "bench/vle_workload.h"

namespace {

using namespace cu264;
using namespace cu264::bench;

struct PeerTimes {
  double compress = 0, decompress = 0;  // milliseconds
  std::size_t coded = 0;                // bytes
};

PeerTimes time_dietgpu(const std::vector<std::uint8_t>& bytes, int probability_bits, int runs) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  const std::uint32_t most = dietgpu::getMaxCompressedSize(size);
  const DeviceBuffer<std::uint8_t> d_input(size), d_coded(most), d_output(size), d_success(1);
  const DeviceBuffer<std::uint32_t> d_size(1);
  check_cuda(cudaMemcpy(d_input.data(), bytes.data(), size, cudaMemcpyHostToDevice), "cudaMemcpy");
  // Its scratch memory: taken once, as DietGPU advises.
  dietgpu::StackDeviceMemory memory(0, 4 * bytes.size() + (std::size_t{256} << 20));
  const dietgpu::ANSCodecConfig config(probability_bits);
  PeerTimes times;
  times.compress = median_milliseconds(runs, [&] {
    dietgpu::ansEncodeBatchStride(memory, config, 1, d_input.data(), size, size, nullptr, d_coded.data(),
                                  most, d_size.data(), nullptr);
  });
  std::uint32_t coded = 0;
  check_cuda(cudaMemcpy(&coded, d_size.data(), sizeof coded, cudaMemcpyDeviceToHost), "cudaMemcpy");
  times.coded = coded;
  times.decompress = median_milliseconds(runs, [&] {
    dietgpu::ansDecodeBatchStride(memory, config, 1, d_coded.data(), most, d_output.data(), size, size,
                                  d_success.data(), d_size.data(), nullptr);
  });
  std::vector<std::uint8_t> output(size);
  check_cuda(cudaMemcpy(output.data(), d_output.data(), size, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (output != bytes) throw std::runtime_error("DietGPU's output is not its input");
  return times;
}

void measure(const CorpusFile& file, std::size_t megabytes, int runs) {
  VleWorkload workload(file, megabytes * 1000000);
  const std::vector<BenchEncoder> encoders = bench_encoders();
  const auto fast = std::find_if(encoders.begin(), encoders.end(),
                                 [](const BenchEncoder& encoder) { return encoder.name == "fast"; });
  const double kernel = workload.time(*fast, 0, runs).whole,
               histogram = workload.histogram_milliseconds(runs);
  const std::vector<std::uint8_t> bytes = repeated(file.bytes, megabytes * 1000000);
  const auto rate = [&](double time) { return static_cast<double>(bytes.size()) / time / 1e6; };
  const auto ratio = [&](std::size_t coded) {
    return static_cast<double>(coded) / static_cast<double>(bytes.size());
  };
  std::printf("| %s | %.0f, %.4f | %.0f |", file.name.c_str(), rate(kernel), ratio(workload.coded_bytes()),
              rate(kernel + histogram));
  for (const int probability_bits : {10, 11}) {
    const PeerTimes peer = time_dietgpu(bytes, probability_bits, runs);
    std::printf(" %.0f, %.4f | %.0f |", rate(peer.compress), ratio(peer.coded), rate(peer.decompress));
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::size_t megabytes = 100;
    int runs = 30;
    std::vector<std::string> paths;
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      if ((argument == "--mb" || argument == "--runs") && i + 1 < argc) {
        const unsigned long value = std::stoul(argv[++i]);
        if (argument == "--mb") megabytes = value;
        if (argument == "--runs") runs = std::max(1, static_cast<int>(value));
      } else if (argument.rfind("--", 0) == 0) {
        throw std::runtime_error("unknown option, or one without a value: " + argument);
      } else {
        paths.push_back(argument);
      }
    }
    if (paths.empty()) throw std::runtime_error("name files");
    std::printf("%s; %zu MB of each file, GB/s of input and output / input\n\n", device_description().c_str(),
                megabytes);
    std::printf(
        "| file | fast | fast and histogram | DietGPU, 10 bits | decompressing | DietGPU, 11 bits | "
        "decompressing |\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (const CorpusFile& file : read_corpora(paths)) measure(file, megabytes, runs);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_dietgpu: %s\n", error.what());
    return 1;
  }
}
