// Sinks for core's syntax writers on the device.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::entropy {

// Up to 32 bits in a register.
struct RegisterSink {
  std::uint32_t value = 0;
  int length = 0;

  __device__ __forceinline__ void put(std::uint32_t bits, int count) {
    value = (value << count) | bits;
    length += count;
  }
};

// The low `count` (0..32) bits at the top of a word.
__device__ __forceinline__ std::uint32_t left_aligned(std::uint32_t bits, int count) {
  return __funnelshift_lc(0, bits, 32 - count);  // unlike <<, 32 is a legal shift
}

// Words in shared memory, kStride words apart. No word is written before it is full: finish() adds the last
// one, left-aligned.
template <int kStride>
class WordSink {
 public:
  __device__ __forceinline__ explicit WordSink(std::uint32_t* s_words) : s_words_(s_words) {}

  __device__ __forceinline__ void put(std::uint32_t bits, int count) {
    pending_ |= left_aligned(bits, count) >> count_;
    count_ += count;
    if (count_ >= 32) {
      s_words_[kStride * words_++] = pending_;
      count_ -= 32;
      pending_ = left_aligned(bits, count_);
    }
  }
  // Returns the number of bits written.
  __device__ __forceinline__ int finish() {
    if (count_ > 0) s_words_[kStride * words_] = pending_;
    return 32 * words_ + count_;
  }

 private:
  std::uint32_t* s_words_;
  int words_ = 0;
  std::uint32_t pending_ = 0;  // its high count_ bits are not stored yet, the others are zero
  int count_ = 0;              // 0..31 between calls
};

}  // namespace cu264::entropy
