// Step 2 of GUD-Canny (3.2): the gradient of the smoothed picture by the first difference (-1, 0, 1).
//
// dx and dy are differences of Q4 samples two apart: -4080 .. 4080, positive towards brighter samples to the
// right and below. The magnitude is floor(sqrt(dx^2 + dy^2)), 0 .. 5769. Pixels of the picture's frame have
// magnitude 0: one of their neighbours is missing.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::vision {

inline constexpr int kMaxMagnitude = 5769;

// True for a pixel with all eight neighbours inside the picture. Others have dx = dy = 0.
CU264_HD bool has_gradient(int x, int y, int width, int height) {
  return x > 0 && y > 0 && x < width - 1 && y < height - 1;
}

// floor(sqrt(value)) for 0 <= value < 2^30. The float root is off by at most one, however it is rounded, and
// the integer comparisons correct that, so the result is exact.
CU264_HD int integer_sqrt(int value) {
  int root = static_cast<int>(__builtin_sqrtf(static_cast<float>(value)));
  root -= root * root > value;
  root += (root + 1) * (root + 1) <= value;
  return root;
}

CU264_HD int gradient_magnitude(int dx, int dy) {
  return integer_sqrt(dx * dx + dy * dy);
}

// One of the eight directions pi/8 + k pi/4 (3.3): the gradient points between a neighbour on an axis and one
// on a diagonal. Their offsets point towards brighter samples; those towards darker samples are the
// negatives.
struct Direction {
  int axis_x, axis_y;          // one of them 0, the other -1 or 1
  int diagonal_x, diagonal_y;  // -1 or 1
  int along;                   // max(|dx|, |dy|)
  int across;                  // min(|dx|, |dy|): the line departs from the axis by across / along
};

CU264_HD Direction direction_of(int dx, int dy) {
  const int x = dx < 0 ? -1 : 1, y = dy < 0 ? -1 : 1;
  const int size_x = dx * x, size_y = dy * y;
  if (size_x >= size_y) return {x, 0, x, y, size_x, size_y};
  return {0, y, x, y, size_y, size_x};
}

}  // namespace cu264::vision
