// Sinks for core's syntax writers on the device.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::entropy {

// Holds up to 32 bits in a register.
struct RegisterSink {
  std::uint32_t value = 0;
  int length = 0;

  CU264_HD_MEMBER constexpr void put(std::uint32_t bits, int count) {
    value = (value << count) | bits;
    length += count;
  }
};

// Returns the low `count` (0..32) bits at the top of a word.
__device__ __forceinline__ std::uint32_t left_aligned(std::uint32_t bits, int count) {
  return __funnelshift_lc(0, bits, 32 - count);  // unlike <<, it may shift by 32
}

// Passes whole words to `store(index, word)`, most significant bit first. Only full words are passed;
// finish() adds the last one, left-aligned.
template <class Store>
class WordSink {
 public:
  __device__ __forceinline__ explicit WordSink(Store store) : store_(store) {}

  __device__ __forceinline__ void put(std::uint32_t bits, int count) {
    pending_ |= left_aligned(bits, count) >> count_;
    count_ += count;
    if (count_ >= 32) {
      store_(words_++, pending_);
      count_ -= 32;
      pending_ = left_aligned(bits, count_);
    }
  }
  // Returns the number of bits written.
  __device__ __forceinline__ int finish() {
    if (count_ > 0) store_(words_, pending_);
    return 32 * words_ + count_;
  }

 private:
  Store store_;
  int words_ = 0;
  std::uint32_t pending_ = 0;  // its high count_ bits are not stored yet, the others are zero
  int count_ = 0;              // 0..31 between calls
};

// Holds up to 32 bits, right-aligned, that wait for a word to be full.
struct BitQueue {
  std::uint32_t bits = 0;      // the low `count` of them count
  std::uint32_t overflow = 0;  // what push() shifted out of `bits`
  int count = 0;               // 0..31, except between push() and pop()

  // `length` is 0..32; the other bits of `value` are zero. Returns whether a word is full and must be
  // popped.
  __device__ __forceinline__ bool push(std::uint32_t value, int length) {
    overflow = __funnelshift_lc(bits, 0, length);
    bits = __funnelshift_lc(0, bits, length) | value;
    count += length;
    return count >= 32;
  }
  __device__ __forceinline__ std::uint32_t pop() {
    count -= 32;
    return __funnelshift_r(bits, overflow, count);
  }
  // The waiting bits, left-aligned in a word.
  __device__ __forceinline__ std::uint32_t rest() const { return left_aligned(bits, count); }
};

// A queue of up to 64 bits, right-aligned. Any code of a level fits after 36 bits.
struct WideQueue {
  std::uint32_t high = 0, low = 0;  // the low `count` bits are in use
  int count = 0;

  // Pushes to an empty queue; `length` is at most 32.
  __device__ __forceinline__ void start(std::uint32_t value, int length) {
    low = value;
    count = length;
  }
  // `length` is less than 32; the other bits of `value` are zero.
  __device__ __forceinline__ void push(std::uint32_t value, int length) {
    high = __funnelshift_l(low, high, length);
    low = low << length | value;
    count += length;
  }
  __device__ __forceinline__ void put(std::uint32_t value, int length) { push(value, length); }
  // The same, but only the low five bits of `length` count.
  __device__ __forceinline__ void push_wrapped(std::uint32_t value, std::uint32_t length) {
    high = __funnelshift_l(low, high, length);
    low = __funnelshift_l(0, low, length) | value;
    count += static_cast<int>(length & 31);
  }
  // Removes and returns the first 32 bits; the queue must hold at least as many.
  __device__ __forceinline__ std::uint32_t pop() {
    count -= 32;
    return __funnelshift_rc(low, high, count);
  }
};

// Holds up to 31 bits, right-aligned.
struct BitString {
  std::uint32_t bits = 0;
  int length = 0;
};

// Takes the bits of a block. The last bits wait in the queue; full words are passed to store(index, word).
template <class Store>
struct BlockSink {
  Store store;
  WideQueue queue = {};
  int words = 0;

  // Makes room for another word.
  __device__ __forceinline__ void make_room() {
    if (queue.count > 32) store(words++, queue.pop());
  }
  __device__ __forceinline__ void put_last(const BitString& end) {
    if (queue.count + end.length > 64) make_room();
    queue.push(end.bits, end.length);
  }
};

// A macroblock's header, right-aligned.
struct HeaderBits {
  static constexpr int kWords = 3;  // 1 + 64 + 5 + 11 + 11 bits at most

  std::uint32_t words[kWords] = {};
  int length = 0;

  __device__ __forceinline__ void put(std::uint32_t bits, int count) {
    words[0] = __funnelshift_l(words[1], words[0], count);
    words[1] = __funnelshift_l(words[2], words[1], count);
    words[2] = words[2] << count | bits;
    length += count;
  }
  // The number of bits in words[i], 0 to 32, and of the bits before it.
  __device__ __forceinline__ int length_of(int i) const {
    return max(0, min(length - 32 * (kWords - 1 - i), 32));
  }
  __device__ __forceinline__ int length_before(int i) const { return max(0, length - 32 * (kWords - i)); }
};

struct ArrayStore {
  std::uint32_t* words;
  __device__ __forceinline__ void operator()(int index, std::uint32_t word) const { words[index] = word; }
};

}  // namespace cu264::entropy
