// gradient_magnitude (vision/gradient.h) from the device's approximate square root: one instruction in place
// of eight. The approximate root, too, is off by at most one, and the comparisons of integer_sqrt correct
// that. Tests compare both functions for every sum of squares.
#pragma once

#include "vision/gradient.h"

namespace cu264::vision::cuda {

__device__ __forceinline__ int device_sqrt(int value) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(static_cast<float>(value)));
  int whole = static_cast<int>(root);
  whole -= whole * whole > value;
  whole += (whole + 1) * (whole + 1) <= value;
  return whole;
}

__device__ __forceinline__ int device_magnitude(int dx, int dy) {
  return device_sqrt(dx * dx + dy * dy);
}

}  // namespace cu264::vision::cuda
