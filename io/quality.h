// Measures how close a reconstruction is to its source: PSNR of the three planes, and SSIM of luma.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cu264/frame.h"

namespace cu264::io {

struct PlaneView {
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t pitch = 0;
  int step = 1;  // the distance between samples of a row: 2 in the chroma plane of NV12
  int width = 0;
  int height = 0;
};

std::uint64_t squared_error(const PlaneView& a, const PlaneView& b);

// Returns the mean over overlapping 8x8 windows, four samples apart, from integer sums. This is the
// definition behind the figures that x264 and FFmpeg print. A plane that is smaller than a window is one
// window. Both steps are 1.
double ssim(const PlaneView& a, const PlaneView& b);

// Returns the PSNR in dB, or nothing if there is no error.
std::optional<double> psnr(double mean_squared_error);

// The squared errors of Y, U and V over a number of samples; those of several pictures can be added.
struct PictureError {
  std::uint64_t squared[3] = {};
  std::uint64_t samples[3] = {};

  PictureError& operator+=(const PictureError& other);
  std::optional<double> plane_psnr(int plane) const;
  std::optional<double> average_psnr() const;  // over all samples together
};

// `reconstruction` is planar 4:2:0 without padding, of a width x height that is at least the source's.
// Samples outside the source do not count.
PictureError picture_error(const Frame& source, const std::vector<std::uint8_t>& reconstruction, int width,
                           int height);
double luma_ssim(const Frame& source, const std::vector<std::uint8_t>& reconstruction, int width);

}  // namespace cu264::io
