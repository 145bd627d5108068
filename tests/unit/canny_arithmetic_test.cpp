// The arithmetic of the edge detector agrees with floating point and with plain definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "vision/gaussian.h"
#include "vision/gradient.h"
#include "vision/levels.h"
#include "vision/params.h"
#include "vision/suppression.h"
#include "vision/thresholds.h"

namespace cu264 {
namespace {

using namespace vision;

TEST(CannyArithmetic, GaussianTapsAreTheNormalisedBell) {
  for (int tenths = 1; tenths <= kSigmaSteps; ++tenths) {
    const double sigma = tenths / 10.0;
    const int radius = gaussian_radius(tenths);
    EXPECT_EQ(radius, static_cast<int>(std::ceil(3 * sigma - 1e-9))) << sigma;
    ASSERT_LE(radius, kMaxRadius);
    double norm = 0;
    for (int d = -radius; d <= radius; ++d) norm += std::exp(-d * d / (2 * sigma * sigma));
    int sum = gaussian_tap(tenths, 0);
    for (int d = 1; d <= kMaxRadius; ++d) {
      const double exact = d <= radius ? 16384 * std::exp(-d * d / (2 * sigma * sigma)) / norm : 0;
      EXPECT_LE(std::abs(gaussian_tap(tenths, d) - exact), 0.5 + 1e-6)
          << "sigma " << sigma << ", distance " << d;
      sum += 2 * gaussian_tap(tenths, d);
    }
    EXPECT_EQ(sum, 16384) << "sigma " << sigma;
    EXPECT_LE(std::abs(gaussian_tap(tenths, 0) - 16384 / norm), radius + 0.5) << "sigma " << sigma;
  }
}

TEST(CannyArithmetic, FlatSamplesStayFlat) {
  for (int sample = 0; sample <= 255; ++sample) {
    const int q4 = horizontal_rounded(16384 * sample);
    EXPECT_EQ(q4, 16 * sample);
    EXPECT_EQ(vertical_rounded(16384 * q4), 16 * sample);
  }
}

TEST(CannyArithmetic, SquareRootIsTheFloor) {
  const auto check = [](int value) {
    const std::int64_t root = integer_sqrt(value);
    ASSERT_LE(root * root, value) << value;
    ASSERT_GT((root + 1) * (root + 1), value) << value;
  };
  for (int value = 0; value < 100000; ++value) check(value);
  // The numbers next to every square that a gradient can reach.
  for (int root = 1; root <= kMaxMagnitude + 1; ++root) {
    for (int near = -1; near <= 1; ++near) check(root * root + near);
  }
  EXPECT_EQ(gradient_magnitude(4080, -4080), kMaxMagnitude);
}

// Bilinear sampling of the ring in floating point.
bool float_maximum(const int (&m)[3][3], int dx, int dy) {
  const double scale = std::max(std::abs(dx), std::abs(dy)), ux = dx / scale, uy = dy / scale;
  const auto at = [&](double x, double y) {
    const double fx = std::floor(x), fy = std::floor(y);
    double sum = 0;
    for (int j = 0; j <= 1; ++j) {
      for (int i = 0; i <= 1; ++i) {
        const double weight = (1 - std::abs(x - fx - i)) * (1 - std::abs(y - fy - j));
        if (weight > 0) sum += weight * m[static_cast<int>(fy) + j + 1][static_cast<int>(fx) + i + 1];
      }
    }
    return sum;
  };
  return m[1][1] > at(ux, uy) + 1e-6 && m[1][1] >= at(-ux, -uy) - 1e-6;
}

TEST(CannyArithmetic, SuppressionInterpolatesOnTheRing) {
  std::mt19937 random(1);
  int kept = 0;
  for (int round = 0; round < 200000; ++round) {
    int m[3][3];
    const int span = round % 3 == 0 ? 3 : kMaxMagnitude;  // a small span gives ties
    for (auto& row : m) {
      for (int& value : row) value = static_cast<int>(random() % (span + 1));
    }
    const int reach = round % 5 == 0 ? 2 : 4080;
    const int dx = static_cast<int>(random() % (2 * reach + 1)) - reach;
    const int dy = static_cast<int>(random() % (2 * reach + 1)) - reach;
    if (dx == 0 && dy == 0) continue;
    const Direction d = direction_of(dx, dy);
    const auto near = [&](int x, int y) { return m[1 + y][1 + x]; };
    const bool is =
        is_maximum(m[1][1], d.along, d.across, near(d.axis_x, d.axis_y), near(d.diagonal_x, d.diagonal_y),
                   near(-d.axis_x, -d.axis_y), near(-d.diagonal_x, -d.diagonal_y));
    ASSERT_EQ(is, float_maximum(m, dx, dy)) << "dx " << dx << ", dy " << dy << ", round " << round;
    kept += is;
  }
  EXPECT_GT(kept, 10000);
}

TEST(CannyArithmetic, OfEqualNeighboursOneStays) {
  // A step edge gives two columns of the same magnitude.
  EXPECT_TRUE(is_maximum(100, 64, 0, 0, 0, 100, 100));
  EXPECT_FALSE(is_maximum(100, 64, 0, 100, 100, 0, 0));
}

TEST(CannyArithmetic, LevelsAreHundredthsOfTheLargest) {
  EXPECT_EQ(level_of(0, 0), 0);
  EXPECT_EQ(level_of(kMaxMagnitude, kMaxMagnitude), 100);
  EXPECT_EQ(level_of(99, 10000), 0);
  EXPECT_EQ(level_of(100, 10000), 1);
  EXPECT_EQ(level_of(2899, 10000), 28);
}

TEST(CannyArithmetic, ProbabilityRounds) {
  for (const int pairs : {1, 3, 36, 300, 496}) {
    for (int sm = 0; sm <= pairs; ++sm) {
      EXPECT_EQ(probability(sm, pairs), static_cast<int>(std::floor(100.0 * sm / pairs + 0.5 + 1e-9)));
    }
  }
}

LevelCounts counts_of(std::vector<std::pair<int, int>> histogram, std::vector<int> without_level = {}) {
  LevelCounts counts;
  for (const auto& [x, count] : histogram) counts.histogram[x] = count, counts.with_level[x] = 1;
  for (const int x : without_level) counts.with_level[x] = 0;
  return counts;
}

TEST(CannyArithmetic, ThresholdsAreFirstAndLastMaximum) {
  const LevelCounts counts = counts_of({{2, 5}, {3, 9}, {5, 4}, {8, 6}, {11, 3}, {14, 7}, {20, 1}});
  const LevelSpan maxima = local_maxima(counts.with_level, counts.histogram, 25);
  EXPECT_EQ(maxima.first, 3);
  EXPECT_EQ(maxima.last, 14);
  // The range ends before the last one has a right neighbour.
  EXPECT_EQ(local_maxima(counts.with_level, counts.histogram, 14).last, 8);
}

TEST(CannyArithmetic, MaximaAreStrictAndSkipWhatIsEmpty) {
  const LevelCounts plateau = counts_of({{1, 1}, {2, 5}, {3, 5}, {4, 1}});
  EXPECT_EQ(local_maxima(plateau.with_level, plateau.histogram, 25).first, 0);
  // x = 9 is outside D, so that 8's right neighbour is 12.
  const LevelCounts outside = counts_of({{5, 1}, {8, 7}, {9, 2}, {12, 8}, {15, 2}}, {9});
  const LevelSpan maxima = local_maxima(outside.with_level, outside.histogram, 25);
  EXPECT_EQ(maxima.first, 12);
  // Levels in D whose histogram is empty are no valleys: 6 is not a neighbour of 8.
  LevelCounts empty = counts_of({{5, 9}, {8, 7}, {12, 1}});
  empty.with_level[6] = 3;
  EXPECT_EQ(local_maxima(empty.with_level, empty.histogram, 25).first, 0);
}

TEST(CannyArithmetic, FallbackIsPooledThenTheZonesEnds) {
  const LevelCounts none, one_maximum = counts_of({{4, 1}, {6, 3}, {9, 2}});
  const LevelCounts two = counts_of({{4, 1}, {6, 3}, {9, 2}, {12, 5}, {13, 1}});
  const Thresholds pooled = fallback_thresholds(two, 25);
  EXPECT_EQ(pooled.low, 6);
  EXPECT_EQ(pooled.high, 12);
  EXPECT_EQ(pooled.source, ThresholdSource::pooled);
  const Thresholds ends = fallback_thresholds(one_maximum, 25);
  EXPECT_EQ(ends.low, 4);
  EXPECT_EQ(ends.high, 9);
  EXPECT_EQ(ends.source, ThresholdSource::ends);
  const Thresholds nothing = fallback_thresholds(none, 25);
  EXPECT_EQ(nothing.low, kNoEdges);
  EXPECT_EQ(nothing.high, kNoEdges);
  EXPECT_FALSE(is_strong(100, nothing) || is_weak(100, nothing));
  EXPECT_EQ(sub_image_thresholds(two, ends, 25).source, ThresholdSource::own);
  EXPECT_EQ(sub_image_thresholds(one_maximum, pooled, 25).source, ThresholdSource::pooled);
}

TEST(CannyArithmetic, DensityScalesThresholds) {
  EXPECT_EQ(density_scale(8, 100), 256);
  EXPECT_EQ(density_scale(0, 1), 128);
  EXPECT_EQ(density_scale(100, 100), 768);
  EXPECT_EQ(density_scale(std::int64_t{12} << 24, std::int64_t{100} << 24), 384);
  const Thresholds found = thresholds_at({6, 17}, ThresholdSource::own);
  EXPECT_EQ(scaled_to_density(found, 256).low, 6);
  EXPECT_EQ(scaled_to_density(found, 384).low, 9);
  EXPECT_EQ(scaled_to_density(found, 384).high, 26);  // 25.5
  EXPECT_EQ(scaled_to_density(thresholds_at({1, 60}, ThresholdSource::own), 768).high, 100);
  EXPECT_EQ(scaled_to_density(thresholds_at({1, 1}, ThresholdSource::ends), 100).low, 1);
  EXPECT_EQ(scaled_to_density(Thresholds{}, 768).high, kNoEdges);
}

TEST(CannyArithmetic, SubImagesTileThePicture) {
  for (const Partition partition : {Partition::columns, Partition::rows, Partition::frame}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {32, 32}, {33, 31}, {95, 70}}) {
      const SubImageLayout layout = sub_image_layout(width, height, partition);
      int pixels = 0;
      for (int i = 0; i < layout.count; ++i) {
        const Rectangle window = sub_image(layout, i);
        pixels += window.width * window.height;
        EXPECT_EQ(sub_image_of(layout, window.x, window.y), i);
        EXPECT_EQ(sub_image_of(layout, window.x + window.width - 1, window.y + window.height - 1), i);
      }
      EXPECT_EQ(pixels, width * height);
    }
  }
}

}  // namespace
}  // namespace cu264
