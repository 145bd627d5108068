// Reads codes one after the other from any position in a stream.
#pragma once

#include <cstdint>

namespace cu264::vle::gpu_decode {

struct StreamView {
  const std::uint32_t* words;
  std::uint64_t word_count;  // words that may be read
  bool aligned;              // the words are aligned to 16 bytes

  // Word i as a big-endian number, or zero beyond the end.
  __device__ std::uint32_t word(std::uint64_t i) const {
    return i < word_count ? __byte_perm(__ldg(words + i), 0, 0x0123) : 0;
  }
  // Words 4i to 4i + 3 in the byte order of memory.
  __device__ uint4 vector(std::uint64_t i) const {
    if (aligned && i < word_count / 4) return __ldg(reinterpret_cast<const uint4*>(words) + i);
    const auto raw = [&](std::uint64_t word) { return word < word_count ? __ldg(words + word) : 0; };
    return make_uint4(raw(4 * i), raw(4 * i + 1), raw(4 * i + 2), raw(4 * i + 3));
  }
};

class CodeReader {
 public:
  // Beyond the end of the stream it reads zeros.
  __device__ CodeReader(const StreamView& stream, std::uint64_t position)
      : stream_(stream), next_index_(position / 32 + 2), position_(position % 32) {
    const std::uint64_t first = position / 32;
    high_ = stream.word(first);
    low_ = stream.word(first + 1);
    next_ = stream.word(first + 2);
  }

  // The next 32 bits.
  __device__ std::uint32_t window() const { return __funnelshift_l(low_, high_, position_); }
  // Takes an entry of Table, of which only the lowest 8 bits, the length, count.
  __device__ void skip(std::uint32_t entry) {
    const std::uint32_t before = position_;
    position_ += entry;
    if ((before ^ position_) & 32) {
      high_ = low_;
      low_ = next_;
      next_ = stream_.word(++next_index_);
    }
  }
  // The position of the next bit in the stream.
  __device__ std::uint64_t position() const { return (next_index_ - 2) * 32 + position_ % 32; }

 private:
  StreamView stream_;
  std::uint64_t next_index_;
  std::uint32_t high_, low_, next_;
  std::uint32_t position_;  // the lowest five bits are the position in high_
};

}  // namespace cu264::vle::gpu_decode
