// Steps in the half-size picture of one square of 16 x 16 samples, on one warp (vision/half_size_steps.h).
#pragma once

#include <cstdint>

#include "vision/cuda/planes.h"
#include "vision/gaussian.h"
#include "vision/half_size_steps.h"

namespace cu264::vision::cuda {

// Of the square, with a border of one sample; corners are not used.
struct HalfSamples {
  std::int16_t at[kHalfSide + 2][kHalfSide + 2];
};

// Four samples of the picture; those outside the padded picture's half-size form repeat its border.
__device__ inline int half_sample(const Plane<const std::uint8_t>& plane, int x, int y, int half_width,
                                  int half_height, int width, int height) {
  x = 2 * inside(x, half_width), y = 2 * inside(y, half_height);
  const std::uint8_t* const above = plane.row(inside(y, height));
  const std::uint8_t* const below = plane.row(inside(y + 1, height));
  const int left = inside(x, width), right = inside(x + 1, width);
  return above[left] + above[right] + below[left] + below[right];
}

// A lane's share of the steps. Lanes hold a row's half each: lane / 2 is the row, `eight` its samples.
__device__ inline int steps_of_lane(const Plane<const std::uint8_t>& plane, const int (&eight)[8],
                                    int square_x, int square_y, int wide, int high, int width, int height,
                                    HalfSamples& s_half, int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int pair = eight[2 * i] + eight[2 * i + 1];
    const int four = pair + __shfl_xor_sync(0xffffffffu, pair, 2);
    if ((lane & 2) == 0) s_half.at[1 + lane / 4][1 + 4 * (lane & 1) + i] = static_cast<std::int16_t>(four);
  }
  const int side = lane >> 3, i = lane & 7;
  const int x = side < 2 ? i : side == 2 ? -1 : kHalfSide;
  const int y = side >= 2 ? i : side == 0 ? -1 : kHalfSide;
  s_half.at[1 + y][1 + x] =
      static_cast<std::int16_t>(half_sample(plane, kHalfSide * square_x + x, kHalfSide * square_y + y,
                                            kHalfSide * wide, kHalfSide * high, width, height));
  __syncwarp();
  int steps = 0;
#pragma unroll
  for (int k = lane; k < kHalfSide * kHalfSide; k += 32) {
    const int column = 1 + (k & 7), row = 1 + (k >> 3);
    steps += is_step(s_half.at[row][column - 1], s_half.at[row][column + 1], s_half.at[row - 1][column],
                     s_half.at[row + 1][column]);
  }
  return steps;
}

}  // namespace cu264::vision::cuda
