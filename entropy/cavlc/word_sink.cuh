// Sinks for core's syntax writers on the device.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::entropy {

// Up to 32 bits in a register.
struct RegisterSink {
  std::uint32_t value = 0;
  int length = 0;

  CU264_HD_MEMBER constexpr void put(std::uint32_t bits, int count) {
    value = (value << count) | bits;
    length += count;
  }
};

// The low `count` (0..32) bits at the top of a word.
__device__ __forceinline__ std::uint32_t left_aligned(std::uint32_t bits, int count) {
  return __funnelshift_lc(0, bits, 32 - count);  // unlike <<, 32 is a legal shift
}

// Whole words for `store(index, word)`, most significant bit first. No word is handed on before it is full:
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

// Up to 32 bits that wait for a word to be full, right-aligned.
struct BitQueue {
  std::uint32_t bits = 0;      // the low `count` of them count
  std::uint32_t overflow = 0;  // what push() shifted out of them
  int count = 0;               // 0..31 but between push() and pop()

  // `length` is 0..32; the other bits of `value` are zero. True: a word is full and must be popped.
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
  // What waits, left-aligned in a word.
  __device__ __forceinline__ std::uint32_t rest() const { return left_aligned(bits, count); }
};

// Up to 64 bits, right-aligned: room for any code of a level behind 36 of them.
struct WideQueue {
  std::uint32_t high = 0, low = 0;  // of which the low `count` bits count
  int count = 0;

  // Of an empty queue; `length` is at most 32.
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
  // The same, of whose `length` only the low five bits count.
  __device__ __forceinline__ void push_wrapped(std::uint32_t value, std::uint32_t length) {
    high = __funnelshift_l(low, high, length);
    low = __funnelshift_l(0, low, length) | value;
    count += static_cast<int>(length & 31);
  }
  // The first 32 of at least as many.
  __device__ __forceinline__ std::uint32_t pop() {
    count -= 32;
    return __funnelshift_rc(low, high, count);
  }
};

// Up to 31 bits, right-aligned.
struct BitString {
  std::uint32_t bits = 0;
  int length = 0;
};

// The bits of a block: the last ones wait in the queue, words that were full go to store(index, word).
template <class Store>
struct BlockSink {
  Store store;
  WideQueue queue = {};
  int words = 0;

  // Leaves room for a word.
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
  // Bits in words[i], 0 to 32, and in front of it.
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
