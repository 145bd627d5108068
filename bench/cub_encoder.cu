#include "bench/cub_encoder.h"

#include <cub/device/device_scan.cuh>

#include "entropy/scan/published/yan_scan.cuh"
#include "entropy/vle/published/word_builder.cuh"
#include "entropy/vle/published/yavle_kernel.cuh"

namespace cu264::bench {
namespace {

using namespace vle;
using Call = KernelCall<32, scan::YanScan>;  // its scan is not used

__device__ std::uint64_t this_thread() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// There is one length more than there are thread-inputs, so that the scan's last sum is that of the whole
// stream.
__global__ void measure(const __grid_constant__ Call call, std::uint64_t* d_lengths, std::uint64_t count) {
  __shared__ SplitTable s_table;
  s_table.load(call.table);
  __syncthreads();
  const std::uint64_t t = this_thread();
  if (t < count) d_lengths[t] = thread_code_length(call, t, s_table);
}

__global__ void write(const __grid_constant__ Call call, const std::uint64_t* d_positions,
                      std::uint64_t count) {
  __shared__ SplitTable s_table;
  s_table.load(call.table);
  __syncthreads();
  const std::uint64_t t = this_thread();
  if (t + 1 < count && d_positions[t + 1] > d_positions[t])
    write_thread_code<WordBuilder>(call, t, s_table, d_positions[t]);
  if (t + 1 == count) call.d_result->bits = d_positions[t];
}

std::uint64_t most(std::size_t size) {
  return ThreadInputs<32>::most(size) + 1;
}

std::size_t scan_bytes(std::size_t size) {
  std::size_t bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<const std::uint64_t*>(nullptr),
                                           static_cast<std::uint64_t*>(nullptr),
                                           static_cast<std::int64_t>(most(size))),
             "sizing a scan");
  return bytes;
}

std::size_t array_bytes(std::size_t size) {
  return (most(size) * sizeof(std::uint64_t) + 255) / 256 * 256;
}

std::size_t scratch_bytes(std::size_t size, int) {
  return 2 * array_bytes(size) + scan_bytes(size);
}

void prepare(const EncodeCall& call, int) {
  zero(call.d_result, sizeof(EncodeResult), call);
  zero(call.d_output, output_bound(call, kShortCode), call);
}

void run(const EncodeCall& call, int threads) {
  const ThreadInputs<32> inputs(call.d_input, call.size);
  const std::uint64_t count = inputs.count() + 1;
  if (count == 1) return;
  std::byte* const d_scratch = static_cast<std::byte*>(call.d_scratch);
  auto* const d_lengths = reinterpret_cast<std::uint64_t*>(d_scratch);
  auto* const d_positions = reinterpret_cast<std::uint64_t*>(d_scratch + array_bytes(call.size));
  const Call arguments{inputs,
                       DeviceTable(call.d_table),
                       OutputWords(call.d_output, call.capacity),
                       call.d_result,
                       nullptr,
                       nullptr,
                       0};
  const auto stream = static_cast<cudaStream_t>(call.stream);
  const auto grid = static_cast<unsigned>((count + threads - 1) / threads);
  measure<<<grid, threads, 0, stream>>>(arguments, d_lengths, count);
  check_launch("measure");
  std::size_t bytes = scan_bytes(call.size);
  check_cuda(cub::DeviceScan::ExclusiveSum(d_scratch + 2 * array_bytes(call.size), bytes, d_lengths,
                                           d_positions, static_cast<std::int64_t>(count), stream),
             "scanning lengths");
  write<<<grid, threads, 0, stream>>>(arguments, d_positions, count);
  check_launch("write");
}

}  // namespace

const vle::PublishedEncoder kCubEncoder{"cub", vle::kShortCode, 128, 1024, scratch_bytes, prepare, run};

}  // namespace cu264::bench
