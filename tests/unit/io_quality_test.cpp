// PSNR and SSIM agree with their definitions in floating point.
#include "io/quality.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace cu264::io {
namespace {

using Samples = std::vector<std::uint8_t>;

PlaneView view(const Samples& samples, int width, int height, int pitch) {
  return {samples.data(), pitch, 1, width, height};
}

Samples noise(int count, unsigned seed, int low = 0, int high = 255) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> value(low, high);
  Samples samples(static_cast<std::size_t>(count));
  for (auto& sample : samples) sample = static_cast<std::uint8_t>(value(random));
  return samples;
}

// Wang et al.: means, variances (over n - 1) and covariance of windows of 8x8 samples, four samples apart.
double reference_ssim(const Samples& a, const Samples& b, int width, int height, int pitch) {
  const double c1 = std::pow(.01 * 255, 2), c2 = std::pow(.03 * 255, 2);
  double sum = 0;
  int windows = 0;
  for (int y = 0; y + 8 <= height; y += 4) {
    for (int x = 0; x + 8 <= width; x += 4, ++windows) {
      double mean_a = 0, mean_b = 0, var_a = 0, var_b = 0, cov = 0;
      const auto each = [&](auto&& f) {
        for (int i = 0; i < 64; ++i) {
          const auto at = static_cast<std::size_t>((y + i / 8) * pitch + x + i % 8);
          f(static_cast<double>(a[at]), static_cast<double>(b[at]));
        }
      };
      each([&](double p, double q) { mean_a += p / 64, mean_b += q / 64; });
      each([&](double p, double q) {
        var_a += (p - mean_a) * (p - mean_a) / 63, var_b += (q - mean_b) * (q - mean_b) / 63;
        cov += (p - mean_a) * (q - mean_b) / 63;
      });
      sum += (2 * mean_a * mean_b + c1) * (2 * cov + c2) /
             ((mean_a * mean_a + mean_b * mean_b + c1) * (var_a + var_b + c2));
    }
  }
  return sum / windows;
}

TEST(Quality, SsimIsTheDefinition) {
  for (const auto& [width, height] : {std::pair{8, 8}, {11, 9}, {64, 48}, {67, 35}, {8, 100}}) {
    const int pitch = width + 5;
    for (const int spread : {0, 3, 60, 255}) {
      const Samples a = noise(pitch * height, 1);
      Samples b = a;
      const Samples change = noise(pitch * height, 2, 0, spread);
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::uint8_t>(b[i] ^ change[i]);
      EXPECT_NEAR(ssim(view(a, width, height, pitch), view(b, width, height, pitch)),
                  reference_ssim(a, b, width, height, pitch), 1e-4)
          << width << "x" << height << " spread " << spread;
    }
  }
}

TEST(Quality, SsimAtTheExtremes) {
  for (const int side : {1, 2, 7, 8, 16}) {
    const Samples black(static_cast<std::size_t>(side * side), 0),
        white(static_cast<std::size_t>(side * side), 255);
    EXPECT_NEAR(ssim(view(black, side, side, side), view(black, side, side, side)), 1, 1e-12) << side;
    EXPECT_NEAR(ssim(view(white, side, side, side), view(white, side, side, side)), 1, 1e-12) << side;
    EXPECT_LT(ssim(view(black, side, side, side), view(white, side, side, side)), 0.01) << side;
  }
}

TEST(Quality, SquaredErrorOfTheLargestDifference) {
  const int width = 8192, height = 3;
  const Samples black(static_cast<std::size_t>(width * height), 0), white(black.size(), 255);
  EXPECT_EQ(squared_error(view(black, width, height, width), view(white, width, height, width)),
            std::uint64_t{255} * 255 * width * height);
}

TEST(Quality, PictureErrorReadsEveryFormat) {
  const int width = 7, height = 5;                // source
  const int wide = 8, high = 6, chroma_wide = 4;  // coded
  Samples reconstruction(static_cast<std::size_t>(wide * high * 3 / 2), 100);
  const Samples luma(static_cast<std::size_t>(width * height), 103);
  const Samples u(12, 102), v(12, 95);
  Samples interleaved;
  for (std::size_t i = 0; i < u.size(); ++i) interleaved.push_back(u[i]), interleaved.push_back(v[i]);

  Frame frame;
  frame.width = width, frame.height = height;
  frame.plane[0] = luma.data(), frame.pitch[0] = width;
  frame.plane[1] = u.data(), frame.plane[2] = v.data(), frame.pitch[1] = frame.pitch[2] = chroma_wide;
  PictureError error = picture_error(frame, reconstruction, wide, high);
  EXPECT_EQ(error.squared[0], 9u * 35);
  EXPECT_EQ(error.squared[1], 4u * 12);
  EXPECT_EQ(error.squared[2], 25u * 12);
  EXPECT_NEAR(*error.plane_psnr(0), 10 * std::log10(255. * 255 / 9), 1e-9);
  EXPECT_NEAR(*error.average_psnr(), 10 * std::log10(255. * 255 * 59 / (9 * 35 + 4 * 12 + 25 * 12)), 1e-9);

  frame.format = PixelFormat::nv12;
  frame.plane[1] = interleaved.data(), frame.pitch[1] = 2 * chroma_wide, frame.plane[2] = nullptr;
  error = picture_error(frame, reconstruction, wide, high);
  EXPECT_EQ(error.squared[1], 4u * 12);
  EXPECT_EQ(error.squared[2], 25u * 12);

  frame.format = PixelFormat::gray8;
  frame.plane[1] = nullptr;
  error = picture_error(frame, reconstruction, wide, high);
  EXPECT_EQ(error.squared[1], 28u * 28 * 12) << "gray is coded with chroma 128";

  EXPECT_FALSE(psnr(0).has_value());
}

}  // namespace
}  // namespace cu264::io
