// The transforms agree with matrix products computed here, and quantisation agrees with floating point.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "core/block.h"
#include "core/cost.h"
#include "core/quant.h"
#include "core/transform.h"

namespace {

using namespace cu264::core;

constexpr int kForward[4][4] = {{1, 1, 1, 1}, {2, 1, -1, -2}, {1, -1, -1, 1}, {1, -2, 2, -1}};
constexpr int kHadamard[4][4] = {{1, 1, 1, 1}, {1, 1, -1, -1}, {1, -1, -1, 1}, {1, -1, 1, -1}};

void multiply(const int (&m)[4][4], const int (&x)[16], int (&out)[16]) {  // m * x * transposed m
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      int sum = 0;
      for (int k = 0; k < 4; ++k) {
        for (int l = 0; l < 4; ++l) sum += m[i][k] * x[4 * k + l] * m[j][l];
      }
      out[4 * i + j] = sum;
    }
  }
}

void random_block(std::mt19937& random, int limit, int (&block)[16]) {
  const bool extreme = random() % 4 == 0;
  for (int& v : block) {
    v = extreme ? (random() & 1 ? limit : -limit) : static_cast<int>(random() % (2 * limit + 1)) - limit;
  }
}

TEST(Transform, ForwardIsTheMatrixProduct) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    int block[16], expected[16];
    random_block(random, 255, block);
    multiply(kForward, block, expected);
    forward_transform4x4(block);
    for (int i = 0; i < 16; ++i) ASSERT_EQ(block[i], expected[i]) << "coefficient " << i;
  }
}

TEST(Transform, HadamardIsTheMatrixProduct) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    int block[16], expected[16];
    random_block(random, 4080, block);
    multiply(kHadamard, block, expected);
    hadamard4x4(block);
    for (int i = 0; i < 16; ++i) ASSERT_EQ(block[i], expected[i]) << "coefficient " << i;
  }
}

// The steps of 8.5.12.2.
void reference_inverse(const int (&d)[16], int (&r)[16]) {
  int f[16], h[16];
  for (int i = 0; i < 4; ++i) {
    const int* row = d + 4 * i;
    const int e0 = row[0] + row[2], e1 = row[0] - row[2], e2 = (row[1] >> 1) - row[3],
              e3 = row[1] + (row[3] >> 1);
    f[4 * i] = e0 + e3, f[4 * i + 1] = e1 + e2, f[4 * i + 2] = e1 - e2, f[4 * i + 3] = e0 - e3;
  }
  for (int j = 0; j < 4; ++j) {
    const int g0 = f[j] + f[8 + j], g1 = f[j] - f[8 + j], g2 = (f[4 + j] >> 1) - f[12 + j],
              g3 = f[4 + j] + (f[12 + j] >> 1);
    h[j] = g0 + g3, h[4 + j] = g1 + g2, h[8 + j] = g1 - g2, h[12 + j] = g0 - g3;
  }
  for (int i = 0; i < 16; ++i) r[i] = (h[i] + 32) >> 6;
}

TEST(Transform, InverseFollowsTheStandard) {
  std::mt19937 random(3);
  for (int round = 0; round < 1000; ++round) {
    int block[16], expected[16];
    random_block(random, 20000, block);
    reference_inverse(block, expected);
    inverse_transform4x4(block);
    for (int i = 0; i < 16; ++i) ASSERT_EQ(block[i], expected[i]) << "sample " << i;
  }
}

TEST(Transform, ChromaDcHadamardIsItsOwnInverse) {
  int block[4] = {7, -3, 100, 2};
  hadamard2x2(block);
  EXPECT_EQ(block[0], 106);
  EXPECT_EQ(block[1], 7 + 3 + 100 - 2);
  EXPECT_EQ(block[2], 7 - 3 - 100 - 2);
  EXPECT_EQ(block[3], 7 + 3 - 100 + 2);
  hadamard2x2(block);
  EXPECT_EQ(block[0], 28);
  EXPECT_EQ(block[1], -12);
  EXPECT_EQ(block[2], 400);
  EXPECT_EQ(block[3], 8);
}

double step_size(int qp) {
  return 0.625 * std::pow(2.0, qp / 6.0);
}

// A 4x4 coefficient divided by its norm, in steps, which is what a scaled coefficient means. The standard's
// steps are within 3.2 % of the powers of two that step_size gives.
TEST(Quant, ScaledCoefficientsAreInStepsOfTheQuantiser) {
  const double norm[3] = {4.0, 10.0, 2.0 * std::sqrt(10.0)};
  for (int qp = 0; qp < 52; ++qp) {
    const Quantiser q = make_quantiser(qp);
    for (int position = 0; position < 3; ++position) {
      const double scaled = 1000.0 * q.multiplier[position] / std::exp2(q.shift);
      const double expected = 1000.0 / norm[position] / step_size(qp);
      ASSERT_NEAR(scaled / expected, 1.0, 0.035) << "QP " << qp << " class " << position;
    }
  }
}

TEST(Quant, LevelsComeBackWithinHalfAStep) {
  std::mt19937 random(4);
  for (int qp = 0; qp < 52; ++qp) {
    const Quantiser q = make_quantiser(qp);
    for (int round = 0; round < 50; ++round) {
      int block[16], coefficients[16];
      random_block(random, 255, block);
      for (int i = 0; i < 16; ++i) coefficients[i] = block[i];
      forward_transform4x4(coefficients);
      for (int i = 0; i < 16; ++i) {
        const int position = position_class(i);
        const int level =
            quantise(std::abs(coefficients[i]) * q.multiplier[position], q.shift, 1 << (q.shift - 1));
        coefficients[i] = (coefficients[i] < 0 ? -level : level) * q.dequant[position];
      }
      inverse_transform4x4(coefficients);
      // Sixteen coefficients that are each at most half a step off (plus the table's rounding) change a
      // sample by at most two steps.
      for (int i = 0; i < 16; ++i)
        ASSERT_NEAR(coefficients[i], block[i], 2.2 * step_size(qp) + 1.0) << "QP " << qp;
    }
  }
}

TEST(Quant, LumaDcSurvivesBothHadamards) {
  for (int qp = 0; qp < 52; ++qp) {
    const Quantiser q = make_quantiser(qp);
    for (const int sample : {-255, -100, -3, 0, 1, 50, 255}) {
      int dc[16];
      for (int& v : dc) v = 16 * sample;  // a flat residual
      hadamard4x4(dc);
      const int shift = q.shift + kLumaDcExtraShift;
      int levels[16];
      for (int i = 0; i < 16; ++i) {
        const int level = quantise(std::abs(dc[i]) * q.multiplier[0], shift, 1 << (shift - 1));
        levels[i] = dc[i] < 0 ? -level : level;
      }
      const bool clipped = std::abs(levels[0]) == kMaxLevel;
      hadamard4x4(levels);
      for (int i = 0; i < 16; ++i) {
        const int value = (dequantise_luma_dc(levels[i], q) + 32) >> 6;
        if (clipped) continue;
        ASSERT_NEAR(value, sample, step_size(qp) / 8 + 1.5) << "QP " << qp;
      }
    }
  }
}

TEST(Quant, LevelsAreClippedToWhatBaselineCanCode) {
  const Quantiser q = make_quantiser(0);
  EXPECT_EQ(quantise(16 * 4080 * q.multiplier[0], q.shift + kLumaDcExtraShift, 0), kMaxLevel);
}

TEST(Quant, TheDeadZoneIsWiderAtZeroAndGrowsWithFrequency) {
  for (const DeadZone zone : {kDeadZoneLuma, kDeadZoneChroma}) {
    for (const int shift : {15, 19, 25}) {
      const double step = std::ldexp(1.0, shift);
      for (int raster = 0; raster < 16; ++raster) {
        const int frequency = raster % 4 + raster / 4, first = first_level_at(zone, raster, shift);
        const int smallest =
            static_cast<int>(std::ldexp(zone.first_level + frequency * zone.rise, shift - 8));
        const auto level_of = [&](int scaled) {
          return quantise_with_dead_zone(scaled, shift, level_rounding(shift), first);
        };
        ASSERT_LE(smallest, step) << "a whole level must not be lost";
        ASSERT_EQ(level_of(0), 0);
        ASSERT_EQ(level_of(smallest - 1), 0);
        ASSERT_EQ(level_of(smallest), 1);
        for (const int level : {2, 3, 17}) {
          const int limit = static_cast<int>((level - 7.0 / 16) * step);
          ASSERT_EQ(level_of(limit - 1), level - 1);
          ASSERT_EQ(level_of(limit), level);
        }
      }
    }
  }
  EXPECT_EQ(quantise_with_dead_zone(2100 << 15, 15, level_rounding(15), first_level_at(kDeadZoneLuma, 0, 15)),
            kMaxLevel);
}

TEST(Quant, ChromaQpFollowsTable8_15) {
  const int table[22] = {29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36,
                         36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39};
  for (int qp = 0; qp < 52; ++qp) EXPECT_EQ(chroma_qp(qp), qp < 30 ? qp : table[qp - 30]) << "QP " << qp;
}

TEST(Quant, DequantisationFollowsTheStandard) {
  for (int qp = 0; qp < 52; ++qp) {
    const Quantiser q = make_quantiser(qp);
    const int level_scale = 16 * dequant_scale(qp, 0);
    for (int c = -33000; c <= 33000; c += 371) {  // 8.5.10
      const int expected = qp >= 36 ? (c * level_scale) * (1 << (qp / 6 - 6))
                                    : (c * level_scale + (1 << (5 - qp / 6))) >> (6 - qp / 6);
      ASSERT_EQ(dequantise_luma_dc(c, q), expected) << "QP " << qp;
      ASSERT_EQ(dequantise_chroma_dc(c / 4, q), ((c / 4) * level_scale * (1 << (qp / 6))) >> 5)
          << "QP " << qp;
    }
  }
}

TEST(Zigzag, IsTheFrameScan) {
  // Table 8-13: anti-diagonals, the first of them upwards to the right.
  int x = 0, y = 0;
  for (int k = 0; k < 16; ++k) {
    ASSERT_EQ(zigzag_to_raster(k), 4 * y + x) << "position " << k;
    if ((x + y) % 2 == 0) {
      if (x == 3)
        ++y;
      else if (y == 0)
        ++x;
      else
        ++x, --y;
    } else {
      if (y == 3)
        ++x;
      else if (x == 0)
        ++y;
      else
        --x, ++y;
    }
  }
}

TEST(Cost, SatdIsTheSumOfAbsoluteHadamardCoefficients) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    int block[16], product[16], expected = 0;
    random_block(random, 255, block);
    multiply(kHadamard, block, product);
    for (const int v : product) expected += std::abs(v);
    ASSERT_EQ(satd4x4(block), expected);
  }
}

TEST(Cost, LambdasFollowTheStep) {
  for (int qp = 0; qp < 52; ++qp) {
    EXPECT_NEAR(rd_lambda(qp) / 256.0, 0.47 * std::pow(2.0, (qp - 12) / 3.0),
                0.01 * rd_lambda(qp) / 256.0 + 0.06)
        << qp;
    EXPECT_NEAR(satd_lambda(qp), std::max(1.0, 2 * std::pow(2.0, (qp - 12) / 6.0)), 1.0) << qp;
    EXPECT_NEAR(chroma_satd_lambda(qp), std::max(1.0, std::pow(2.0, (chroma_qp(qp) - 12) / 6.0)), 1.0) << qp;
  }
}

TEST(Cost, ChromaErrorsWeighWhatTheirStepSays) {
  for (int qp = 0; qp < 52; ++qp) {
    const double weight = 1.75 * std::pow(2.0, (qp - chroma_qp(qp)) / 3.0);
    EXPECT_NEAR(chroma_error_weight(qp) / 256.0, weight, 0.01 * weight) << qp;
  }
  EXPECT_EQ(chroma_rd_cost(10, 7, 100, 448), 10 * 448 + 700);
}

TEST(Slices, BandsOfRowsCoverThePicture) {
  for (int rows = 1; rows <= 40; ++rows) {
    for (int slices = 1; slices <= rows; ++slices) {
      int row = 0;
      for (int s = 0; s < slices; ++s) {
        ASSERT_EQ(slice_first_row(s, slices, rows), row);
        const int end = slice_first_row(s + 1, slices, rows);
        ASSERT_GT(end, row) << "an empty slice";
        for (; row < end; ++row) ASSERT_EQ(slice_of_row(row, slices, rows), s);
      }
      ASSERT_EQ(row, rows);
    }
  }
}

}  // namespace
