// Times of single calls on the GPU, whatever the host takes to launch them.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "common/cuda/error_check.h"

namespace cu264::bench {

template <class T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) {
    check_cuda(cudaMalloc(&d_data_, std::max<std::size_t>(count, 1) * sizeof(T)), "cudaMalloc");
  }
  ~DeviceBuffer() { cudaFree(d_data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  T* data() const { return d_data_; }

 private:
  T* d_data_ = nullptr;
};

// Keeps the GPU busy while the host enqueues what is to be timed.
static __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// Median of `runs` calls after a warm-up, in milliseconds.
template <class Function>
double median_milliseconds(int runs, const Function& function) {
  cudaEvent_t start, end;
  check_cuda(cudaEventCreate(&start), "cudaEventCreate");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  for (int run = -3; run < runs; ++run) {
    spin<<<1, 1>>>(100000);
    check_cuda(cudaEventRecord(start), "cudaEventRecord");
    function();
    check_cuda(cudaEventRecord(end), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end), "the kernels");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime");
    if (run >= 0) times.push_back(milliseconds);
  }
  cudaEventDestroy(start), cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// A copy that reads and writes `bytes` altogether.
inline double copy_milliseconds(int runs, std::size_t bytes) {
  const DeviceBuffer<char> d_from(bytes / 2), d_to(bytes / 2);
  return median_milliseconds(runs, [&] {
    check_cuda(cudaMemcpyAsync(d_to.data(), d_from.data(), bytes / 2, cudaMemcpyDeviceToDevice), "copy");
  });
}

inline bool same_bytes(const void* d_a, const void* d_b, std::size_t bytes) {
  std::vector<char> a(bytes), b(bytes);
  check_cuda(cudaMemcpy(a.data(), d_a, bytes, cudaMemcpyDeviceToHost), "download");
  check_cuda(cudaMemcpy(b.data(), d_b, bytes, cudaMemcpyDeviceToHost), "download");
  return a == b;
}

inline std::string device_name() {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int runtime = 0;
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return std::string(properties.name) + ", CUDA " + std::to_string(runtime / 1000) + "." +
         std::to_string(runtime % 1000 / 10);
}

}  // namespace cu264::bench
