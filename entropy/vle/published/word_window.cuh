// The two windows of 32 bits in which the papers join codes to words, as printed. word_builder.cuh has 64
// bits, for the tuned forms.
#pragma once

#include <cstdint>

namespace cu264::vle {

// YAVLE's word_val and word_len (GVLE paper, 2.3.3). A word stays while it has at most 32 bits; the first
// code that does not fit passes it on to put(word). Codes have 16 bits at most.
class WordValue {
 public:
  // The first `used` bits of the first word, 0 to 31, belong to another thread and are left zero.
  __device__ explicit WordValue(std::uint32_t used) : length_(used) {}

  template <class Put>
  __device__ __forceinline__ void append(std::uint32_t code, std::uint32_t length, const Put& put) {
    const std::uint32_t both = length_ + length;
    if (both <= 32) {
      value_ = value_ << length | code;
      length_ = both;
      return;
    }
    const std::uint32_t over = both - 32;
    put(value_ << (length - over) | code >> over);
    value_ = code & ((1u << over) - 1);
    length_ = over;
  }

  // The last word, whose bits are in its upper part.
  __device__ std::uint32_t rest() const { return value_ << ((32 - length_) & 31); }
  __device__ bool has_rest() const { return length_ != 0; }

 private:
  std::uint32_t value_ = 0;  // right-aligned
  std::uint32_t length_;
};

// The element of GVLE's buffer that a thread fills (3.5): it is passed on as soon as it has 32 bits, so that
// the last chunk has 31 at most. Codes have 32 bits at most.
class CodeElement {
 public:
  __device__ explicit CodeElement(std::uint32_t used) : used_(used) {}

  template <class Put>
  __device__ __forceinline__ void append(std::uint32_t code, std::uint32_t length, const Put& put) {
    const std::uint32_t next = used_ + length;
    if (next < 32) {
      value_ |= code << ((32 - next) & 31);  // at 0 there is no code yet
      used_ = next;
      return;
    }
    const std::uint32_t over = next - 32;
    put(value_ | code >> over);
    value_ = code << 1 << (31 - over);
    used_ = over;
  }

  __device__ std::uint32_t rest() const { return value_; }
  __device__ bool has_rest() const { return used_ != 0; }

 private:
  std::uint32_t value_ = 0;  // left-aligned
  std::uint32_t used_;
};

}  // namespace cu264::vle
