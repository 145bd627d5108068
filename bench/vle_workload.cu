#include "bench/vle_workload.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "bench/cub_encoder.h"
#include "common/cuda/error_check.h"
#include "entropy/vle/cpu_encode.h"
#include "entropy/vle/cpu_histogram.h"
#include "entropy/vle/histogram.h"
#include "entropy/vle/huffman.h"
#include "entropy/vle/published/published_encoders.h"

namespace cu264::bench {
namespace {

constexpr double kMaxMilliseconds = 1000;

class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t size) {
    check_cuda(cudaMalloc(&d_data_, std::max<std::size_t>(size, 4)), "cudaMalloc");
  }
  ~DeviceBytes() { cudaFree(d_data_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  template <class T = std::uint8_t>
  T* as() const {
    return static_cast<T*>(d_data_);
  }

 private:
  void* d_data_ = nullptr;
};

class Event {
 public:
  Event() { check_cuda(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() { check_cuda(cudaEventRecord(event_), "cudaEventRecord"); }
  double since(const Event& start) const {
    check_cuda(cudaEventSynchronize(event_), "cudaEventSynchronize");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime");
    return milliseconds;
  }

 private:
  cudaEvent_t event_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double time_median(int runs, const std::function<void()>& launch) {
  Event start, end;
  std::vector<double> times;
  for (int run = 0; run <= runs; ++run) {
    start.record();
    launch();
    end.record();
    if (run > 0) times.push_back(end.since(start));
  }
  return median(std::move(times));
}

__global__ void count_differences(const std::uint8_t* d_a, const std::uint8_t* d_b, std::size_t bytes,
                                  unsigned long long* d_differences) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned long long differences = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes;
       i += stride)
    differences += d_a[i] != d_b[i];
  if (differences != 0) atomicAdd(d_differences, differences);
}

std::size_t repeated_size(const CorpusFile& file, std::size_t bytes) {
  return (bytes + file.bytes.size() - 1) / file.bytes.size() * file.bytes.size();
}

std::size_t in_words(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

vle::CodeTable table_of(const CorpusFile& file, int forced_length, int longest_code) {
  vle::CodeTable table;
  if (forced_length == 0) {
    return vle::make_code_table(vle::count_serial(file.bytes), longest_code);
  }
  for (int i = 0; i < vle::kSymbols; ++i) {
    table.length[i] = static_cast<std::uint8_t>(forced_length);
    table.code[i] = static_cast<std::uint32_t>(i * 0x9d + 0x101) & ((1u << forced_length) - 1);
  }
  return table;
}

}  // namespace

struct VleWorkload::State {
  State(const CorpusFile& file, std::size_t bytes, int forced_length, int longest_code)
      : table(table_of(file, forced_length, longest_code)),
        size(repeated_size(file, bytes)),
        coded(0),
        d_input(size),
        d_table(sizeof table),
        d_result(sizeof(vle::EncodeResult)),
        d_counts(vle::kSymbols * sizeof(std::uint64_t)) {
    std::uint64_t bits = 0;
    for (const std::uint8_t symbol : file.bytes) bits += table.length[symbol];
    coded = (bits * (size / file.bytes.size()) + 7) / 8;
    d_output = std::make_unique<DeviceBytes>(in_words(coded));
    check_cuda(cudaMemcpy(d_table.as(), &table, sizeof table, cudaMemcpyHostToDevice), "upload");
    check_cuda(cudaMemcpy(d_input.as(), file.bytes.data(), file.bytes.size(), cudaMemcpyHostToDevice),
               "upload");
    for (std::size_t filled = file.bytes.size(); filled < size;) {
      const std::size_t part = std::min(filled, size - filled);
      check_cuda(cudaMemcpy(d_input.as() + filled, d_input.as(), part, cudaMemcpyDeviceToDevice), "copy");
      filled += part;
    }
  }

  vle::EncodeCall call(std::size_t scratch) {
    if (scratch > scratch_size) {
      d_scratch.reset();
      d_scratch = std::make_unique<DeviceBytes>(scratch);
      scratch_size = scratch;
    }
    return {d_input.as(),
            size,
            d_table.as<vle::CodeTable>(),
            d_output->as(),
            in_words(coded),
            d_result.as<vle::EncodeResult>(),
            d_scratch ? d_scratch->as() : nullptr,
            scratch_size,
            nullptr};
  }

  vle::CodeTable table;
  std::size_t size, coded;
  DeviceBytes d_input, d_table, d_result, d_counts;
  std::unique_ptr<DeviceBytes> d_output, d_scratch, d_expected;
  std::size_t scratch_size = 0;
};

std::vector<BenchEncoder> bench_encoders() {
  std::vector<BenchEncoder> encoders;
  encoders.push_back({kCubEncoder.name, &kCubEncoder, {}});
  for (const vle::PublishedEncoder* published : vle::published_encoders())
    encoders.push_back({published->name, published, {}});
  for (const vle::DeviceEncoder& device : vle::device_encoders()) {
    const auto known = [&](const BenchEncoder& encoder) { return encoder.name == device.name; };
    if (std::none_of(encoders.begin(), encoders.end(), known))
      encoders.push_back({device.name, nullptr, device});
  }
  return encoders;
}

VleWorkload::VleWorkload(const CorpusFile& file, std::size_t bytes, int forced_length, int longest_code)
    : state_(std::make_unique<State>(file, bytes, forced_length, longest_code)) {}
VleWorkload::~VleWorkload() = default;

std::size_t VleWorkload::size() const {
  return state_->size;
}
std::size_t VleWorkload::coded_bytes() const {
  return state_->coded;
}

EncodeTimes VleWorkload::time(const BenchEncoder& encoder, int threads, int runs) {
  if (encoder.published == nullptr) {
    const vle::EncodeCall call = state_->call(encoder.device.scratch_bytes(state_->size));
    const double whole = time_median(runs, [&] { encoder.device.launch(call); });
    return {whole, whole};
  }
  const vle::EncodeCall call = state_->call(encoder.published->scratch_bytes(state_->size, threads));
  Event start, prepared, end;
  std::vector<double> kernel, whole;
  double total = 0;
  for (int run = 0; run <= runs && total < kMaxMilliseconds; ++run) {
    start.record();
    encoder.published->prepare(call, threads);
    prepared.record();
    encoder.published->run(call, threads);
    end.record();
    if (run == 0) {
      end.since(start);
      continue;
    }
    total += end.since(start);
    whole.push_back(end.since(start));
    kernel.push_back(end.since(prepared));
  }
  return {median(std::move(kernel)), median(std::move(whole))};
}

void VleWorkload::run_once(const BenchEncoder& encoder) {
  if (encoder.published == nullptr) {
    encoder.device.launch(state_->call(encoder.device.scratch_bytes(state_->size)));
  } else {
    const int threads = encoder.published->threads;
    const vle::EncodeCall call = state_->call(encoder.published->scratch_bytes(state_->size, threads));
    encoder.published->prepare(call, threads);
    encoder.published->run(call, threads);
  }
  check_cuda(cudaDeviceSynchronize(), "encoding");
}

CpuTimes VleWorkload::time_cpu() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  std::vector<std::uint8_t> input(state_->size);
  check_cuda(cudaMemcpy(input.data(), state_->d_input.as(), input.size(), cudaMemcpyDeviceToHost),
             "download");
  std::vector<std::uint8_t> stream(in_words(state_->coded));
  vle::encode_parallel(state_->table, input, stream);  // the first call starts the threads
  const auto start = std::chrono::steady_clock::now();
  vle::encode_parallel(state_->table, input, stream);
  const auto half = std::chrono::steady_clock::now();
  vle::encode_serial(state_->table, input, stream);
  const auto end = std::chrono::steady_clock::now();
  state_->d_expected = std::make_unique<DeviceBytes>(stream.size());
  check_cuda(cudaMemcpy(state_->d_expected->as(), stream.data(), stream.size(), cudaMemcpyHostToDevice),
             "upload");
  return {Milliseconds(end - half).count(), Milliseconds(half - start).count()};
}

bool VleWorkload::is_missing() const {
  vle::EncodeResult result;
  check_cuda(cudaMemcpy(&result, state_->d_result.as(), sizeof result, cudaMemcpyDeviceToHost), "download");
  return result.missing != 0;
}

bool VleWorkload::is_expected() {
  const std::size_t bytes = in_words(state_->coded);
  if (!state_->d_expected) {
    state_->d_expected = std::make_unique<DeviceBytes>(bytes);
    check_cuda(cudaMemcpy(state_->d_expected->as(), state_->d_output->as(), bytes, cudaMemcpyDeviceToDevice),
               "copy");
  }
  const DeviceBytes d_differences(sizeof(unsigned long long));
  check_cuda(cudaMemset(d_differences.as(), 0, sizeof(unsigned long long)), "cudaMemset");
  count_differences<<<1024, 256>>>(state_->d_expected->as(), state_->d_output->as(), state_->coded,
                                   d_differences.as<unsigned long long>());
  unsigned long long differences = 0;
  vle::EncodeResult result{};
  check_cuda(cudaMemcpy(&differences, d_differences.as(), sizeof differences, cudaMemcpyDeviceToHost),
             "download");
  check_cuda(cudaMemcpy(&result, state_->d_result.as(), sizeof result, cudaMemcpyDeviceToHost), "download");
  check_cuda(cudaMemset(state_->d_output->as(), 0xa5, bytes), "cudaMemset");
  return differences == 0 && result.missing == 0 && (result.bits + 7) / 8 == state_->coded;
}

double VleWorkload::copy_milliseconds(int runs) {
  const std::size_t bytes = (state_->size + state_->coded) / 2;
  const DeviceBytes d_from(bytes), d_to(bytes);
  return time_median(runs, [&] {
    check_cuda(cudaMemcpyAsync(d_to.as(), d_from.as(), bytes, cudaMemcpyDeviceToDevice), "copy");
  });
}

double VleWorkload::histogram_milliseconds(int runs) {
  return time_median(runs, [&] {
    vle::launch_histogram(state_->d_input.as(), state_->size, state_->d_counts.as<std::uint64_t>(), nullptr);
  });
}

std::vector<ScanTimes> VleWorkload::time_scans(int runs) {
  return bench::time_scans(state_->d_input.as<std::uint32_t>(), state_->size / sizeof(std::uint32_t), runs);
}

std::string device_description() {
  cudaDeviceProp properties{};
  int device = 0, runtime = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) +
         " multiprocessors, CUDA " + std::to_string(runtime / 1000) + "." +
         std::to_string(runtime % 1000 / 10);
}

}  // namespace cu264::bench
