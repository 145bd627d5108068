// The output as words, each written so that its most significant bit comes first in the stream. Nothing is
// written beyond the end.
#pragma once

#include <cuda/atomic>

#include <cstddef>
#include <cstdint>

namespace cu264::vle {

class OutputWords {
 public:
  OutputWords(std::uint8_t* d_output, std::size_t capacity)
      : d_words_(reinterpret_cast<std::uint32_t*>(d_output)), count_(capacity / 4) {}

  __device__ void store(std::uint64_t index, std::uint32_t word) const {
    if (index < count_) d_words_[index] = swapped(word);
  }
  // Returns how many of the `count` words from `index` on lie in the output.
  __device__ std::uint32_t words_inside(std::uint64_t index, std::uint32_t count) const {
    return index >= count_ ? 0 : static_cast<std::uint32_t>(count_ - index < count ? count_ - index : count);
  }
  __device__ std::uint32_t* at(std::uint64_t index) const { return d_words_ + index; }
  __device__ static std::uint32_t swapped(std::uint32_t word) { return __byte_perm(word, 0, 0x0123); }

  // ORs bits into a word that several threads share; it was zeroed before the kernel.
  __device__ void merge(std::uint64_t index, std::uint32_t word) const {
    if (index < count_) {
      cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(d_words_[index])
          .fetch_or(swapped(word), cuda::memory_order_relaxed);
    }
  }

 private:
  std::uint32_t* d_words_;
  std::uint64_t count_;
};

}  // namespace cu264::vle
