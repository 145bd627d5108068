// Device memory that notices writes outside a range with any alignment.
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

  // The range begins `offset` elements off alignment.
  GuardedArray(std::size_t count, std::size_t offset)
      : count_(count), begin_(kGuard + offset), array_(poisoned(begin_ + count + kGuard)) {}

  T* data() const { return array_.data() + begin_; }

  // Returns the first `written` elements; the test fails if anything else has changed.
  std::vector<T> written(std::size_t written) const {
    const std::vector<T> all = array_.download(), before = poisoned(all.size());
    const std::size_t end = begin_ + written;
    if (std::memcmp(all.data(), before.data(), begin_ * sizeof(T)) != 0)
      throw std::runtime_error("written before the array's begin");
    if (std::memcmp(all.data() + end, before.data() + end, (all.size() - end) * sizeof(T)) != 0)
      throw std::runtime_error("written beyond the result");
    return {all.begin() + static_cast<std::ptrdiff_t>(begin_),
            all.begin() + static_cast<std::ptrdiff_t>(end)};
  }

 private:
  static std::vector<T> poisoned(std::size_t count) {
    std::vector<T> values(count);
    std::memset(static_cast<void*>(values.data()), 0xa5, count * sizeof(T));
    return values;
  }
  std::size_t count_, begin_;
  DeviceArray<T> array_;
};

// Input that begins `offset` elements off alignment and ends with its memory.
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

// Makes the two calls of a function that takes scratch memory, which is poisoned.
template <class Function>
void call_with_scratch(const Function& function) {
  std::size_t bytes = 0;
  function(nullptr, bytes);
  const DeviceArray<std::uint8_t> d_scratch(bytes);
  check_cuda(cudaMemset(d_scratch.data(), 0xa5, bytes), "cudaMemset");
  function(d_scratch.data(), bytes);
  check_cuda(cudaDeviceSynchronize(), "the kernels");
}

}  // namespace cu264::parity
