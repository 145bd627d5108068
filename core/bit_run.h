// How a piece of a bitstream moves the bit position, as a value that can be scanned in parallel. Lengths
// alone are not enough: I_PCM samples begin at a byte boundary (H.264 7.3.5), so the number of bits before
// them depends on where the macroblock lies. A run of macroblocks moves position x to x + before. If there is
// an I_PCM macroblock in the run, the position moves to the next byte boundary from x + before, and then by
// `after`.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

CU264_HD std::uint64_t next_byte_boundary(std::uint64_t bit_position) {
  return (bit_position + 7) & ~std::uint64_t{7};
}

struct BitRun {
  std::uint64_t before = 0;
  std::uint64_t after = 0;  // 0 unless aligned
  bool aligned = false;
};

CU264_HD std::uint64_t position_after(const BitRun& run, std::uint64_t position) {
  return run.aligned ? next_byte_boundary(position + run.before) + run.after : position + run.before;
}

// The run of `a` and then `b`. The operation is associative, and BitRun{} is its identity.
CU264_HD BitRun followed_by(const BitRun& a, const BitRun& b) {
  BitRun both = a;
  if (!a.aligned) {
    both.before += b.before;
    both.after = b.after;
    both.aligned = b.aligned;
  } else {
    // The position within b is known up to whole bytes.
    both.after = b.aligned ? next_byte_boundary(a.after + b.before) + b.after : a.after + b.before;
  }
  return both;
}

}  // namespace cu264::core
