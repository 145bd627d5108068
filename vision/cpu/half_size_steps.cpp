#include "vision/half_size_steps.h"

#include "vision/gaussian.h"

namespace cu264::vision {
namespace {

// Half-size luma of one square with a border of one sample.
struct HalfSquare {
  int at[kHalfSide + 2][kHalfSide + 2];
};

HalfSquare half_of(const std::uint8_t* luma, std::ptrdiff_t pitch, int square_x, int square_y, int half_width,
                   int half_height) {
  HalfSquare half;
  for (int y = 0; y < kHalfSide + 2; ++y) {
    const std::uint8_t* const row = luma + 2 * inside(kHalfSide * square_y + y - 1, half_height) * pitch;
    for (int x = 0; x < kHalfSide + 2; ++x) {
      const std::uint8_t* const four = row + 2 * inside(kHalfSide * square_x + x - 1, half_width);
      half.at[y][x] = four[0] + four[1] + four[pitch] + four[pitch + 1];
    }
  }
  return half;
}

}  // namespace

int count_steps(const std::uint8_t* luma, std::ptrdiff_t pitch, int x, int y, int wide, int high) {
  const HalfSquare half = half_of(luma, pitch, x, y, kHalfSide * wide, kHalfSide * high);
  int steps = 0;
  for (int i = 1; i <= kHalfSide; ++i) {
    for (int k = 1; k <= kHalfSide; ++k) {
      steps += is_step(half.at[i][k - 1], half.at[i][k + 1], half.at[i - 1][k], half.at[i + 1][k]);
    }
  }
  return steps;
}

}  // namespace cu264::vision
