// Compares the Huffman coder `fast` with nvCOMP's entropy coders on the GPU and prints Markdown.
//
//   bench_nvcomp [--mb N] [--runs N] FILE|FOLDER...
//
// Files are repeated to at least N megabytes (100). Figures are medians of up to N runs (30) after a warm-up.
// nvCOMP gets chunks of 64 KiB, each of which has its own table, and its output is decompressed and compared.
// `fast` has one table for all, so its histogram is timed beside it; the table itself is made on the host.
#include <nvcomp/ans.h>
#include <nvcomp/deflate.h>
#include <nvcomp/gdeflate.h>
#include <nvcomp/version.h>

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

constexpr std::size_t kChunkBytes = 65536;

void check(nvcompStatus_t status, const char* call) {
  if (status != nvcompSuccess)
    throw std::runtime_error(std::string(call) + " of nvCOMP: status " + std::to_string(status));
}

struct PeerTimes {
  double compress = 0, decompress = 0;  // milliseconds
  std::size_t coded = 0;                // bytes
};

// The functions of one of nvCOMP's formats, which have the same arguments but for the options.
template <class CompressOptions, class DecompressOptions>
struct Format {
  CompressOptions compress_options;
  DecompressOptions decompress_options;
  nvcompStatus_t (*compress_temp)(std::size_t, std::size_t, CompressOptions, std::size_t*, std::size_t,
                                  cudaStream_t);
  nvcompStatus_t (*most)(std::size_t, CompressOptions, std::size_t*);
  nvcompStatus_t (*compress)(const void* const*, const std::size_t*, std::size_t, std::size_t, void*,
                             std::size_t, void* const*, std::size_t*, CompressOptions, nvcompStatus_t*,
                             cudaStream_t);
  nvcompStatus_t (*decompress_temp)(std::size_t, std::size_t, DecompressOptions, std::size_t*, std::size_t,
                                    cudaStream_t);
  nvcompStatus_t (*decompress)(const void* const*, const std::size_t*, const std::size_t*, std::size_t*,
                               std::size_t, void*, std::size_t, void* const*, DecompressOptions,
                               nvcompStatus_t*, cudaStream_t);
};

template <class T>
void to_device(T* d_to, const std::vector<T>& from) {
  check_cuda(cudaMemcpy(d_to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
}
template <class T>
std::vector<T> to_host(const T* d_from, std::size_t count) {
  std::vector<T> to(count);
  check_cuda(cudaMemcpy(to.data(), d_from, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return to;
}

void expect_success(const nvcompStatus_t* d_statuses, std::size_t chunks) {
  for (const nvcompStatus_t status : to_host(d_statuses, chunks)) check(status, "a chunk");
}

template <class CompressOptions, class DecompressOptions>
PeerTimes time_format(const Format<CompressOptions, DecompressOptions>& format,
                      const std::vector<std::uint8_t>& bytes, int runs) {
  const std::size_t chunks = (bytes.size() + kChunkBytes - 1) / kChunkBytes;
  std::size_t most = 0, temp_bytes = 0;
  check(format.most(kChunkBytes, format.compress_options, &most), "sizing a chunk");
  most = (most + 255) / 256 * 256;
  const DeviceBuffer<std::uint8_t> d_input(chunks * kChunkBytes), d_output(chunks * kChunkBytes),
      d_coded(chunks * most);
  to_device(d_input.data(), bytes);
  std::vector<const void*> inputs;
  std::vector<void*> coded, outputs;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < chunks; ++i) {
    inputs.push_back(d_input.data() + i * kChunkBytes);
    coded.push_back(d_coded.data() + i * most);
    outputs.push_back(d_output.data() + i * kChunkBytes);
    sizes.push_back(std::min(kChunkBytes, bytes.size() - i * kChunkBytes));
  }
  const DeviceBuffer<const void*> d_inputs(chunks);
  const DeviceBuffer<void*> d_codeds(chunks), d_outputs(chunks);
  const DeviceBuffer<std::size_t> d_sizes(chunks), d_coded_sizes(chunks), d_output_sizes(chunks);
  const DeviceBuffer<nvcompStatus_t> d_statuses(chunks);
  to_device(d_inputs.data(), inputs), to_device(d_codeds.data(), coded);
  to_device(d_outputs.data(), outputs), to_device(d_sizes.data(), sizes);

  PeerTimes times;
  check(
      format.compress_temp(chunks, kChunkBytes, format.compress_options, &temp_bytes, bytes.size(), nullptr),
      "sizing the memory");
  {
    const DeviceBuffer<std::uint8_t> d_temp(temp_bytes);
    times.compress = median_milliseconds(runs, [&] {
      check(format.compress(d_inputs.data(), d_sizes.data(), kChunkBytes, chunks, d_temp.data(), temp_bytes,
                            d_codeds.data(), d_coded_sizes.data(), format.compress_options, d_statuses.data(),
                            nullptr),
            "compressing");
    });
  }
  expect_success(d_statuses.data(), chunks);
  for (const std::size_t size : to_host(d_coded_sizes.data(), chunks)) times.coded += size;
  check(format.decompress_temp(chunks, kChunkBytes, format.decompress_options, &temp_bytes, bytes.size(),
                               nullptr),
        "sizing the memory");
  const DeviceBuffer<std::uint8_t> d_temp(temp_bytes);
  times.decompress = median_milliseconds(runs, [&] {
    check(format.decompress(d_codeds.data(), d_coded_sizes.data(), d_sizes.data(), d_output_sizes.data(),
                            chunks, d_temp.data(), temp_bytes, d_outputs.data(), format.decompress_options,
                            d_statuses.data(), nullptr),
          "decompressing");
  });
  expect_success(d_statuses.data(), chunks);
  if (to_host(d_output.data(), bytes.size()) != bytes)
    throw std::runtime_error("nvCOMP's output is not its input");
  return times;
}

PeerTimes time_ans(const std::vector<std::uint8_t>& bytes, int runs) {
  nvcompBatchedANSCompressOpts_t options = nvcompBatchedANSCompressDefaultOpts;
  options.data_type = NVCOMP_TYPE_UCHAR;
  return time_format(
      Format<nvcompBatchedANSCompressOpts_t, nvcompBatchedANSDecompressOpts_t>{
          options, nvcompBatchedANSDecompressDefaultOpts, nvcompBatchedANSCompressGetTempSize,
          nvcompBatchedANSCompressGetMaxOutputChunkSize, nvcompBatchedANSCompressAsync,
          nvcompBatchedANSDecompressGetTempSize, nvcompBatchedANSDecompressAsync},
      bytes, runs);
}

// Algorithm 0 is the one without matches: entropy coding alone.
PeerTimes time_deflate(const std::vector<std::uint8_t>& bytes, int runs) {
  nvcompBatchedDeflateCompressOpts_t options = nvcompBatchedDeflateCompressDefaultOpts;
  options.algorithm = 0;
  return time_format(
      Format<nvcompBatchedDeflateCompressOpts_t, nvcompBatchedDeflateDecompressOpts_t>{
          options, nvcompBatchedDeflateDecompressDefaultOpts, nvcompBatchedDeflateCompressGetTempSize,
          nvcompBatchedDeflateCompressGetMaxOutputChunkSize, nvcompBatchedDeflateCompressAsync,
          nvcompBatchedDeflateDecompressGetTempSize, nvcompBatchedDeflateDecompressAsync},
      bytes, runs);
}

PeerTimes time_gdeflate(const std::vector<std::uint8_t>& bytes, int runs) {
  nvcompBatchedGdeflateCompressOpts_t options = nvcompBatchedGdeflateCompressDefaultOpts;
  options.algorithm = 0;
  return time_format(
      Format<nvcompBatchedGdeflateCompressOpts_t, nvcompBatchedGdeflateDecompressOpts_t>{
          options, nvcompBatchedGdeflateDecompressDefaultOpts, nvcompBatchedGdeflateCompressGetTempSize,
          nvcompBatchedGdeflateCompressGetMaxOutputChunkSize, nvcompBatchedGdeflateCompressAsync,
          nvcompBatchedGdeflateDecompressGetTempSize, nvcompBatchedGdeflateDecompressAsync},
      bytes, runs);
}

void measure(const CorpusFile& file, std::size_t megabytes, int runs) {
  VleWorkload workload(file, megabytes * 1000000);
  const std::vector<BenchEncoder> encoders = bench_encoders();
  const auto fast = std::find_if(encoders.begin(), encoders.end(),
                                 [](const BenchEncoder& encoder) { return encoder.name == "fast"; });
  const double kernel = workload.time(*fast, 0, runs).whole,
               histogram = workload.histogram_milliseconds(runs);
  const std::vector<std::uint8_t> bytes = repeated(file.bytes, megabytes * 1000000);
  const PeerTimes ans = time_ans(bytes, runs), deflate = time_deflate(bytes, runs),
                  gdeflate = time_gdeflate(bytes, runs);
  const auto rate = [&](double time) { return static_cast<double>(bytes.size()) / time / 1e6; };
  const auto ratio = [&](std::size_t coded) {
    return static_cast<double>(coded) / static_cast<double>(bytes.size());
  };
  std::printf("| %s | %.0f, %.3f | %.0f |", file.name.c_str(), rate(kernel), ratio(workload.coded_bytes()),
              rate(kernel + histogram));
  for (const PeerTimes& peer : {ans, deflate, gdeflate})
    std::printf(" %.0f, %.3f | %.0f |", rate(peer.compress), ratio(peer.coded), rate(peer.decompress));
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
    std::printf("%s; nvCOMP %d.%d.%d; %zu MB of each file, GB/s of input and output / input\n\n",
                device_description().c_str(), NVCOMP_VER_MAJOR, NVCOMP_VER_MINOR, NVCOMP_VER_PATCH,
                megabytes);
    std::printf(
        "| file | fast | fast and histogram | ANS | ANS, decompressing | Deflate, no matches | decompressing "
        "| "
        "GDeflate, no matches | decompressing |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (const CorpusFile& file : read_corpora(paths)) measure(file, megabytes, runs);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_nvcomp: %s\n", error.what());
    return 1;
  }
}
