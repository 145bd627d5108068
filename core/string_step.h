// How far a part of an arithmetic coder's string moves the place where the next part begins. A part may hold
// I_PCM macroblocks, whose samples begin at a whole byte (H.264 7.3.5), so that what lies behind the first of
// them has a length of its own wherever the part begins, and what lies in front is filled up to a byte.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

CU264_HD std::uint32_t to_whole_byte(std::uint32_t bits) {
  return (bits + 7) & ~7u;
}

struct StringStep {
  std::uint32_t front = 0;   // bits up to the first I_PCM samples, or all
  std::uint32_t behind = 0;  // bits from these samples on, more than 0 if there are any

  CU264_HD_MEMBER std::uint32_t place_behind(std::uint32_t place) const {
    return behind == 0 ? place + front : to_whole_byte(place + front) + behind;
  }
};

// The step over two parts, of which `second` comes later. It is associative.
CU264_HD StringStep joined_step(const StringStep& first, const StringStep& second) {
  if (first.behind == 0) return {first.front + second.front, second.behind};
  // What is behind samples begins at a whole byte.
  return {first.front, second.place_behind(first.behind)};
}

}  // namespace cu264::core
