// Codes, one after another, to words of 32 bits.
#pragma once

#include <cstdint>

namespace cu264::vle {

// Hands every word it completes to put(word), most significant bit first.
class WordBuilder {
 public:
  // The first `used` bits of the first word, 0 to 31, belong to someone else and are left zero.
  __device__ explicit WordBuilder(std::uint32_t used) : used_(used) {}

  // `length` 0 to 32; `code` has no bit above it.
  template <class Put>
  __device__ __forceinline__ void append(std::uint32_t code, std::uint32_t length, const Put& put) {
    pending_ = pending_ << length | code;
    const std::uint32_t next = used_ + length;
    if (((next ^ used_) & 32) != 0) {
      put(__funnelshift_r(static_cast<std::uint32_t>(pending_), static_cast<std::uint32_t>(pending_ >> 32),
                          next));
    }
    used_ = next;
  }

  // Bits of a word not yet complete, in its upper part, and whether there are any.
  __device__ std::uint32_t rest() const { return static_cast<std::uint32_t>(pending_) << (32 - used_ % 32); }
  __device__ bool has_rest() const { return used_ % 32 != 0; }

 private:
  std::uint64_t pending_ = 0;  // right-aligned; only the lowest used_ % 32 bits are still to be put
  std::uint32_t used_;         // with all bits before
};

}  // namespace cu264::vle
