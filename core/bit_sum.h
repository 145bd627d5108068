// The sum of bit strings that overlap: the arithmetic coder's output from pieces of a slice (docs/cabac.md).
// Words hold a number, the most significant word first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

// Returns one word of a string that is shifted by `shift` (0 to 31) bits towards its end; `before` is the
// word before `word`.
CU264_HD std::uint32_t moved_word(std::uint32_t before, std::uint32_t word, int shift) {
  return shift == 0 ? word : before << (32 - shift) | word >> shift;
}

// Adds `value` to word `at` and the carry to the words before. add(at, value) adds to one word and returns
// whether it overflowed. The order of additions does not change the sum, so many threads may add to the same
// words at once if add() is atomic.
template <class Add>
CU264_FLOW void add_to_sum(std::ptrdiff_t at, std::uint32_t value, const Add& add) {
  for (; add(at, value); --at) value = 1;
}

}  // namespace cu264::core
