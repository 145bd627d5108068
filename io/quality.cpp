#include "io/quality.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cu264::io {
namespace {

struct BlockSums {
  std::int64_t a = 0, b = 0, squares = 0, product = 0;

  void add(int x, int y) { a += x, b += y, squares += x * x + y * y, product += x * y; }
  BlockSums& operator+=(const BlockSums& other) {
    a += other.a, b += other.b, squares += other.squares, product += other.product;
    return *this;
  }
};

// Returns the SSIM of a window of n samples, with numerator and denominator scaled by n^2 twice. The
// constants are (0.01 * 255)^2 and (0.03 * 255)^2 in that scale, the second for a variance over n - 1.
double window_ssim(const BlockSums& s, int n) {
  const auto c1 = static_cast<double>(static_cast<std::int64_t>(.01 * .01 * 255 * 255 * n + .5));
  auto c2 = static_cast<double>(static_cast<std::int64_t>(.03 * .03 * 255 * 255 * n * (n - 1) + .5));
  if (n == 1) c2 = 1;  // a single sample has no variance
  const std::int64_t variances = s.squares * n - s.a * s.a - s.b * s.b;
  const std::int64_t covariance = s.product * n - s.a * s.b;
  return (2.0 * s.a * s.b + c1) * (2.0 * covariance + c2) /
         ((static_cast<double>(s.a) * s.a + static_cast<double>(s.b) * s.b + c1) * (variances + c2));
}

BlockSums block_sums(const PlaneView& a, const PlaneView& b, int x0, int y0, int width, int height) {
  BlockSums sums;
  for (int y = y0; y < y0 + height; ++y) {
    const std::uint8_t* row_a = a.samples + y * a.pitch;
    const std::uint8_t* row_b = b.samples + y * b.pitch;
    for (int x = x0; x < x0 + width; ++x) sums.add(row_a[x], row_b[x]);
  }
  return sums;
}

void row_of_blocks(const PlaneView& a, const PlaneView& b, int y, std::vector<BlockSums>& row) {
  for (std::size_t x = 0; x < row.size(); ++x) row[x] = block_sums(a, b, static_cast<int>(x) * 4, y, 4, 4);
}

PlaneView source_plane(const Frame& frame, int plane) {
  static constexpr std::uint8_t kMiddle = 128;
  PlaneView view;
  view.width = plane == 0 ? frame.width : (frame.width + 1) / 2;
  view.height = plane == 0 ? frame.height : (frame.height + 1) / 2;
  view.samples = frame.plane[plane], view.pitch = frame.pitch[plane];
  if (plane > 0 && frame.format == PixelFormat::nv12) {
    view.samples = frame.plane[1] + (plane - 1), view.pitch = frame.pitch[1], view.step = 2;
  } else if (plane > 0 && frame.format == PixelFormat::gray8) {
    view.samples = &kMiddle, view.pitch = 0, view.step = 0;
  }
  return view;
}

}  // namespace

std::uint64_t squared_error(const PlaneView& a, const PlaneView& b) {
  std::uint64_t sum = 0;
  for (int y = 0; y < a.height; ++y) {
    const std::uint8_t* row_a = a.samples + y * a.pitch;
    const std::uint8_t* row_b = b.samples + y * b.pitch;
    std::uint32_t row = 0;  // a row's sum of up to 8192 * 255^2 fits
    if (a.step == 1 && b.step == 1) {
      for (int x = 0; x < a.width; ++x) {
        const int difference = row_a[x] - row_b[x];
        row += static_cast<std::uint32_t>(difference * difference);
      }
    } else {
      for (int x = 0; x < a.width; ++x) {
        const int difference = row_a[x * a.step] - row_b[x * b.step];
        row += static_cast<std::uint32_t>(difference * difference);
      }
    }
    sum += row;
  }
  return sum;
}

double ssim(const PlaneView& a, const PlaneView& b) {
  if (a.width < 8 || a.height < 8) {
    return window_ssim(block_sums(a, b, 0, 0, a.width, a.height), a.width * a.height);
  }
  std::vector<BlockSums> above(static_cast<std::size_t>(a.width / 4)), row(above.size());
  row_of_blocks(a, b, 0, above);
  double sum = 0;
  for (int y = 4; y + 4 <= a.height; y += 4) {
    row_of_blocks(a, b, y, row);
    for (std::size_t x = 0; x + 1 < row.size(); ++x) {
      BlockSums window = above[x];
      window += above[x + 1], window += row[x], window += row[x + 1];
      sum += window_ssim(window, 64);
    }
    std::swap(above, row);
  }
  return sum / (static_cast<double>(a.width / 4 - 1) * (a.height / 4 - 1));
}

std::optional<double> psnr(double mean_squared_error) {
  if (mean_squared_error <= 0) return std::nullopt;
  return 10 * std::log10(255.0 * 255.0 / mean_squared_error);
}

PictureError& PictureError::operator+=(const PictureError& other) {
  for (int plane = 0; plane < 3; ++plane) {
    squared[plane] += other.squared[plane], samples[plane] += other.samples[plane];
  }
  return *this;
}

std::optional<double> PictureError::plane_psnr(int plane) const {
  return psnr(static_cast<double>(squared[plane]) / std::max<double>(1, samples[plane]));
}

std::optional<double> PictureError::average_psnr() const {
  const double all = static_cast<double>(squared[0]) + squared[1] + squared[2];
  return psnr(all / std::max<double>(1, samples[0] + samples[1] + samples[2]));
}

PictureError picture_error(const Frame& source, const std::vector<std::uint8_t>& reconstruction, int width,
                           int height) {
  PictureError error;
  const std::uint8_t* plane_start = reconstruction.data();
  for (int plane = 0; plane < 3; ++plane) {
    const PlaneView from = source_plane(source, plane);
    const int plane_width = plane == 0 ? width : width / 2, plane_height = plane == 0 ? height : height / 2;
    error.squared[plane] = squared_error(from, {plane_start, plane_width, 1, from.width, from.height});
    error.samples[plane] = static_cast<std::uint64_t>(from.width) * from.height;
    plane_start += static_cast<std::size_t>(plane_width) * plane_height;
  }
  return error;
}

double luma_ssim(const Frame& source, const std::vector<std::uint8_t>& reconstruction, int width) {
  const PlaneView from = source_plane(source, 0);
  return ssim(from, {reconstruction.data(), width, 1, from.width, from.height});
}

}  // namespace cu264::io
