// Edges where a full edge map would cost too much, as in a fast encode: samples of the half-size picture with
// a step of brightness beside them, counted in squares of 16 x 16 samples. One pass over luma finds them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hd.h"

namespace cu264::vision {

inline constexpr int kHalfSide = 8;  // a square's side in the half-size picture

// |dx| + |dy| of half-size samples, each the sum of four samples, a sample apart on either side, from which
// on there is a step.
inline constexpr int kStep = 48;

// From the half-size samples to the left, right, above and below. Outside the (whole squares') picture the
// border's sample is repeated.
CU264_HD bool is_step(int left, int right, int above, int below) {
  const int dx = right - left, dy = below - above;
  return (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy) >= kStep;
}

// On the host: the steps of square (x, y) of a picture that is padded to wide x high squares.
int count_steps(const std::uint8_t* luma, std::ptrdiff_t pitch, int x, int y, int wide, int high);

}  // namespace cu264::vision
