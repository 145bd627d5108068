#include "tests/parity/vle_large_device.h"

#include "entropy/vle/fast.h"
#include "entropy/vle/gpu_decode.h"
#include "entropy/vle/histogram.h"
#include "support/device_array.cuh"

namespace cu264::parity {
namespace {

using test::DeviceArray;

constexpr int kBlocks = 4096, kThreads = 256;
constexpr std::size_t kSpare = 64u << 20;  // for what the runtime needs

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free > kSpare ? free - kSpare : 0;
}

template <class Function>
__device__ void for_each(std::uint64_t count, const Function& function) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    function(i);
}

__global__ void fill_symbols(std::uint8_t* d_symbols, std::uint64_t size) {
  for_each(size, [&](std::uint64_t i) { d_symbols[i] = large_symbol(i); });
}

__global__ void count_wrong_symbols(const std::uint8_t* d_symbols, std::uint64_t size,
                                    unsigned long long* d_count) {
  unsigned long long count = 0;
  for_each(size, [&](std::uint64_t i) { count += d_symbols[i] != large_symbol(i); });
  if (count != 0) atomicAdd(d_count, count);
}

__global__ void count_differences(const std::uint8_t* d_a, const std::uint8_t* d_b, std::uint64_t size,
                                  unsigned long long* d_count) {
  unsigned long long count = 0;
  for_each(size, [&](std::uint64_t i) { count += d_a[i] != d_b[i]; });
  if (count != 0) atomicAdd(d_count, count);
}

}  // namespace

struct LargeRun::State {
  State(const vle::CodeTable& table, std::uint64_t size, std::uint64_t capacity)
      : size(size),
        capacity(capacity),
        d_table(std::vector{table}),
        d_input(size),
        d_stream(capacity),
        d_index(vle::chunk_count(size)),
        d_result(1) {}

  vle::EncodeCall call(std::uint8_t* d_output, vle::EncodeResult* d_call_result,
                       const DeviceArray<std::uint8_t>& d_scratch) const {
    return {d_input.data(),   size,   d_table.data(), d_output, capacity, d_call_result, d_scratch.data(),
            d_scratch.size(), nullptr};
  }

  std::uint64_t size, capacity;
  DeviceArray<vle::CodeTable> d_table;
  DeviceArray<std::uint8_t> d_input, d_stream;
  DeviceArray<std::uint64_t> d_index;
  DeviceArray<vle::EncodeResult> d_result;
};

LargeRun::LargeRun(const vle::CodeTable& table, std::uint64_t size, std::uint64_t capacity)
    : state_(std::make_unique<State>(table, size, capacity)) {
  const State& s = *state_;
  fill_symbols<<<kBlocks, kThreads>>>(s.d_input.data(), size);
  const DeviceArray<std::uint8_t> d_scratch(vle::fast_scratch_bytes(size));
  vle::fast_encode(s.call(s.d_stream.data(), s.d_result.data(), d_scratch), s.d_index.data());
  check_cuda(cudaDeviceSynchronize(), "fast_encode");
}

LargeRun::~LargeRun() = default;

bool LargeRun::fits(std::uint64_t size, std::uint64_t capacity) {
  // Input, stream and index; then another stream, or the symbols that come back and a quarter of a stream of
  // scratch.
  return 2 * size + 2 * capacity + size / 64 < free_memory();
}

vle::EncodeResult LargeRun::result() const {
  return state_->d_result.download()[0];
}

std::array<std::uint64_t, 256> LargeRun::histogram() const {
  const DeviceArray<std::uint64_t> d_counts(256);
  vle::launch_histogram(state_->d_input.data(), state_->size, d_counts.data(), nullptr);
  std::array<std::uint64_t, 256> counts{};
  check_cuda(cudaMemcpy(counts.data(), d_counts.data(), sizeof counts, cudaMemcpyDeviceToHost), "histogram");
  return counts;
}

std::vector<std::uint64_t> LargeRun::index() const {
  return state_->d_index.download();
}

std::vector<std::uint8_t> LargeRun::stream(std::uint64_t offset, std::size_t count) const {
  std::vector<std::uint8_t> bytes(count);
  check_cuda(cudaMemcpy(bytes.data(), state_->d_stream.data() + offset, count, cudaMemcpyDeviceToHost),
             "download");
  return bytes;
}

std::optional<LargeRun::Compared> LargeRun::compare(const vle::DeviceEncoder& encoder) const {
  const State& s = *state_;
  const std::size_t scratch = encoder.scratch_bytes(s.size);
  if (s.capacity + scratch > free_memory()) return std::nullopt;
  const DeviceArray<std::uint8_t> d_stream(s.capacity), d_scratch(scratch);
  const DeviceArray<vle::EncodeResult> d_result(1);
  const DeviceArray<unsigned long long> d_differences(std::vector{0ull});
  encoder.launch(s.call(d_stream.data(), d_result.data(), d_scratch));
  count_differences<<<kBlocks, kThreads>>>(s.d_stream.data(), d_stream.data(), (result().bits + 7) / 8,
                                           d_differences.data());
  check_cuda(cudaDeviceSynchronize(), encoder.name);
  return Compared{d_result.download()[0], d_differences.download()[0]};
}

LargeRun::Decoded LargeRun::decode(bool with_index) const {
  const State& s = *state_;
  const DeviceArray<std::uint8_t> d_symbols(s.size),
      d_scratch(vle::decode_scratch_bytes(s.capacity, s.size, with_index));
  const DeviceArray<vle::DecodeResult> d_result(1);
  const DeviceArray<unsigned long long> d_wrong(std::vector{0ull});
  check_cuda(cudaMemset(d_symbols.data(), 0xff, s.size), "cudaMemset");  // no symbol
  vle::decode({s.d_stream.data(), s.capacity, &s.d_result.data()->bits, s.d_table.data(),
               with_index ? s.d_index.data() : nullptr, d_symbols.data(), s.size, d_result.data(),
               d_scratch.data(), d_scratch.size(), nullptr});
  count_wrong_symbols<<<kBlocks, kThreads>>>(d_symbols.data(), s.size, d_wrong.data());
  check_cuda(cudaDeviceSynchronize(), "decode");
  return {d_result.download()[0], d_wrong.download()[0]};
}

}  // namespace cu264::parity
