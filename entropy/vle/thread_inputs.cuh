// Divides an input among threads: thread-inputs are kSpan symbols at addresses that are multiples of kSpan,
// so that whole ones can be read in words and vectors wherever the input begins. At most the first and the
// last one are partial.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cu264::vle {

// Takes one instruction for any of the four bytes.
__device__ __forceinline__ std::uint32_t byte_of(std::uint32_t word, int byte) {
  return __byte_perm(word, 0, 0x4440 + static_cast<unsigned>(byte));
}

template <int kSpan>
class ThreadInputs {
 public:
  __host__ __device__ ThreadInputs(const std::uint8_t* d_input, std::size_t size)
      : base_(d_input - reinterpret_cast<std::uintptr_t>(d_input) % kSpan),
        begin_(reinterpret_cast<std::uintptr_t>(d_input) % kSpan),
        end_(begin_ + size) {}

  // The most thread-inputs of an input of this size, wherever it begins.
  static constexpr std::uint64_t most(std::size_t size) { return size / kSpan + 2; }

  __host__ __device__ std::uint64_t count() const { return begin_ == end_ ? 0 : (end_ + kSpan - 1) / kSpan; }

  // Symbols [first, last) of thread-input t belong to the input. If t is count() or more, there are none.
  __device__ bool is_whole(std::uint64_t t) const { return t * kSpan >= begin_ && (t + 1) * kSpan <= end_; }
  __device__ int first(std::uint64_t t) const { return t == 0 ? static_cast<int>(begin_) : 0; }
  __device__ int last(std::uint64_t t) const {
    const std::uint64_t begin = t * kSpan;
    return begin >= end_ ? 0 : static_cast<int>(end_ - begin < kSpan ? end_ - begin : kSpan);
  }

  __device__ const std::uint8_t* at(std::uint64_t t) const { return base_ + t * kSpan; }

 private:
  const std::uint8_t* base_;  // up to kSpan - 1 bytes before the input
  std::uint64_t begin_, end_;
};

// Calls visit(symbol) for the symbols of thread-input t in order. A whole thread-input is read word by word.
template <int kSpan, class Visit>
__device__ __forceinline__ void for_each_symbol(const ThreadInputs<kSpan>& inputs, std::uint64_t t,
                                                const Visit& visit) {
  const std::uint8_t* const d_symbols = inputs.at(t);
  if (inputs.is_whole(t)) {
#pragma unroll 4
    for (int i = 0; i < kSpan / 4; ++i) {
      const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(d_symbols)[i];
#pragma unroll
      for (int byte = 0; byte < 4; ++byte) visit(byte_of(word, byte));
    }
  } else {
    for (int i = inputs.first(t); i < inputs.last(t); ++i) visit(static_cast<std::uint32_t>(d_symbols[i]));
  }
}

// A thread-input of 32 symbols in registers (GVLE 3.2), loaded with two loads of 16 bytes, the widest of
// Hopper.
struct SymbolVector {
  std::uint32_t word[8];

  __device__ std::uint32_t operator[](int i) const { return byte_of(word[i / 4], i % 4); }
};

__device__ __forceinline__ SymbolVector load_whole(const ThreadInputs<32>& inputs, std::uint64_t t) {
  const uint4* const d_vectors = reinterpret_cast<const uint4*>(inputs.at(t));
  const uint4 a = __ldg(d_vectors), b = __ldg(d_vectors + 1);
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}

__device__ __forceinline__ SymbolVector load_partial(const ThreadInputs<32>& inputs, std::uint64_t t) {
  const int first = inputs.first(t), last = inputs.last(t);
  SymbolVector symbols{};
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    if (i < first || i >= last) continue;
    symbols.word[i / 4] |= static_cast<std::uint32_t>(inputs.at(t)[i]) << (8 * (i % 4));
  }
  return symbols;
}

}  // namespace cu264::vle
