// Device memory that notices writes outside a range which begins anywhere.
#pragma once

#include <cstring>
#include <vector>

#include "support/device_array.cuh"

namespace cu264::parity {

using test::DeviceArray;

template <class T>
class GuardedArray {
 public:
  static constexpr std::size_t kGuard = 64;

  // `offset` elements off alignment.
  GuardedArray(std::size_t count, std::size_t offset)
      : count_(count), begin_(kGuard + offset), array_(rubbish(begin_ + count + kGuard)) {}

  T* data() const { return array_.data() + begin_; }

  // The first `written` elements; fails where anything else has changed.
  std::vector<T> written(std::size_t written) const {
    const std::vector<T> all = array_.download(), before = rubbish(all.size());
    const std::size_t end = begin_ + written;
    if (std::memcmp(all.data(), before.data(), begin_ * sizeof(T)) != 0)
      throw std::runtime_error("written before the array's begin");
    if (std::memcmp(all.data() + end, before.data() + end, (all.size() - end) * sizeof(T)) != 0)
      throw std::runtime_error("written behind the result");
    return {all.begin() + static_cast<std::ptrdiff_t>(begin_),
            all.begin() + static_cast<std::ptrdiff_t>(end)};
  }

 private:
  static std::vector<T> rubbish(std::size_t count) {
    std::vector<T> values(count);
    std::memset(static_cast<void*>(values.data()), 0xa5, count * sizeof(T));
    return values;
  }
  std::size_t count_, begin_;
  DeviceArray<T> array_;
};

// Input that ends where its memory ends, `offset` elements off alignment.
template <class T>
class OffsetInput {
 public:
  OffsetInput(const std::vector<T>& values, std::size_t offset)
      : offset_(offset), array_(values.size() + offset) {
    check_cuda(
        cudaMemcpy(array_.data() + offset, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "upload");
  }
  T* data() const { return array_.data() + offset_; }

 private:
  std::size_t offset_;
  DeviceArray<T> array_;
};

// The two calls of a function that takes scratch, with rubbish in it.
template <class Function>
void call_with_scratch(const Function& function) {
  std::size_t bytes = 0;
  function(nullptr, bytes);
  const DeviceArray<std::uint8_t> d_scratch(bytes);
  check_cuda(cudaMemset(d_scratch.data(), 0xa5, bytes), "cudaMemset");
  function(d_scratch.data(), bytes);
  check_cuda(cudaDeviceSynchronize(), "the kernels");
}

inline std::string why_no_device() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return devices == 0 ? "no CUDA device" : "";
}

}  // namespace cu264::parity
