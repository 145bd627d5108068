// The level of a stream (H.264 A.3, table A-1).
#pragma once

#include <cstdint>

#include "cu264/encoder.h"

namespace cu264::encoder {

struct StreamLevel {
  int level_idc = 62;  // 10 x the level; 9 is level 1b
  bool holds = false;  // false: the stream exceeds even level 6.2
  std::int64_t bit_rate =
      0;  // the most bits a second (cpbBrVclFactor * MaxBR); 0 if no level holds the stream
};

// The lowest level that allows the picture's size, its sides, one reference frame and the macroblock rate.
// With a bit rate of 0, which means unknown, as with a constant QP, MaxBR is not considered; nor is MaxCPB
// without a buffer. The profile determines the bits that MaxBR and MaxCPB stand for (table A-2). `slices` of
// a picture are limited above Baseline (A.3.3).
StreamLevel choose_level(int mb_width, int mb_height, Rational frame_rate, std::int64_t bits_per_second = 0,
                         std::int64_t buffer_bits = 0, int slices = 1, Profile profile = Profile::baseline);

// The level that Config::level_idc asks for, or else the lowest possible one. Throws Error(invalid_argument)
// if the stream exceeds the requested level.
StreamLevel stream_level(const Config& config);

inline constexpr int kLevel1b = 9;  // its level_idc here
bool is_level(int level_idc);

}  // namespace cu264::encoder
