// Arrays one after another in one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cu264 {

constexpr std::size_t aligned(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Hands out aligned arrays of a piece of memory, or, without one, only counts their bytes: the same function
// measures and lays out.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 256;  // of cudaMalloc itself

  explicit Arena(void* memory) : base_(reinterpret_cast<std::uintptr_t>(memory)) {}

  template <class T = std::uint8_t>
  T* take(std::size_t count) {
    T* const array = reinterpret_cast<T*>(base_ + bytes_);
    bytes_ += aligned(count * sizeof(T), kAlignment);
    return array;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::uintptr_t base_;  // 0: arrays are addresses that nobody may use
  std::size_t bytes_ = 0;
};

}  // namespace cu264
