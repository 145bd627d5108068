#include "bench/vle_scans.h"

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <functional>
#include <stdexcept>
#include <string>

#include "entropy/scan/gvle_scan.cuh"
#include "entropy/scan/published/printed_gvle_scan.cuh"
#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/scan/published/yan_scan.cuh"
#include "entropy/vle/published/block_positions.cuh"
#include "entropy/vle/published/persistent.cuh"

namespace cu264::bench {
namespace {

constexpr int kThreads = 128;
constexpr float kMaxMilliseconds = 300;

template <class Scan>
__global__ void scan_words(const std::uint32_t* d_words, std::uint64_t count, std::uint32_t* d_sums,
                           std::uint32_t* d_ticket, typename Scan::State* d_state, std::uint32_t blocks) {
  __shared__ vle::BlockPositionsScratch s_positions;
  __shared__ std::uint32_t s_ticket;
  vle::BlockInputs block_inputs(d_ticket, s_ticket);
  Scan scan{d_state};
  for (std::uint32_t block = block_inputs.first(); block < blocks; block = block_inputs.next()) {
    const std::uint64_t i = static_cast<std::uint64_t>(block) * kThreads + threadIdx.x;
    const auto at = vle::block_positions(i < count ? d_words[i] : 0, block, scan, s_positions);
    if (i < count) d_sums[i] = static_cast<std::uint32_t>(at.warp) + at.in_warp;
    block_inputs.request();
  }
}

__global__ void count_differences(const std::uint32_t* d_a, const std::uint32_t* d_b, std::uint64_t count,
                                  unsigned* d_differences) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  unsigned differences = 0;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    differences += d_a[i] != d_b[i];
  if (differences != 0) atomicAdd(d_differences, differences);
}

template <class T>
struct DeviceMemory {
  explicit DeviceMemory(std::size_t count) { check_cuda(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc"); }
  ~DeviceMemory() { cudaFree(data); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  T* data = nullptr;
};

double time_one(int runs, const std::function<void()>& prepare, const std::function<void()>& launch) {
  cudaEvent_t start, end;
  check_cuda(cudaEventCreate(&start), "cudaEventCreate");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  float total = 0;
  for (int run = 0; run <= runs && total < kMaxMilliseconds; ++run) {
    prepare();
    check_cuda(cudaEventRecord(start), "cudaEventRecord");
    launch();
    check_cuda(cudaEventRecord(end), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end), "scanning");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime");
    if (run == 0) continue;
    times.push_back(milliseconds);
    total += milliseconds;
  }
  cudaEventDestroy(start), cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class Scan>
double time_method(const std::uint32_t* d_words, std::size_t count, std::uint32_t* d_sums, int runs) {
  const auto blocks = static_cast<std::uint32_t>((count + kThreads - 1) / kThreads);
  const std::size_t state_bytes = Scan::state_count(blocks) * sizeof(typename Scan::State);
  const DeviceMemory<typename Scan::State> d_state(Scan::state_count(blocks));
  const DeviceMemory<std::uint32_t> d_ticket(1);
  const unsigned grid = std::min(blocks, vle::resident_blocks(scan_words<Scan>, kThreads, 0));
  const auto prepare = [&] {
    check_cuda(cudaMemsetAsync(d_state.data, 0, state_bytes), "zeroing");
    check_cuda(cudaMemsetAsync(d_ticket.data, 0, sizeof(std::uint32_t)), "zeroing");
  };
  return time_one(runs, prepare, [&] {
    scan_words<Scan><<<grid, kThreads>>>(d_words, count, d_sums, d_ticket.data, d_state.data, blocks);
    check_launch("scan_words");
  });
}

}  // namespace

std::vector<ScanTimes> time_scans(const std::uint32_t* d_words, std::size_t count, int runs) {
  const DeviceMemory<std::uint32_t> d_expected(count), d_sums(count);
  const DeviceMemory<unsigned> d_differences(1);
  std::size_t bytes = 0;
  const auto items = static_cast<std::int64_t>(count);
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, d_words, d_expected.data, items), "sizing a scan");
  const DeviceMemory<std::byte> d_scratch(bytes);
  const double cub = time_one(
      runs, [] {},
      [&] {
        check_cuda(cub::DeviceScan::ExclusiveSum(d_scratch.data, bytes, d_words, d_expected.data, items),
                   "scan");
      });
  std::vector<ScanTimes> times;
  const auto method = [&](const char* name, const auto& time) {
    check_cuda(cudaMemset(d_sums.data, 0xa5, count * sizeof(std::uint32_t)), "cudaMemset");
    check_cuda(cudaMemset(d_differences.data, 0, sizeof(unsigned)), "cudaMemset");
    times.push_back({name, time(d_words, count, d_sums.data, runs)});
    count_differences<<<1024, 256>>>(d_sums.data, d_expected.data, count, d_differences.data);
    unsigned differences = 0;
    check_cuda(cudaMemcpy(&differences, d_differences.data, sizeof differences, cudaMemcpyDeviceToHost),
               "download");
    if (differences != 0) throw std::runtime_error(std::string(name) + " scanned wrongly");
  };
  method("GVLE_scan", time_method<scan::PrintedGvleScan>);
  method("GVLE_scan_tuned", time_method<scan::GvleScan>);
  method("YAVLE_scan", time_method<scan::YamamotoScan>);
  method("CUVLE_scan", time_method<scan::YanScan>);
  times.push_back({"CUB DeviceScan", cub});
  return times;
}

}  // namespace cu264::bench
