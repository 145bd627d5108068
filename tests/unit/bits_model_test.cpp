// Predictions never grow with the QP, scale with the picture, and lie near the sizes that the encoder makes.
#include "encoder/rate_control/bits_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "encoder/config.h"
#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/fixed_log.h"
#include "support/encode.h"
#include "tests/unit/predicted_bits.h"

namespace cu264 {
namespace {

using encoder::crf_qp_q8, encoder::kMaxQpQ8, encoder::kQpOne;
using test::predicted_bits;

constexpr Preset kPresets[] = {Preset::fast, Preset::balanced, Preset::best};

core::PictureMeasure measure(const test::Picture& picture, AdaptiveQuantisation aq) {
  Config config;
  config.width = picture.width, config.height = picture.height;
  config.aq = aq;
  config.threads = 1;
  encoder::StreamParams params = encoder::stream_params(config);
  params.pacing.controls_rate = true;
  const auto analyser = encoder::make_cpu_analyser(params);
  const test::FrameBuffer buffer(picture, PixelFormat::i420);
  return analyser->analyse(buffer.view(), nullptr, {})->measure();
}

TEST(BitsModel, LogarithmsAreExact) {
  for (std::int64_t value = 1; value < (std::int64_t{1} << 60); value = value * 5 / 4 + 1) {
    const int found = encoder::log2_q16(value);
    const double exact = std::log2(static_cast<double>(value)) * encoder::kLogOne;
    EXPECT_NEAR(found, exact, 1.01) << value;
    const double back = static_cast<double>(encoder::exp2_q16(found));
    EXPECT_NEAR(back, static_cast<double>(value), 1 + static_cast<double>(value) * 2e-5) << value;
  }
  EXPECT_EQ(encoder::log2_q16(1), 0);
  EXPECT_EQ(encoder::exp2_q16(0), 1);
  EXPECT_EQ(encoder::exp2_q16(20 * encoder::kLogOne), 1 << 20);
}

TEST(BitsModel, PredictionsFallWithTheQp) {
  for (const test::Content content : test::kContents) {
    const test::Picture picture = test::make_picture(content, 96, 64);
    for (const AdaptiveQuantisation aq : {AdaptiveQuantisation::off, AdaptiveQuantisation::variance}) {
      const core::PictureMeasure found = measure(picture, aq);
      for (const Preset preset : kPresets) {
        std::int64_t before = predicted_bits(found, 0, preset);
        EXPECT_LE(before, 24 * 3300);
        for (int qp_q8 = 16; qp_q8 <= kMaxQpQ8; qp_q8 += 16) {
          const std::int64_t bits = predicted_bits(found, qp_q8, preset);
          EXPECT_GT(bits, 0);
          EXPECT_LE(bits, before) << test::name_of(content) << ", QP " << qp_q8 / 256.0;
          // A step of 1/16 QP never changes much, so that a search by predictions ends at a size near its
          // aim.
          EXPECT_GE(bits, before * 85 / 100) << test::name_of(content) << ", QP " << qp_q8 / 256.0;
          before = bits;
        }
      }
    }
  }
}

TEST(BitsModel, PredictionsAreNearTheSizes) {
  const test::Picture picture = test::make_picture(test::Content::natural, 320, 240);
  for (const AdaptiveQuantisation aq : {AdaptiveQuantisation::off, AdaptiveQuantisation::variance}) {
    const core::PictureMeasure found = measure(picture, aq);
    for (const Preset preset : {Preset::fast, Preset::balanced}) {
      for (const int qp : {18, 27, 36}) {
        Config config;
        config.qp = qp, config.preset = preset, config.aq = aq, config.backend = BackendChoice::cpu;
        const double bits = 8.0 * static_cast<double>(test::encode(config, {picture}).packets[0].data.size());
        EXPECT_NEAR(static_cast<double>(predicted_bits(found, qp * kQpOne, preset)) / bits, 1, 0.4)
            << "QP " << qp << ", preset " << static_cast<int>(preset);
      }
    }
  }
}

TEST(BitsModel, CrfRisesWithComplexity) {
  const core::PictureMeasure plain =
      measure(test::make_picture(test::Content::flat16, 96, 64), AdaptiveQuantisation::variance);
  const core::PictureMeasure busy =
      measure(test::make_picture(test::Content::natural, 96, 64), AdaptiveQuantisation::variance);
  EXPECT_GT(crf_qp_q8(busy, 23 * kQpOne, true), crf_qp_q8(plain, 23 * kQpOne, true));
  int before = -1;
  for (int crf_q8 = 0; crf_q8 <= kMaxQpQ8; crf_q8 += 64) {
    const int qp = crf_qp_q8(busy, crf_q8, true);
    EXPECT_GE(qp, before);
    EXPECT_LE(qp, kMaxQpQ8);
    before = qp;
    // The scale is that of an encoder with CABAC.
    const int with_cavlc = crf_qp_q8(busy, crf_q8, false);
    EXPECT_GE(with_cavlc, qp);
    EXPECT_LE(with_cavlc, std::min(qp + 3 * kQpOne, kMaxQpQ8));
    EXPECT_EQ(with_cavlc > qp, crf_q8 > 18 * kQpOne && qp < kMaxQpQ8) << crf_q8;
  }
  // Nothing to measure is no fault.
  EXPECT_GE(crf_qp_q8({}, 23 * kQpOne, true), 0);
  EXPECT_GE(predicted_bits({}, 23 * kQpOne, Preset::fast), 0);
}

}  // namespace
}  // namespace cu264
