// Device memory that lasts as long as a test or a benchmark needs it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "common/cuda/error_check.h"

namespace cu264::test {

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check_cuda(cudaMalloc(&d_data_, count * sizeof(T)), "cudaMalloc");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check_cuda(cudaMemcpy(d_data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "upload");
    // A copy from pageable memory may still be under way when the call returns, and not all streams wait for
    // the default stream.
    check_cuda(cudaStreamSynchronize(nullptr), "upload");
  }
  ~DeviceArray() { cudaFree(d_data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return d_data_; }
  std::size_t size() const { return count_; }
  std::vector<T> download(std::size_t count) const {
    std::vector<T> values(count);
    check_cuda(cudaMemcpy(values.data(), d_data_, count * sizeof(T), cudaMemcpyDeviceToHost), "download");
    return values;
  }
  std::vector<T> download() const { return download(count_); }

 private:
  T* d_data_ = nullptr;
  std::size_t count_;
};

}  // namespace cu264::test
