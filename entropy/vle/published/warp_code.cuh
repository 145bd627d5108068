// Warp-codes: what the 32 threads of a warp make of their thread-inputs, built in shared memory and copied to
// the output in coalesced stores (GVLE 3.3, 3.5, 3.6).
#pragma once

#include "entropy/vle/published/block_positions.cuh"
#include "entropy/vle/published/output_words.cuh"
#include "entropy/vle/published/shared_tables.cuh"
#include "entropy/vle/published/word_builder.cuh"
#include "entropy/vle/thread_inputs.cuh"

namespace cu264::vle {

// 32 x 32 codes of 16 bits, shifted right by up to 31.
inline constexpr int kWarpCodeWords = 513;

// A thread-code as 16 segments of two codes each, in registers.
struct Segments {
  std::uint32_t value[16], length[16];
  std::uint32_t total;
};

// GVLE 3.3. The look-ups and the 16 segments do not wait for one another. False where a symbol has no code.
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

// Step 5 of GVLE: load, look up; an empty thread-code where a symbol has no code, which is reported.
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

// Step 7: a thread-code of `length` bits goes to bit `position` of the warp's buffer. `append_all(builder,
// put)` hands over its codes. Words that a thread completes it stores; bits of a word that another one
// completes it adds after a barrier. Such words are zeroed first: several partial thread-inputs may end in
// one.
template <class AppendAll>
__device__ __forceinline__ void build_warp_code(std::uint32_t* s_words, std::uint32_t position,
                                                std::uint32_t length, const AppendAll& append_all) {
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

// Step 8: words [0, (shift + length) / 32) of the buffer, and the rest, to the output from bit `position` on,
// which lies `shift` = position % 32 bits into its word. The first and the last word are shared with the
// neighbouring warp-codes.
__device__ __forceinline__ void write_warp_code(const OutputWords& output, const std::uint32_t* s_words,
                                                std::uint64_t position, std::uint32_t length) {
  if (length == 0) return;
  const std::uint32_t lane = threadIdx.x & 31,
                      last = (static_cast<std::uint32_t>(position % 32) + length - 1) / 32;
  const std::uint64_t first_word = position / 32;
  if (lane == 0) output.merge(first_word, s_words[0]);
  const std::uint32_t held = output.held(first_word, last);
  std::uint32_t* const d_words = output.at(first_word);
#pragma unroll 4
  for (std::uint32_t i = 1 + lane; i < held; i += 32) d_words[i] = OutputWords::swapped(s_words[i]);
  if (lane == 0 && last > 0) output.merge(first_word + last, s_words[last]);
}

}  // namespace cu264::vle
