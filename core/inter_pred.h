// Inter prediction (H.264 8.4.2.2): samples of luma at half and quarter positions, and of chroma at eighths.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "core/intra_pred.h"

namespace cu264::core {

// The filter of half samples (8.4.2.2.1). T is int, or a vector.
template <class T>
CU264_HD T six_tap(const T& e, const T& f, const T& g, const T& h, const T& i, const T& j) {
  return e + j - 5 * (f + i) + 20 * (g + h);
}

// A half sample next to whole ones, b or h, from their filtered sum, before it is clipped.
CU264_HD int half_sample_value(int sum) {
  return (sum + 16) >> 5;
}
CU264_HD int half_sample(int sum) {
  return clip_sample(half_sample_value(sum), 8);
}

// The half sample in the middle of four whole ones, j, from the filtered sum of filtered sums.
CU264_HD int centre_sample_value(int sum) {
  return (sum + 512) >> 10;
}
CU264_HD int centre_sample(int sum) {
  return clip_sample(centre_sample_value(sum), 8);
}

// The planes of a reference picture: its samples, and the half samples that lie half a sample to the right of
// them, below them, and both.
enum ReferencePlane : int { kWholeSamples, kHalfRight, kHalfDown, kHalfBoth, kReferencePlanes };

// Where a sample of a plane is taken from, relative to the whole sample at the upper left.
struct SampleSource {
  int plane, x, y;
};

// Every sample of luma is a sample of these planes, or the rounded mean of two (table 8-12).
struct QuarterSample {
  SampleSource first, second;  // the same, unless it is a mean
};

// (fraction_x, fraction_y): xFracL and yFracL.
CU264_HD QuarterSample quarter_sample(int fraction_x, int fraction_y) {
  // By 4 * fraction_y + fraction_x, two sources of four bits each, the first one lower: plane, x and y.
  static constexpr std::uint8_t table[16] = {0x00, 0x40, 0x44, 0x24, 0x80, 0x84, 0xc4, 0xa4,
                                             0x88, 0xc8, 0xcc, 0xac, 0x18, 0x85, 0xc5, 0xa5};
  const int code = table[4 * fraction_y + fraction_x];
  const auto source = [](int bits) { return SampleSource{bits >> 2, bits >> 1 & 1, bits & 1}; };
  return {source(code & 15), source(code >> 4)};
}

CU264_HD int sample_mean(int a, int b) {
  return (a + b + 1) >> 1;
}

// A sample of chroma from the four around it (8.4.2.2.2). fraction_x, fraction_y: xFracC and yFracC in
// eighths. T is int, or a vector of 16-bit lanes.
template <class T>
CU264_HD T chroma_sample(const T& a, const T& b, const T& c, const T& d, const T& fraction_x,
                         const T& fraction_y) {
  return ((8 - fraction_x) * (8 - fraction_y) * a + fraction_x * (8 - fraction_y) * b +
          (8 - fraction_x) * fraction_y * c + fraction_x * fraction_y * d + 32) >>
         6;
}

}  // namespace cu264::core
