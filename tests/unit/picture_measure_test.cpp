// The measure of a picture counts what a quantiser of its own would keep of an open-loop residual.
#include "core/picture_measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "encoder/rate_control/host_measure.h"
#include "support/picture.h"

namespace cu264 {
namespace {

using encoder::Plane;

std::array<Plane, 3> planes_of(const test::Picture& picture) {
  std::array<Plane, 3> planes;
  for (int p = 0; p < 3; ++p) {
    planes[p].resize(picture.plane_width(p), picture.plane_height(p));
    std::copy_n(picture.plane(p), planes[p].samples.size(), planes[p].samples.begin());
  }
  return planes;
}

core::PictureMeasure measure(const test::Picture& picture, bool aq = false) {
  const std::array<Plane, 3> planes = planes_of(picture);
  std::optional<encoder::AqParams> params;
  if (aq) params = encoder::AqParams{encoder::AqMode::variance, encoder::kStrengthOne};
  return encoder::measure_planes({planes[0], planes[1], planes[2]}, params);
}

std::int64_t total(const std::uint32_t (&histogram)[core::kMeasureBins], int first = 0) {
  return std::accumulate(histogram + first, histogram + core::kMeasureBins, std::int64_t{0});
}

// The transform by matrices (H.264 8.5.12.2 transposed).
void transform(const int (&residual)[16], int (&out)[16]) {
  constexpr int m[4][4] = {{1, 1, 1, 1}, {2, 1, -1, -2}, {1, -1, -1, 1}, {1, -2, 2, -1}};
  for (int u = 0; u < 4; ++u) {
    for (int v = 0; v < 4; ++v) {
      int sum = 0;
      for (int i = 0; i < 16; ++i) sum += m[u][i / 4] * residual[i] * m[v][i % 4];
      out[4 * u + v] = sum;
    }
  }
}

int cost(const int (&x)[16]) {
  constexpr int weight[4][4] = {{5, 3, 5, 3}, {3, 2, 3, 2}, {5, 3, 5, 3}, {3, 2, 3, 2}};
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += weight[i / 4][i % 4] * std::abs(x[i]);
  return sum;
}

// The transformed residual of a luma block after the best of three predictions from source samples.
void best_residual(const test::Picture& picture, int x, int y, int (&best)[16]) {
  const auto at = [&](int column, int row) {
    return static_cast<int>(picture.plane(0)[row * picture.width + column]);
  };
  int least = 1 << 30;
  for (int mode = 0; mode < 3; ++mode) {
    if ((mode == 1 && y == 0) || (mode == 2 && x == 0)) continue;
    int sum = 0, count = 0;
    for (int i = 0; i < 4; ++i) {
      if (y > 0) sum += at(x + i, y - 1), ++count;
      if (x > 0) sum += at(x - 1, y + i), ++count;
    }
    const int dc = count == 0 ? 128 : (sum + count / 2) / count;
    int residual[16], coefficients[16];
    for (int i = 0; i < 16; ++i) {
      const int prediction = mode == 0 ? dc : mode == 1 ? at(x + i % 4, y - 1) : at(x - 1, y + i / 4);
      residual[i] = at(x + i % 4, y + i / 4) - prediction;
    }
    transform(residual, coefficients);
    if (cost(coefficients) >= least) continue;
    least = cost(coefficients);
    std::copy_n(coefficients, 16, best);
  }
}

// The QP at which a bin begins; a coefficient in it survives at that QP.
double qp_of_bin(int bin) {
  const double strength = std::ldexp(1 + bin % 4 / 4.0, bin / 4 + core::kMeasureFirstOctave);
  return 6 * std::log2(strength / core::kStrengthOfQp0);
}

TEST(PictureMeasure, CountsWhatTheQuantiserKeeps) {
  for (const test::Content content : {test::Content::noise, test::Content::natural, test::Content::text}) {
    const test::Picture picture = test::make_picture(content, 96, 80);
    const core::PictureMeasure found = measure(picture);
    EXPECT_EQ(found.macroblocks, 30u);
    EXPECT_EQ(found.measured, 30u);
    std::uint64_t activity = 0;
    for (const int qp : {10, 22, 34, 46}) {
      const core::Quantiser q = core::make_quantiser(qp);
      std::int64_t levels = 0;
      activity = 0;
      for (int block = 0; block < 24 * 20; ++block) {
        int x[16];
        best_residual(picture, block % 24 * 4, block / 24 * 4, x);
        activity += static_cast<std::uint64_t>(cost(x));
        for (int i = 0; i < 16; ++i) {
          const int scaled = std::abs(x[i]) * q.multiplier[core::position_class(i)];
          levels += core::quantise_with_dead_zone(scaled, q.shift, q.rounding,
                                                  core::first_level_at(core::kDeadZoneLuma, i, q.shift)) != 0;
        }
      }
      // The bins around the QP bound the number of levels, but for the rounding of multipliers.
      int bin = 0;
      while (qp_of_bin(bin + 1) < qp) ++bin;
      const double margin = 0.02 * static_cast<double>(levels) + 8;
      EXPECT_LE(levels, total(found.histogram[core::kLumaLevels], bin) + margin) << qp;
      EXPECT_GE(levels, total(found.histogram[core::kLumaLevels], bin + 1) - margin) << qp;
      EXPECT_GT(levels, 0) << qp;
    }
    EXPECT_EQ(found.activity, activity);
  }
}

TEST(PictureMeasure, FlatPicturesHaveNothing) {
  // Only the first macroblock, which is predicted from 128, has something to code.
  const core::PictureMeasure found = measure(test::make_picture(test::Content::flat16, 64, 64));
  EXPECT_EQ(total(found.histogram[core::kLumaLevels]), 1);
  EXPECT_EQ(total(found.histogram[core::kLumaTwoGroups]), 0);
  EXPECT_EQ(total(found.histogram[core::kSplits]), 1);
  EXPECT_EQ(found.weights, 0);
  const core::PictureMeasure grey = measure(test::make_picture(test::Content::flat128, 64, 64));
  for (const auto& histogram : grey.histogram) EXPECT_EQ(total(histogram), 0);
  EXPECT_EQ(grey.activity, 0u);
}

// The strongest coefficients that samples allow have a bin.
TEST(PictureMeasure, ExtremesFit) {
  EXPECT_EQ(core::strength_bin(16 * 16 * 255 * 1024 / 4), core::kMeasureBins - 1);
  EXPECT_LT(core::strength_bin(255), 0);
  EXPECT_EQ(core::strength_bin(256), 0);
  EXPECT_EQ(core::strength_bin(319), 0);
  EXPECT_EQ(core::strength_bin(320), 1);
  EXPECT_EQ(core::strength_bin(512), core::kMeasureBinsPerOctave);
  for (int i = 0; i < 16; ++i) EXPECT_LE(core::strength_of(9180, i, 256), (1 << 24) - 1);
  EXPECT_EQ(core::strength_bin(core::split_strength(1 << 30, 256)), core::kMeasureBins - 1);
  EXPECT_EQ(core::split_strength(-5, 256), 0);
  const core::PictureMeasure found = measure(test::make_picture(test::Content::opposites, 64, 64));
  EXPECT_GT(total(found.histogram[core::kLumaLevels], core::kMeasureBins - 12), 0);
}

TEST(PictureMeasure, QuartersOfLargePictures) {
  for (const auto& [mb_width, mb_height] : {std::pair{80, 45}, {120, 68}, {4, 900}, {3, 1200}, {79, 45}}) {
    const core::MeasuredPlaces places = core::measured_places(mb_width, mb_height);
    EXPECT_EQ(places.step, mb_width == 79 ? 1 : 4);
    for (int first = 0; first + 4 <= mb_height; first += 4) {
      std::vector<int> times(static_cast<std::size_t>(mb_width));
      for (int mb_y = first; mb_y < first + 4; ++mb_y) {
        for (int at = 0; at < places.per_row; ++at) {
          const int column = core::column_of_place(places, at, mb_y);
          if (column < mb_width) ++times[static_cast<std::size_t>(column)];
        }
      }
      for (const int count : times) EXPECT_EQ(count, places.step == 1 ? 4 : 1);
    }
  }
  const core::PictureMeasure found = measure(test::make_picture(test::Content::natural, 1280, 720));
  EXPECT_EQ(found.macroblocks, 3600u);
  EXPECT_EQ(found.measured, 900u);
  EXPECT_LE(total(found.histogram[core::kLumaLevels]), 900 * 256);
}

// What Intra_4x4 saves is much in a picture of small details, and nothing in a smooth one.
TEST(PictureMeasure, SplitsFollowDetails) {
  const auto splits = [](test::Content content) {
    const core::PictureMeasure found = measure(test::make_picture(content, 96, 80));
    return total(found.histogram[core::kSplits], 4 * (16 - core::kMeasureFirstOctave));
  };
  EXPECT_GT(splits(test::Content::text), 20);
  EXPECT_LE(splits(test::Content::flat16), 1);
}

// Twice the variance makes a macroblock's strengths smaller by one step of QP.
TEST(PictureMeasure, AdaptiveQuantisationMovesStrengths) {
  const test::Picture picture = test::make_picture(test::Content::noise, 64, 64);
  const core::PictureMeasure without = measure(picture), with = measure(picture, true);
  EXPECT_EQ(without.aq_strength, 0);
  EXPECT_EQ(with.aq_strength, encoder::kStrengthOne);
  EXPECT_EQ(without.weights, with.weights);
  EXPECT_EQ(without.activity, with.activity);
  const double mean = static_cast<double>(with.weights) / with.measured / 256;
  EXPECT_GT(mean, 6);
  const auto mean_qp = [](const core::PictureMeasure& m) {
    double sum = 0;
    for (int bin = 0; bin < core::kMeasureBins; ++bin)
      sum += qp_of_bin(bin) * m.histogram[core::kLumaLevels][bin];
    return sum / static_cast<double>(total(m.histogram[core::kLumaLevels]));
  };
  EXPECT_NEAR(mean_qp(without) - mean_qp(with), mean, 0.75);
}

TEST(PictureMeasure, PartsAddUp) {
  const core::PictureMeasure a = measure(test::make_picture(test::Content::natural, 64, 48));
  const core::PictureMeasure sum = core::sum_of_measures(a, a);
  EXPECT_EQ(sum.measured, 2 * a.measured);
  EXPECT_EQ(sum.activity, 2 * a.activity);
  EXPECT_EQ(sum.weights, 2 * a.weights);
  for (int what = 0; what < core::kMeasured; ++what) {
    EXPECT_EQ(total(sum.histogram[what]), 2 * total(a.histogram[what]));
  }
}

}  // namespace
}  // namespace cu264
