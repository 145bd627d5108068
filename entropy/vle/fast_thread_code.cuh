// Codes a thread's symbols. Whole words go to the thread's own column of its warp's stage; this causes no
// bank conflicts and does not require the code's position in the stream.
#pragma once

#include <cstdint>

#include "entropy/vle/fast_symbols.cuh"
#include "entropy/vle/fast_table.cuh"

namespace cu264::vle::fast {

struct ThreadCode {
  std::uint32_t bits;     // its length, 0 to 16 for each symbol
  std::uint32_t tail;     // its last 32 bits; if it is shorter, all of it, right-aligned
  std::uint32_t missing;  // not 0: a symbol has no code
};

class CodeBuilder {
 public:
  // Row k of the thread's column is column[32 * k].
  __device__ explicit CodeBuilder(std::uint32_t* column) : next_(column) {}

  __device__ void append(std::uint32_t word) {
    high_ = __funnelshift_l(low_, high_, word);
    low_ = __funnelshift_l(word, low_, word);
  }
  // Call this after at most 32 more bits than at the last call; `words` is the sum of their words.
  __device__ void flush(std::uint32_t words) {
    const std::uint32_t before = sum_;
    sum_ += words;
    if ((before ^ sum_) & 32) {
      *next_ = __funnelshift_r(low_, high_, sum_);
      next_ += 32;
    }
  }
  // Call this after at most 31 more symbols than at the last call.
  __device__ void look_for_missing() { missing_ |= sum_ & kMissingBits; }

  __device__ ThreadCode finish() {
    look_for_missing();
    if (sum_ & 31) *next_ = low_ << (32 - (sum_ & 31));
    return {sum_ & kLengthBits, low_, missing_};
  }

 private:
  std::uint32_t* next_;
  std::uint32_t high_ = 0, low_ = 0;  // the last 64 bits of the code so far
  std::uint32_t sum_ = 0;
  std::uint32_t missing_ = 0;
};

// Look-ups run four symbols ahead, because the compiler cannot move them before stores.
template <int kThreadSymbols, class Table>
__device__ inline ThreadCode encode_thread(const Symbols<kThreadSymbols>& symbols, const Table& table,
                                           std::uint32_t* column) {
  struct Four {
    std::uint32_t a, b, c, d;
  };
  const auto look_up = [&](std::uint32_t four) {
    return Four{table.template look_up<0>(four), table.template look_up<1>(four),
                table.template look_up<2>(four), table.template look_up<3>(four)};
  };
  CodeBuilder builder(column);
  Four next = look_up(symbols.words[0]);
#pragma unroll
  for (int i = 0; i < kThreadSymbols / 4; ++i) {
    const Four now = next;
    if (i + 1 < kThreadSymbols / 4) next = look_up(symbols.words[i + 1]);
    builder.append(now.a);
    builder.append(now.b);
    builder.flush(now.a + now.b);
    builder.append(now.c);
    builder.append(now.d);
    builder.flush(now.c + now.d);
    if (i % 4 == 3) builder.look_for_missing();
  }
  return builder.finish();
}

// Codes the input's last few symbols, which are fewer than a thread's share.
template <class Table>
__device__ inline ThreadCode encode_rest(const std::uint8_t* first, int count, const Table& table,
                                         std::uint32_t* column) {
  CodeBuilder builder(column);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t word = table.template look_up<0>(first[i]);
    builder.append(word);
    builder.flush(word);
    builder.look_for_missing();
  }
  return builder.finish();
}

}  // namespace cu264::vle::fast
