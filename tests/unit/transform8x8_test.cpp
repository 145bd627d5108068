// The 8x8 transforms agree with matrix products computed here, and quantisation agrees with floating point.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>

#include "core/block.h"
#include "core/cost.h"
#include "core/quant8x8.h"
#include "core/transform.h"

namespace {

using namespace cu264::core;

// The basis functions of 8.5.13 times 8: what its equations give for a single coefficient of 8.
constexpr int kBasis[8][8] = {{8, 8, 8, 8, 8, 8, 8, 8},     {12, 10, 6, 3, -3, -6, -10, -12},
                              {8, 4, -4, -8, -8, -4, 4, 8}, {10, -3, -12, -6, 6, 12, 3, -10},
                              {8, -8, -8, 8, 8, -8, -8, 8}, {6, -12, 3, 10, -10, -3, 12, -6},
                              {4, -8, 8, -4, -4, 8, -8, 4}, {3, -6, 10, -12, 12, -10, 6, -3}};

void random_block(std::mt19937& random, int limit, int (&block)[64]) {
  const bool extreme = random() % 4 == 0;
  for (int& v : block) {
    v = extreme ? (random() & 1 ? limit : -limit) : static_cast<int>(random() % (2 * limit + 1)) - limit;
  }
}

// basis * x * transposed basis, exact.
void exact_forward(const int (&x)[64], double (&out)[64]) {
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      int sum = 0;
      for (int k = 0; k < 8; ++k) {
        for (int l = 0; l < 8; ++l) sum += kBasis[i][k] * x[8 * k + l] * kBasis[j][l];
      }
      out[8 * i + j] = sum / 64.0;
    }
  }
}

TEST(Transform8x8, ForwardIsTheMatrixProductUpToRounding) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    int block[64];
    double expected[64];
    random_block(random, 255, block);
    exact_forward(block, expected);
    forward_transform8x8(block);
    for (int i = 0; i < 64; ++i) {
      // Halves and quarters that are rounded down in both dimensions.
      ASSERT_NEAR(block[i], expected[i], 12.0) << "coefficient " << i;
      ASSERT_LE(std::abs(block[i]), 32767);
    }
  }
  int flat[64];
  for (int& v : flat) v = -255;
  forward_transform8x8(flat);
  EXPECT_EQ(flat[0], -255 * 64);
  for (int i = 1; i < 64; ++i) EXPECT_EQ(flat[i], 0);
}

// The steps of 8.5.13 for one row or column.
void reference_inverse_1d(const int* in, int step, int* out) {
  const auto x = [&](int i) { return in[i * step]; };
  int a[8], b[8];
  a[0] = x(0) + x(4), a[1] = -x(3) + x(5) - x(7) - (x(7) >> 1), a[2] = x(0) - x(4);
  a[3] = x(1) + x(7) - x(3) - (x(3) >> 1), a[4] = (x(2) >> 1) - x(6);
  a[5] = -x(1) + x(7) + x(5) + (x(5) >> 1), a[6] = x(2) + (x(6) >> 1);
  a[7] = x(3) + x(5) + x(1) + (x(1) >> 1);
  b[0] = a[0] + a[6], b[1] = a[1] + (a[7] >> 2), b[2] = a[2] + a[4], b[3] = a[3] + (a[5] >> 2);
  b[4] = a[2] - a[4], b[5] = (a[3] >> 2) - a[5], b[6] = a[0] - a[6], b[7] = a[7] - (a[1] >> 2);
  out[0] = b[0] + b[7], out[step] = b[2] + b[5], out[2 * step] = b[4] + b[3], out[3 * step] = b[6] + b[1];
  out[4 * step] = b[6] - b[1], out[5 * step] = b[4] - b[3], out[6 * step] = b[2] - b[5];
  out[7 * step] = b[0] - b[7];
}

TEST(Transform8x8, InverseFollowsTheStandard) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    int block[64], rows[64], expected[64];
    random_block(random, 4000, block);
    for (int i = 0; i < 8; ++i) reference_inverse_1d(block + 8 * i, 1, rows + 8 * i);
    for (int i = 0; i < 8; ++i) reference_inverse_1d(rows + i, 8, expected + i);
    inverse_transform8x8(block);
    for (int i = 0; i < 64; ++i) ASSERT_EQ(block[i], (expected[i] + 32) >> 6) << "sample " << i;
  }
}

TEST(Transform8x8, SatdIsHalfTheSumOfHadamardCoefficients) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    int block[64], sum = 0;
    random_block(random, 255, block);
    for (int u = 0; u < 64; ++u) {
      int coefficient = 0;
      for (int i = 0; i < 64; ++i)
        coefficient += __builtin_popcount(static_cast<unsigned>(u & i)) & 1 ? -block[i] : block[i];
      sum += std::abs(coefficient);
    }
    ASSERT_EQ(satd8x8(block), (sum + 1) / 2);
  }
}

// The scan runs along diagonals and turns at each end.
TEST(Zigzag8x8, WalksTheDiagonals) {
  int x = 0, y = 0;
  bool up = true;
  for (int k = 0; k < 64; ++k) {
    ASSERT_EQ(zigzag8x8_to_raster(k), 8 * y + x) << k;
    if (up ? x == 7 : y == 7) {
      up ? ++y : ++x;
      up = !up;
    } else if (up ? y == 0 : x == 0) {
      up ? ++x : ++y;
      up = !up;
    } else {
      x += up ? 1 : -1, y += up ? -1 : 1;
    }
  }
}

TEST(Zigzag8x8, InterleavingFillsFourBlocks) {
  std::set<int> places;
  for (int i4x4 = 0; i4x4 < 4; ++i4x4) {
    for (int j = 0; j < 16; ++j) {
      const int k = 4 * j + i4x4;  // 7.3.5.3.2
      EXPECT_EQ(interleaved_block(k), i4x4);
      EXPECT_EQ(interleaved_level(k), j);
      places.insert(16 * interleaved_block(k) + interleaved_level(k));
    }
  }
  EXPECT_EQ(places.size(), 64u);
}

double step_size(int qp) {
  return 0.625 * std::pow(2.0, qp / 6.0);
}

// A coefficient divided by its norm, in steps. The standard's steps are within a few percent of the powers of
// two that step_size gives.
TEST(Quant8x8, ScaledCoefficientsAreInStepsOfTheQuantiser) {
  for (int qp = 0; qp < 52; ++qp) {
    const Quantiser8x8 q = make_quantiser8x8(qp);
    for (int i = 0; i < 64; ++i) {
      double squares[2] = {0, 0};
      for (int k = 0; k < 8; ++k) {
        squares[0] += kBasis[i / 8][k] * kBasis[i / 8][k] / 64.0;
        squares[1] += kBasis[i % 8][k] * kBasis[i % 8][k] / 64.0;
      }
      const int m = position_class8x8(i);
      const double scaled = 1000.0 * q.multiplier[m] / std::exp2(q.shift);
      const double expected = 1000.0 / std::sqrt(squares[0] * squares[1]) / step_size(qp);
      ASSERT_NEAR(scaled / expected, 1.0, 0.05) << "QP " << qp << " position " << i;
    }
  }
}

TEST(Quant8x8, LevelsComeBackWithinHalfAStep) {
  std::mt19937 random(4);
  for (int qp = 0; qp < 52; ++qp) {
    const Quantiser8x8 q = make_quantiser8x8(qp);
    for (int round = 0; round < 50; ++round) {
      int block[64], coefficients[64];
      random_block(random, 255, block);
      for (int i = 0; i < 64; ++i) coefficients[i] = block[i];
      forward_transform8x8(coefficients);
      for (int i = 0; i < 64; ++i) {
        const int m = position_class8x8(i), half = 1 << (q.shift - 1);
        const int level = (std::abs(coefficients[i]) * q.multiplier[m] + half) >> q.shift;
        coefficients[i] = dequantise8x8(coefficients[i] < 0 ? -level : level, q.level_scale[m], q.qp_per);
      }
      inverse_transform8x8(coefficients);
      double squared_error = 0;
      for (int i = 0; i < 64; ++i) {
        squared_error += (coefficients[i] - block[i]) * (coefficients[i] - block[i]) / 64.0;
      }
      // Coefficients in level units are off by at most half a step each.
      ASSERT_LE(std::sqrt(squared_error), 0.53 * step_size(qp) + 1.0) << "QP " << qp;
    }
  }
}

// 8.5.13 with LevelScale8x8 for the flat matrix, in wide arithmetic.
TEST(Quant8x8, DequantisationFollowsTheStandard) {
  for (int qp = 0; qp < 52; ++qp) {
    const Quantiser8x8 q = make_quantiser8x8(qp);
    for (int m = 0; m < kPositionClasses8x8; ++m) {
      EXPECT_EQ(q.level_scale[m], 16 * norm_adjust8x8(qp, m));
      for (const int level : {-kMaxLevel, -3, -1, 0, 1, 2, 77}) {
        const double exact = std::ldexp(static_cast<double>(level) * q.level_scale[m], qp / 6 - 6);
        EXPECT_EQ(dequantise8x8(level, q.level_scale[m], q.qp_per), std::floor(exact + 0.5))
            << qp << " " << m;
      }
    }
  }
}

TEST(Quant8x8, PositionsHaveTheClassesOfTheStandard) {
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      int m = 5;  // 8.5.9
      if (i % 4 == 0 && j % 4 == 0)
        m = 0;
      else if (i % 2 == 1 && j % 2 == 1)
        m = 1;
      else if (i % 4 == 2 && j % 4 == 2)
        m = 2;
      else if ((i % 4 == 0 && j % 2 == 1) || (i % 2 == 1 && j % 4 == 0))
        m = 3;
      else if ((i % 4 == 0 && j % 4 == 2) || (i % 4 == 2 && j % 4 == 0))
        m = 4;
      EXPECT_EQ(position_class8x8(8 * i + j), m);
    }
  }
}

}  // namespace
