// The 4x4 integer transform and the Hadamard transforms of the DC levels (H.264 8.5.10 to 8.5.12).
// T is int, or a vector type whose lanes are independent blocks.
#pragma once

#include "core/hd.h"

namespace cu264::core {

template <class T>
CU264_HD void forward_1d(T& a, T& b, T& c, T& d) {
  const T s0 = a + d, s1 = b + c, d0 = a - d, d1 = b - c;
  a = s0 + s1;
  b = d0 + d0 + d1;
  c = s0 - s1;
  d = d0 - d1 - d1;
}

template <class T>
CU264_HD void inverse_1d(T& a, T& b, T& c, T& d) {
  const T e0 = a + c, e1 = a - c, e2 = (b >> 1) - d, e3 = b + (d >> 1);
  a = e0 + e3;
  b = e1 + e2;
  c = e1 - e2;
  d = e0 - e3;
}

template <class T>
CU264_HD void hadamard_1d(T& a, T& b, T& c, T& d) {
  const T s0 = a + b, s1 = c + d, d0 = a - b, d1 = c - d;
  a = s0 + s1;
  b = s0 - s1;
  c = d0 - d1;
  d = d0 + d1;
}

// Transforms a residual to coefficients, in raster order and in place.
template <class T>
CU264_HD void forward_transform4x4(T (&x)[16]) {
  for (int i = 0; i < 4; ++i) forward_1d(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
  for (int i = 0; i < 4; ++i) forward_1d(x[i], x[4 + i], x[8 + i], x[12 + i]);
}

// Transforms scaled coefficients to a residual, with the final rounding (8.5.12.2). Rows come first, as in
// the standard.
template <class T>
CU264_HD void inverse_transform4x4(T (&x)[16]) {
  for (int i = 0; i < 4; ++i) inverse_1d(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
  for (int i = 0; i < 4; ++i) inverse_1d(x[i], x[4 + i], x[8 + i], x[12 + i]);
  for (int i = 0; i < 16; ++i) x[i] = (x[i] + 32) >> 6;
}

// The transform is its own inverse up to a factor of 16. The order of coefficients is that of 8.5.10.
template <class T>
CU264_HD void hadamard4x4(T (&x)[16]) {
  for (int i = 0; i < 4; ++i) hadamard_1d(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
  for (int i = 0; i < 4; ++i) hadamard_1d(x[i], x[4 + i], x[8 + i], x[12 + i]);
}

// For chroma DC of 4:2:0, in raster order; its own inverse up to a factor of 4 (8.5.11.1).
template <class T>
CU264_HD void hadamard2x2(T (&x)[4]) {
  const T s0 = x[0] + x[1], d0 = x[0] - x[1], s1 = x[2] + x[3], d1 = x[2] - x[3];
  x[0] = s0 + s1;
  x[1] = d0 + d1;
  x[2] = s0 - s1;
  x[3] = d0 - d1;
}

}  // namespace cu264::core
