// A cheap measure of edges for fast encodes, which cannot afford an edge map: the number of samples of the
// half-size picture at a step of brightness, counted in squares of 16 x 16 samples in one pass over luma.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hd.h"

namespace cu264::vision {

inline constexpr int kHalfSide = 8;  // a square's side in the half-size picture

// The least |dx| + |dy| of a step, from the neighbours on either side. A half-size sample is the sum of four.
inline constexpr int kStep = 48;

// Tells whether there is a step between the neighbouring half-size samples. Outside the picture, which
// consists of whole squares, the border's sample is repeated.
CU264_HD bool is_step(int left, int right, int above, int below) {
  const int dx = right - left, dy = below - above;
  return (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy) >= kStep;
}

// Counts, on the host, the steps of square (x, y) of a picture that is padded to wide x high squares.
int count_steps(const std::uint8_t* luma, std::ptrdiff_t pitch, int x, int y, int wide, int high);

}  // namespace cu264::vision
