#include "tests/parity/vle_device.h"

#include <algorithm>
#include <memory>

#include "entropy/vle/histogram.h"
#include "support/device_array.cuh"

namespace cu264::parity {
namespace {

using test::DeviceArray;

constexpr std::uint8_t kPoison = 0xa5;
constexpr std::size_t kGuard = 4096;

std::size_t scratch_bytes(const AnyEncoder& encoder, std::size_t size) {
  return encoder.published ? encoder.published->scratch_bytes(size, encoder.threads)
                           : encoder.device.scratch_bytes(size);
}

void launch(const AnyEncoder& encoder, const vle::EncodeCall& call) {
  if (encoder.published) {
    encoder.published->prepare(call, encoder.threads);
    encoder.published->run(call, encoder.threads);
  } else {
    encoder.device.launch(call);
  }
}

// Memory of exactly the given size, so that memcheck sees every read beyond its end.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t size) {
    check_cuda(cudaMalloc(&d_data_, std::max<std::size_t>(size, 1)), "cudaMalloc");
    check_cuda(cudaMemset(d_data_, kPoison, std::max<std::size_t>(size, 1)), "cudaMemset");
  }
  ~DeviceBytes() { cudaFree(d_data_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  std::uint8_t* data() const { return d_data_; }

 private:
  std::uint8_t* d_data_ = nullptr;
};

void upload(std::uint8_t* d_to, const void* from, std::size_t size) {
  if (size > 0) check_cuda(cudaMemcpy(d_to, from, size, cudaMemcpyHostToDevice), "upload");
}

__global__ void repeat_bytes(const std::uint8_t* d_period, std::size_t period, std::uint8_t* d_out,
                             std::size_t size) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += stride)
    d_out[i] = d_period[i % period];
}

__global__ void count_differences(const std::uint8_t* d_period, std::size_t period, const std::uint8_t* d_got,
                                  std::size_t size, unsigned long long* d_differences) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned long long differences = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += stride)
    differences += d_got[i] != d_period[i % period];
  if (differences != 0) atomicAdd(d_differences, differences);
}

}  // namespace

std::string AnyEncoder::name() const {
  return published ? std::string(published->name) + "/" + std::to_string(threads) : std::string(device.name);
}

int AnyEncoder::longest_code() const {
  return published ? published->longest_code : device.longest_code;
}

Encoded encode_on_device(const AnyEncoder& encoder, const vle::CodeTable& table, const Bytes& input,
                         int alignment, std::size_t capacity) {
  const DeviceBytes d_input(alignment + input.size()), d_table(sizeof table), d_output(capacity + kGuard),
      d_result(sizeof(vle::EncodeResult));
  const std::size_t scratch = scratch_bytes(encoder, input.size());
  const DeviceBytes d_scratch(scratch);
  upload(d_input.data() + alignment, input.data(), input.size());
  upload(d_table.data(), &table, sizeof table);
  launch(encoder,
         {d_input.data() + alignment, input.size(), reinterpret_cast<const vle::CodeTable*>(d_table.data()),
          d_output.data(), capacity, reinterpret_cast<vle::EncodeResult*>(d_result.data()), d_scratch.data(),
          scratch, nullptr});
  check_cuda(cudaDeviceSynchronize(), "encoding");
  Encoded encoded;
  check_cuda(cudaMemcpy(&encoded.result, d_result.data(), sizeof encoded.result, cudaMemcpyDeviceToHost),
             "download");
  Bytes output(capacity + kGuard);
  check_cuda(cudaMemcpy(output.data(), d_output.data(), output.size(), cudaMemcpyDeviceToHost), "download");
  encoded.wrote_past_output = std::any_of(output.begin() + static_cast<std::ptrdiff_t>(capacity),
                                          output.end(), [](std::uint8_t byte) { return byte != kPoison; });
  output.resize(std::min<std::uint64_t>(capacity, (encoded.result.bits + 7) / 8));
  encoded.stream = std::move(output);
  return encoded;
}

std::string check_repeated(const AnyEncoder& encoder, const vle::CodeTable& table, const Bytes& period,
                           const Bytes& coded_period, std::size_t copies) {
  const std::size_t size = period.size() * copies, coded = coded_period.size() * copies;
  const std::size_t capacity = (coded + 3) / 4 * 4, scratch = scratch_bytes(encoder, size);
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  if (size + capacity + scratch + (64u << 20) > free) return "memory";
  const DeviceArray<std::uint8_t> d_input(size), d_output(capacity), d_scratch(scratch), d_period(period),
      d_coded_period(coded_period);
  const DeviceArray<vle::CodeTable> d_table(std::vector{table});
  const DeviceArray<vle::EncodeResult> d_result(1);
  const DeviceArray<unsigned long long> d_differences(std::vector{0ull});
  check_cuda(cudaMemset(d_output.data(), kPoison, capacity), "cudaMemset");
  repeat_bytes<<<4096, 256>>>(d_period.data(), period.size(), d_input.data(), size);
  launch(encoder, {d_input.data(), size, d_table.data(), d_output.data(), capacity, d_result.data(),
                   d_scratch.data(), scratch, nullptr});
  count_differences<<<4096, 256>>>(d_coded_period.data(), coded_period.size(), d_output.data(), coded,
                                   d_differences.data());
  check_cuda(cudaDeviceSynchronize(), "encoding");
  const vle::EncodeResult result = d_result.download()[0];
  const unsigned long long differences = d_differences.download()[0];
  if (result.bits == 8 * coded && result.missing == 0 && differences == 0) return {};
  return encoder.name() + ": " + std::to_string(result.bits) + " bits instead of " +
         std::to_string(8 * coded) + ", " + std::to_string(differences) + " bytes differ";
}

std::array<std::uint64_t, 256> histogram_on_device(const Bytes& input, int alignment) {
  const DeviceBytes d_input(alignment + input.size()), d_counts(256 * sizeof(std::uint64_t));
  upload(d_input.data() + alignment, input.data(), input.size());
  vle::launch_histogram(d_input.data() + alignment, input.size(),
                        reinterpret_cast<std::uint64_t*>(d_counts.data()), nullptr);
  check_cuda(cudaDeviceSynchronize(), "histogram");
  std::array<std::uint64_t, 256> counts{};
  check_cuda(cudaMemcpy(counts.data(), d_counts.data(), sizeof counts, cudaMemcpyDeviceToHost), "download");
  return counts;
}

}  // namespace cu264::parity
