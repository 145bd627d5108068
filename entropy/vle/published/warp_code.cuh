// Warp-codes: the codes of the thread-inputs of a warp's 32 threads, built in shared memory and copied to
// the output in coalesced stores (GVLE 3.3, 3.5, 3.6).
#pragma once

#include "entropy/vle/published/block_positions.cuh"
#include "entropy/vle/published/output_words.cuh"
#include "entropy/vle/published/shared_tables.cuh"
#include "entropy/vle/published/word_builder.cuh"
#include "entropy/vle/published/word_window.cuh"
#include "entropy/vle/thread_inputs.cuh"

namespace cu264::vle {

// Words for 32 x 32 codes of 16 bits, shifted right by up to 31.
inline constexpr int kWarpCodeWords = 513;

// Shared memory for the warp-codes of a thread block.
inline std::size_t warp_code_bytes(int threads) {
  return threads / 32 * kWarpCodeWords * sizeof(std::uint32_t);
}

// A thread-code as 16 segments of two codes each, in registers.
struct Segments {
  std::uint32_t value[16], length[16];
  std::uint32_t total;
};

// Makes the segments (GVLE 3.3). The look-ups and the 16 segments are independent. Returns false if a symbol
// has no code.
template <bool kWhole>
__device__ __forceinline__ bool make_segments(const SymbolVector& symbols, int first, int last,
                                              const SplitTable& s_table, Segments& segments) {
  std::uint32_t total = 0, seen = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    uint2 a = s_table[symbols[2 * i]], b = s_table[symbols[2 * i + 1]];
    if (!kWhole && (2 * i < first || 2 * i >= last)) a = make_uint2(0, 0);
    if (!kWhole && (2 * i + 1 < first || 2 * i + 1 >= last)) b = make_uint2(0, 0);
    segments.value[i] = a.x << (b.y & 31) | b.x;
    segments.length[i] = a.y + b.y;
    total += segments.length[i], seen |= segments.length[i];
  }
  segments.total = total;
  return (seen & (kNoCode | 2 * kNoCode)) == 0;
}

// Step 5 of GVLE: loads symbols and looks up their codes. If a symbol has no code, that is reported, and the
// thread-code is empty.
template <class Call>
__device__ __forceinline__ void load_segments(const Call& call, std::uint64_t thread_input,
                                              const SplitTable& s_table, Segments& segments) {
  bool known;
  if (call.inputs.is_whole(thread_input)) {
    known = make_segments<true>(load_whole(call.inputs, thread_input), 0, 32, s_table, segments);
  } else {
    known = make_segments<false>(load_partial(call.inputs, thread_input), call.inputs.first(thread_input),
                                 call.inputs.last(thread_input), s_table, segments);
  }
  if (known) return;
  report_missing(call);
  segments.total = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) segments.value[i] = segments.length[i] = 0;
}

// A kernel as its paper prints it, or in a form that is faster today.
enum class Form { published, tuned };

// Step 7: writes a thread-code of `length` bits from bit `position` of the warp's buffer on.
// `append_all(builder, put)` appends its codes; `is_last` says that no thread-input comes after this one.
template <Form kForm>
struct WarpCodeBuilder;

// As printed (3.5). Each thread stores the words that it completes; after a barrier it adds its last chunk to
// the word that the next thread has stored, or stores it where there is no next thread. A whole thread-input
// completes at least one word, since it has 32 symbols. The last thread-input may be shorter; in that case,
// as in the authors' code, it stores its word before the barrier.
template <>
struct WarpCodeBuilder<Form::published> {
  template <class AppendAll>
  __device__ static __forceinline__ void build(std::uint32_t* s_words, std::uint32_t position,
                                               std::uint32_t length, bool is_last,
                                               const AppendAll& append_all) {
    std::uint32_t* const s_first = s_words + position / 32;
    std::uint32_t* s_element = s_first;
    CodeElement element(position % 32);
    if (length > 0) append_all(element, [&](std::uint32_t word) { *s_element++ = word; });
    bool has_rest = length > 0 && element.has_rest();
    if (has_rest && is_last && s_element == s_first) {
      *s_element = element.rest();
      has_rest = false;
    }
    __syncwarp();
    if (has_rest) {
      if ((threadIdx.x & 31) == 31 || is_last)
        *s_element = element.rest();
      else
        *s_element |= element.rest();
    }
    __syncwarp();
  }
};

// A window of 64 bits. Every thread zeroes the word in which its code ends, and after a barrier joins its
// last chunk to it by an atomic OR, so that no thread-code is a special case.
template <>
struct WarpCodeBuilder<Form::tuned> {
  template <class AppendAll>
  __device__ static __forceinline__ void build(std::uint32_t* s_words, std::uint32_t position,
                                               std::uint32_t length, bool, const AppendAll& append_all) {
    std::uint32_t* const s_rest = s_words + (position + length) / 32;
    const bool has_rest = length > 0 && (position + length) % 32 != 0;
    if (has_rest) *s_rest = 0;
    __syncwarp();
    WordBuilder builder(position % 32);
    std::uint32_t* s_word = s_words + position / 32;
    append_all(builder, [&](std::uint32_t word) { *s_word++ = word; });
    __syncwarp();
    if (has_rest) atomicOr(s_rest, builder.rest());
    __syncwarp();
  }
};

// Step 8: copies words [0, (shift + length) / 32) of the buffer, and the rest, to the output from bit
// `position` on, which is bit `shift` = position % 32 of its word. The first and the last word are shared
// with the neighbouring warp-codes.
__device__ __forceinline__ void write_warp_code(const OutputWords& output, const std::uint32_t* s_words,
                                                std::uint64_t position, std::uint32_t length) {
  if (length == 0) return;
  const std::uint32_t lane = threadIdx.x & 31,
                      last = (static_cast<std::uint32_t>(position % 32) + length - 1) / 32;
  const std::uint64_t first_word = position / 32;
  if (lane == 0) output.merge(first_word, s_words[0]);
  const std::uint32_t inside = output.words_inside(first_word, last);
  std::uint32_t* const d_words = output.at(first_word);
#pragma unroll 4
  for (std::uint32_t i = 1 + lane; i < inside; i += 32) d_words[i] = OutputWords::swapped(s_words[i]);
  if (lane == 0 && last > 0) output.merge(first_word + last, s_words[last]);
}

}  // namespace cu264::vle
