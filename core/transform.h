// The 4x4 and 8x8 integer transforms and the Hadamard transforms of the DC levels (H.264 8.5.10 to 8.5.13).
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

// Transforms chroma DC of 4:2:0, in raster order; its own inverse up to a factor of 4 (8.5.11.1).
template <class T>
CU264_HD void hadamard2x2(T (&x)[4]) {
  const T s0 = x[0] + x[1], d0 = x[0] - x[1], s1 = x[2] + x[3], d1 = x[2] - x[3];
  x[0] = s0 + s1;
  x[1] = d0 + d1;
  x[2] = s0 - s1;
  x[3] = d0 - d1;
}

// ---- 8x8 (8.5.13)

// One dimension of the forward transform. Halves and quarters are rounded down, so that coefficients of 8-bit
// samples fit in 16 bits.
template <class T>
CU264_HD void forward8_1d(T& x0, T& x1, T& x2, T& x3, T& x4, T& x5, T& x6, T& x7) {
  const T s0 = x0 + x7, s1 = x1 + x6, s2 = x2 + x5, s3 = x3 + x4;
  const T d0 = x0 - x7, d1 = x1 - x6, d2 = x2 - x5, d3 = x3 - x4;
  const T even0 = s0 + s3, even1 = s1 + s2, even2 = s0 - s3, even3 = s1 - s2;
  const T odd0 = d1 + d2 + d0 + (d0 >> 1), odd1 = d0 - d3 - d2 - (d2 >> 1);
  const T odd2 = d0 + d3 - d1 - (d1 >> 1), odd3 = d1 - d2 + d3 + (d3 >> 1);
  x0 = even0 + even1;
  x1 = odd0 + (odd3 >> 2);
  x2 = even2 + (even3 >> 1);
  x3 = odd1 + (odd2 >> 2);
  x4 = even0 - even1;
  x5 = odd2 - (odd1 >> 2);
  x6 = (even2 >> 1) - even3;
  x7 = (odd0 >> 2) - odd3;
}

template <class T>
CU264_HD void inverse8_1d(T& x0, T& x1, T& x2, T& x3, T& x4, T& x5, T& x6, T& x7) {
  const T e0 = x0 + x4, e2 = x0 - x4, e4 = (x2 >> 1) - x6, e6 = x2 + (x6 >> 1);
  const T e1 = x5 - x3 - x7 - (x7 >> 1), e3 = x1 + x7 - x3 - (x3 >> 1);
  const T e5 = x7 - x1 + x5 + (x5 >> 1), e7 = x3 + x5 + x1 + (x1 >> 1);
  const T f0 = e0 + e6, f2 = e2 + e4, f4 = e2 - e4, f6 = e0 - e6;
  const T f1 = e1 + (e7 >> 2), f3 = e3 + (e5 >> 2), f5 = (e3 >> 2) - e5, f7 = e7 - (e1 >> 2);
  x0 = f0 + f7, x1 = f2 + f5, x2 = f4 + f3, x3 = f6 + f1;
  x4 = f6 - f1, x5 = f4 - f3, x6 = f2 - f5, x7 = f0 - f7;
}

template <class T>
CU264_HD void hadamard8_1d(T& x0, T& x1, T& x2, T& x3, T& x4, T& x5, T& x6, T& x7) {
  const T s0 = x0 + x4, s1 = x1 + x5, s2 = x2 + x6, s3 = x3 + x7;
  const T d0 = x0 - x4, d1 = x1 - x5, d2 = x2 - x6, d3 = x3 - x7;
  x0 = s0, x1 = s1, x2 = s2, x3 = s3, x4 = d0, x5 = d1, x6 = d2, x7 = d3;
  hadamard_1d(x0, x1, x2, x3);
  hadamard_1d(x4, x5, x6, x7);
}

// Transforms a residual to coefficients, in raster order and in place: columns first, so that a coder that
// holds a column in each lane needs one transposition, as in the inverse.
template <class T>
CU264_HD void forward_transform8x8(T (&x)[64]) {
  for (int i = 0; i < 8; ++i) {
    forward8_1d(x[i], x[8 + i], x[16 + i], x[24 + i], x[32 + i], x[40 + i], x[48 + i], x[56 + i]);
  }
  for (int i = 0; i < 64; i += 8) {
    forward8_1d(x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6], x[i + 7]);
  }
}

// Transforms scaled coefficients to a residual, with the final rounding. Rows come first, as in the standard.
template <class T>
CU264_HD void inverse_transform8x8(T (&x)[64]) {
  for (int i = 0; i < 64; i += 8) {
    inverse8_1d(x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6], x[i + 7]);
  }
  for (int i = 0; i < 8; ++i) {
    inverse8_1d(x[i], x[8 + i], x[16 + i], x[24 + i], x[32 + i], x[40 + i], x[48 + i], x[56 + i]);
  }
  for (int i = 0; i < 64; ++i) x[i] = (x[i] + 32) >> 6;
}

}  // namespace cu264::core
