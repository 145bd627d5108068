// The level of a stream (H.264 A.3, table A-1).
#pragma once

#include <cstdint>

#include "cu264/encoder.h"

namespace cu264::encoder {

struct StreamLevel {
  int level_idc = 62;  // 10 x the level; 9 is level 1b
  bool holds = false;  // false: even level 6.2 is exceeded
};

// The smallest level that holds the picture's size, its sides, one reference frame and the macroblock rate.
// The bit rate counts only if it is known: 0, as with a constant QP, leaves MaxBR out of consideration.
StreamLevel choose_level(int mb_width, int mb_height, Rational frame_rate, std::int64_t bits_per_second = 0);

}  // namespace cu264::encoder
