// Quantisation with scaling lists against exact arithmetic, and its bounds.
#include "core/weighted_quant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "core/value_range.h"

namespace cu264::core {
namespace {

constexpr int kWeights[] = {1, 2, 5, 6, 9, 15, 16, 17, 42, 100, 254, 255};

// The largest coefficients of residuals of 255, by position class: products of the sums of the magnitudes in
// two rows of the transform's matrix (4 and 6; 8, 62/8 and 6).
constexpr double kMax4x4[3] = {16 * 255, 36 * 255, 24 * 255};
constexpr double kMax8x8[6] = {64 * 255, 7.75 * 7.75 * 255, 36 * 255, 62 * 255, 48 * 255, 46.5 * 255};

TEST(WeightedQuant, TheWeight16IsFlat) {
  for (int qp = 0; qp <= 51; ++qp) {
    const Quantiser flat = make_quantiser(qp);
    const WeightedInverse inverse = weighted_inverse(qp);
    for (int i = 0; i < 16; ++i) {
      const int c = position_class(i);
      EXPECT_EQ(weighted_multiplier(flat.multiplier[c], 16), flat.multiplier[c]);
      for (const int level : {-2063, -1, 1, 7, 2063}) {
        EXPECT_EQ((level * weighted_dequant(qp, i, 16) + inverse.rounding) >> inverse.shift,
                  level * flat.dequant[c]);
      }
    }
    const Quantiser8x8 flat8x8 = make_quantiser8x8(qp);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(weighted_level_scale8x8(qp, i, 16), flat8x8.level_scale[position_class8x8(i)]);
  }
}

TEST(WeightedQuant, EverythingFitsIn32Bits) {
  constexpr double kLimit = 2147483647.0;
  for (int qp = 0; qp <= 51; ++qp) {
    const Quantiser q = make_quantiser(qp);
    const Quantiser8x8 q8x8 = make_quantiser8x8(qp);
    const int shift8x8 = kWeightedShift8x8 + qp / 6;
    for (const int weight : kWeights) {
      for (int c = 0; c < 3; ++c) {
        const double scaled = kMax4x4[c] * weighted_multiplier(q.multiplier[c], weight);
        EXPECT_LT(scaled + std::ldexp(1, q.shift - 1), kLimit) << qp << " " << weight;
      }
      // All 256 differences of a macroblock add up in a DC coefficient.
      EXPECT_LT(65280.0 * weighted_multiplier(q.multiplier[0], weight) / 16 + std::ldexp(1, q.shift - 3),
                kLimit);
      for (int c = 0; c < 6; ++c) {
        // Coefficients are some units larger where halves are rounded.
        const double scaled = (kMax8x8[c] + 8) * weighted_multiplier8x8(q8x8.multiplier[c], weight);
        EXPECT_LT(scaled + std::ldexp(1, shift8x8 - 1), kLimit) << qp << " " << weight;
      }
      EXPECT_LT(2063.0 * weighted_dequant(qp, 5, weight), kLimit);
      EXPECT_LT(2063.0 * weighted_level_scale8x8(qp, 9, weight) * (qp >= 36 ? 1 << (qp / 6 - 6) : 1), kLimit);
    }
  }
}

// H.264 8.5.12.1 with LevelScale4x4 = weightScale4x4 * normAdjust4x4.
TEST(WeightedQuant, CoefficientsAreTheStandards) {
  for (int qp = 0; qp <= 51; ++qp) {
    const WeightedInverse inverse = weighted_inverse(qp);
    for (const int weight : kWeights) {
      for (int i = 0; i < 16; ++i) {
        const double scale = weight * dequant_scale(qp, position_class(i)) * std::ldexp(1, qp / 6 - 4);
        for (const int level : {-300, -7, -1, 0, 1, 2, 33, 2063}) {
          EXPECT_EQ((level * weighted_dequant(qp, i, weight) + inverse.rounding) >> inverse.shift,
                    std::floor(level * scale + 0.5));
        }
      }
    }
  }
}

// What a coefficient loses by rounding to the nearest level is half a step, and the error of the multipliers.
TEST(WeightedQuant, MultipliersInvertTheScales) {
  constexpr double kGain4x4[3] = {16, 25, 20};  // of the transform pair by position class
  std::mt19937 random(1);
  for (int qp = 0; qp <= 51; ++qp) {
    const Quantiser q = make_quantiser(qp);
    const Quantiser8x8 q8x8 = make_quantiser8x8(qp);
    const WeightedInverse inverse = weighted_inverse(qp);
    const int shift8x8 = kWeightedShift8x8 + qp / 6;
    for (const int weight : kWeights) {
      for (int n = 0; n < 64; ++n) {
        const int c = position_class(n & 15);
        const int coefficient = static_cast<int>(random() % static_cast<unsigned>(kMax4x4[c] / 4));
        const int level =
            quantise(coefficient * weighted_multiplier(q.multiplier[c], weight), q.shift, 1 << (q.shift - 1));
        const double scale = weight * dequant_scale(qp, c) * std::ldexp(1, qp / 6 - 4);
        if (level == kMaxLevel) continue;
        const double exact = 64 * coefficient / kGain4x4[c];
        const double back =
            (level * weighted_dequant(qp, n & 15, weight) + inverse.rounding) >> inverse.shift;
        EXPECT_LE(std::abs(back - exact), scale / 2 + 1 + exact / 256) << qp << " " << weight << " " << n;

        const int m = position_class8x8(n);
        const int large = static_cast<int>(random() % static_cast<unsigned>(kMax8x8[m] / 4));
        const int level8x8 = quantise(large * weighted_multiplier8x8(q8x8.multiplier[m], weight), shift8x8,
                                      1 << (shift8x8 - 1));
        if (level8x8 == kMaxLevel) continue;
        // 2^24 over (norm x flat multiplier) is the gain of the 8x8 pair, and LevelScale8x8 / 64 the step.
        const double scale8x8 = weight * norm_adjust8x8(qp, m) * std::ldexp(1, qp / 6 - 6);
        const double exact8x8 =
            large * std::ldexp(1, -16) * q8x8.multiplier[m] * 16.0 * norm_adjust8x8(qp, m) / 64;
        const int back8x8 = dequantise8x8(level8x8, weighted_level_scale8x8(qp, n, weight), qp / 6);
        EXPECT_LE(std::abs(back8x8 - exact8x8), scale8x8 / 2 + 1 + exact8x8 / 256)
            << qp << " " << weight << " " << n;
      }
    }
  }
}

TEST(WeightedQuant, DcLevelsAreThoseOfTheWholeProduct) {
  std::mt19937 random(2);
  for (int qp = 0; qp <= 51; ++qp) {
    const Quantiser q = make_quantiser(qp);
    const int shift = q.shift + kLumaDcExtraShift, cut = shift - kDcBitsCut;
    for (int n = 0; n < 200; ++n) {
      const int magnitude = static_cast<int>(random() % 65281);
      const int whole = magnitude * q.multiplier[0];
      EXPECT_EQ(quantise_with_dead_zone(scaled_dc(magnitude, q.multiplier[0]), cut, level_rounding(cut),
                                        first_level_at(kDeadZoneLuma, 0, cut)),
                quantise_with_dead_zone(whole, shift, level_rounding(shift),
                                        first_level_at(kDeadZoneLuma, 0, shift)));
    }
  }
  EXPECT_EQ(scaled_dc(65280, 209712), 65280LL * 209712 / 16);
}

TEST(ValueRange, OneCoefficientAlone) {
  for (int i = 0; i < 16; ++i) {
    std::int32_t block[16] = {};
    block[i] = 32767 - 64;
    EXPECT_FALSE(leaves_range4x4(block)) << i;
    block[i] = 32768;
    EXPECT_TRUE(leaves_range4x4(block)) << i;
    block[i] = -32769;
    EXPECT_TRUE(leaves_range4x4(block)) << i;
  }
  std::int32_t block[64] = {};
  block[0] = 32768;
  EXPECT_TRUE(leaves_range8x8(block));
  block[0] = 32767 - 64;
  EXPECT_FALSE(leaves_range8x8(block));
}

TEST(ValueRange, SumsAreSeenThatTheCoefficientsDoNotShow) {
  std::int32_t block[16] = {};
  block[0] = block[2] = 20000;  // 40000 in the first column
  EXPECT_TRUE(leaves_range4x4(block));
  block[2] = -5000, block[8] = -5000;
  EXPECT_FALSE(leaves_range4x4(block));  // 25000 and 30000, although the magnitudes add up to 30000
  std::int32_t large[64] = {};
  large[1] = large[8] = 15000;  // 1.5 x 15000 each
  EXPECT_TRUE(leaves_range8x8(large));
  large[8] = 0;
  EXPECT_FALSE(leaves_range8x8(large));
}

// The transform of any residual stays inside, and is not mistaken for one that does not.
TEST(ValueRange, ResidualsStayInside) {
  std::mt19937 random(3);
  for (int n = 0; n < 500; ++n) {
    std::int32_t block[16];
    for (std::int32_t& sample : block) sample = random() % 2 != 0 ? 255 : -255;
    forward_transform4x4(block);
    constexpr double kGain[3] = {16, 25, 20};
    for (int i = 0; i < 16; ++i)
      block[i] = static_cast<std::int32_t>(std::lround(64 * block[i] / kGain[position_class(i)]));
    EXPECT_FALSE(leaves_range4x4(block));
  }
}

}  // namespace
}  // namespace cu264::core
