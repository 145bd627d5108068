// Compares prefix sums and stream compaction with CUB's and prints Markdown.
//
//   bench_scan [RUNS]
//
// Figures are medians of RUNS (50) calls, including what the calls zero. "GB/s" counts the bytes that must
// be read and written. "of a copy" compares with the time of a copy by the runtime of as many bytes. Every
// result is compared with CUB's.
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/version.cuh>
#include <exception>
#include <optional>

#include "bench/device_timing.cuh"
#include "cu264/scan.h"
#include "entropy/scan/device_scan.h"
#include "entropy/scan/published/published_scan.h"

namespace {

using namespace cu264;
using namespace cu264::bench;

__global__ void fill(std::uint32_t* d_words, std::uint8_t* d_flags, std::size_t count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    std::uint32_t word = static_cast<std::uint32_t>(i) * 2654435761u;
    word = (word ^ word >> 15) * 2246822519u;
    word ^= word >> 13;
    d_flags[i] = word & 1;
    d_words[i] = (word & 2) != 0 ? word : 0;
  }
}

struct Table {
  std::size_t bytes;
  double copy, cub;

  void head(const char* title) const {
    std::printf("\n%s; a copy of %.0f MB read and written: %.4f ms, %.0f GB/s\n\n", title,
                static_cast<double>(bytes) / 1e6, copy, rate(copy));
    std::printf("| | ms | GB/s | of a copy | CUB's time / ours |\n|---|---:|---:|---:|---:|\n");
    line("CUB", cub);
  }
  void line(const char* name, double time) const {
    std::printf("| %s | %.4f | %.0f | %.0f %% | %.2f |\n", name, time, rate(time), 100 * copy / time,
                cub / time);
  }
  double rate(double time) const { return static_cast<double>(bytes) / time / 1e6; }
};

void require(bool right, const char* what) {
  if (!right) throw std::runtime_error(std::string(what) + " differs from CUB's");
}

void bench_sums(const std::uint32_t* d_input, std::size_t count, int runs) {
  const DeviceBuffer<std::uint32_t> d_expected(count), d_output(count);
  const auto items = static_cast<std::int64_t>(count);
  std::size_t bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, d_input, d_expected.data(), items), "CUB");
  const DeviceBuffer<char> d_cub(bytes);
  Table table{count * 8, 0, 0};
  table.copy = copy_milliseconds(runs, table.bytes);
  table.cub = median_milliseconds(runs, [&] {
    check_cuda(cub::DeviceScan::ExclusiveSum(d_cub.data(), bytes, d_input, d_expected.data(), items), "CUB");
  });
  table.head("Exclusive sums of 32-bit words");
  const struct {
    const char* name;
    std::optional<scan::ScanVariant> form;  // nothing: the production form
  } forms[] = {{"`device_scan` (GVLE's, tiles of 8192)", {}},
               {"Yamamoto's, tiles of 8192", {{scan::Method::yavle, scan::TileSize::large}}},
               {"Yan's, tiles of 8192", {{scan::Method::cuvle, scan::TileSize::large}}},
               {"GVLE_scan (tiles of 1024)", {{scan::Method::gvle}}},
               {"GVLE_scan, tuned", {{scan::Method::gvle_tuned}}},
               {"YAVLE_scan", {{scan::Method::yavle}}},
               {"CUVLE_scan", {{scan::Method::cuvle}}}};
  for (const auto& [name, form] : forms) {
    const std::size_t scratch =
        form ? scan::published_scan_scratch_bytes(*form, count) : scan::scan_scratch_bytes(count);
    const DeviceBuffer<char> d_scratch(scratch);
    const scan::ScanArrays<std::uint32_t> arrays{d_input, d_output.data(), count, scan::Kind::exclusive};
    check_cuda(cudaMemset(d_output.data(), 0xa5, count * 4), "cudaMemset");
    const bool slow = form && form->method == scan::Method::cuvle;
    const double time = median_milliseconds(slow ? 5 : runs, [&, form = form] {
      if (form)
        scan::launch_published_scan(*form, arrays, d_scratch.data(), nullptr);
      else
        scan::launch_scan(arrays, d_scratch.data(), nullptr);
    });
    require(same_bytes(d_output.data(), d_expected.data(), count * 4), name);
    table.line(name, time);
  }
}

struct IsNotZero {
  __device__ bool operator()(std::uint32_t word) const { return word != 0; }
};

void bench_selection(const std::uint32_t* d_input, const std::uint8_t* d_flags, std::size_t count, int runs) {
  const DeviceBuffer<std::uint32_t> d_expected(count), d_output(count);
  const DeviceBuffer<std::uint64_t> d_expected_count(1), d_count(1);
  const auto items = static_cast<std::int64_t>(count);
  std::size_t bytes = 0, scratch = 0;
  check_cuda(cub::DeviceSelect::Flagged(nullptr, bytes, d_input, d_flags, d_expected.data(),
                                        d_expected_count.data(), items),
             "CUB");
  scan::device_select(nullptr, scratch, d_input, d_flags, d_output.data(), count, d_count.data(), nullptr);
  const DeviceBuffer<char> d_cub(bytes), d_scratch(scratch);
  Table table{};
  table.cub = median_milliseconds(runs, [&] {
    check_cuda(cub::DeviceSelect::Flagged(d_cub.data(), bytes, d_input, d_flags, d_expected.data(),
                                          d_expected_count.data(), items),
               "CUB");
  });
  const double ours = median_milliseconds(runs, [&] {
    scan::device_select(d_scratch.data(), scratch, d_input, d_flags, d_output.data(), count, d_count.data(),
                        nullptr);
  });
  std::uint64_t selected = 0;
  check_cuda(cudaMemcpy(&selected, d_count.data(), sizeof selected, cudaMemcpyDeviceToHost), "download");
  require(same_bytes(d_count.data(), d_expected_count.data(), sizeof selected), "the number selected");
  require(same_bytes(d_output.data(), d_expected.data(), selected * 4), "the selection");
  table.bytes = count * 5 + selected * 4;
  table.copy = copy_milliseconds(runs, table.bytes);
  table.head("Compaction of 32-bit words by flags, half of them selected");
  table.line("`device_select`", ours);

  std::size_t if_bytes = 0;
  check_cuda(cub::DeviceSelect::If(nullptr, if_bytes, d_input, d_expected.data(), d_expected_count.data(),
                                   items, IsNotZero{}),
             "CUB");
  const DeviceBuffer<char> d_if(if_bytes);
  table.cub = median_milliseconds(runs, [&] {
    check_cuda(cub::DeviceSelect::If(d_if.data(), if_bytes, d_input, d_expected.data(),
                                     d_expected_count.data(), items, IsNotZero{}),
               "CUB");
  });
  const double nonzero = median_milliseconds(runs, [&] {
    scan::device_select_nonzero(d_scratch.data(), scratch, d_input, d_output.data(), count, d_count.data(),
                                nullptr);
  });
  check_cuda(cudaMemcpy(&selected, d_count.data(), sizeof selected, cudaMemcpyDeviceToHost), "download");
  require(same_bytes(d_count.data(), d_expected_count.data(), sizeof selected), "the number selected");
  require(same_bytes(d_output.data(), d_expected.data(), selected * 4), "the selection");
  table.bytes = count * 4 + selected * 4;
  table.copy = copy_milliseconds(runs, table.bytes);
  table.head("Compaction of 32-bit words that are not zero, half of them");
  table.line("`device_select_nonzero`", nonzero);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 50;
    std::printf("# Prefix sums and compaction\n\n%s, CUB %d.%d.%d\n", device_name().c_str(),
                CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    for (const std::size_t bytes : {std::size_t{100000000}, std::size_t{1} << 30}) {
      const std::size_t count = bytes / 4;
      const DeviceBuffer<std::uint32_t> d_input(count);
      const DeviceBuffer<std::uint8_t> d_flags(count);
      fill<<<2048, 256>>>(d_input.data(), d_flags.data(), count);
      std::printf("\n## %zu MB of input\n", bytes / 1000000);
      bench_sums(d_input.data(), count, runs);
      bench_selection(d_input.data(), d_flags.data(), count, runs);
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_scan: %s\n", error.what());
    return 1;
  }
  return 0;
}
