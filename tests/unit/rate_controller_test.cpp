// Rate control of thousands of pictures: targets, buffers, limits, GOPs and what is in flight.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/unit/simulated_rate.h"

namespace cu264::simulated {
namespace {

// Black pictures and noise, cut by cut.
std::vector<Source> black_and_noise(int pictures, int scene) {
  std::vector<Source> clip;
  for (int n = 0; n < pictures; ++n) {
    const bool noise = n / scene % 2 == 1;
    clip.push_back(noise ? Source{4e6, 1.6, 1.2} : Source{0, 2, 2.5});
  }
  return clip;
}

// A leaky bucket of the test's own, in seconds.
void expect_buffer_holds(const std::vector<Coded>& coded, const HrdParams& hrd, double frame_rate) {
  double fullness = 0.9 * static_cast<double>(hrd.cpb_bits);
  for (std::size_t n = 0; n < coded.size(); ++n) {
    fullness -= 8.0 * static_cast<double>(coded[n].bytes);
    ASSERT_GE(fullness, 0) << "underflow at picture " << n;
    EXPECT_NEAR(fullness, static_cast<double>(coded[n].fullness), 17) << n;
    fullness += static_cast<double>(hrd.bit_rate) / frame_rate;
    if (hrd.cbr) {
      ASSERT_LE(fullness, static_cast<double>(hrd.cpb_bits)) << "overflow after picture " << n;
    }
    fullness = std::min(fullness, static_cast<double>(hrd.cpb_bits));
  }
}

struct Summary {
  double error = 0;         // of the whole, against the target
  double worst_second = 0;  // the same
  double again = 0;         // codings beyond one, for each picture
};

Summary summary_of(const std::vector<Coded>& coded, std::int64_t bitrate, int second) {
  Summary summary;
  double bits = 0, window = 0, codings = 0;
  const double target = static_cast<double>(bitrate) / second;
  for (std::size_t n = 0; n < coded.size(); ++n) {
    bits += 8.0 * static_cast<double>(coded[n].bytes);
    window += 8.0 * static_cast<double>(coded[n].bytes);
    codings += coded[n].codings;
    if (n >= static_cast<std::size_t>(second))
      window -= 8.0 * static_cast<double>(coded[n - static_cast<std::size_t>(second)].bytes);
    if (n + 1 < static_cast<std::size_t>(second)) continue;
    summary.worst_second =
        std::max(summary.worst_second, std::abs(window / static_cast<double>(bitrate) - 1));
  }
  summary.error = bits / (target * static_cast<double>(coded.size())) - 1;
  summary.again = codings / static_cast<double>(coded.size()) - 1;
  return summary;
}

TEST(RateController, TargetIsMetInEverySecond) {
  for (const double bias : {0.0, 0.03, 0.08, 0.3}) {
    const RateSettings settings = target_of(8000000, 8000000, 1);
    const auto coded = simulate(clip_of(scenes(3000, bias, 0.02), settings), 192);
    const Summary summary = summary_of(coded, 8000000, 25);
    EXPECT_LT(std::abs(summary.error), 0.005) << bias;
    EXPECT_LT(summary.worst_second, 0.1) << bias;
    EXPECT_LT(summary.again, 0.05 + 4 * bias) << bias;
    expect_buffer_holds(coded, *settings.hrd, 25);
  }
}

// Whatever is in flight, the decisions are the same.
TEST(RateController, DecisionsDoNotDependOnPicturesInFlight) {
  RateSettings limited = target_of(8000000, 12000000, 0.5);
  limited.limit_bytes = 60000;
  RateSettings crf;
  crf.crf_q8 = 23 * 256;
  RateSettings exact;
  exact.limit_bytes = 50000, exact.exact = true;
  RateSettings ahead = target_of(8000000, 8000000, 1, true), short_ahead = limited, long_ahead = limited;
  ahead.lookahead = 40, short_ahead.lookahead = 1, long_ahead.lookahead = 250;
  for (const RateSettings& settings :
       {target_of(8000000, 8000000, 1, true), limited, crf, exact, ahead, short_ahead, long_ahead}) {
    const Clip clip = clip_of(scenes(1000, 0.1, 0.03), settings);
    const auto expected = simulate(clip, 1);
    for (const int reach : {2, 7, 64, 320}) EXPECT_TRUE(same(simulate(clip, reach), expected)) << reach;
  }
}

// Scenes of which P pictures take a part that depends on their motion. What is announced knows nothing of it.
std::vector<Source> moving_scenes(int pictures, int gop, unsigned seed) {
  std::vector<Source> clip = scenes(pictures, 0.05, 0.02, seed);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  double part = 0.2;
  for (int n = 0; n < pictures; ++n) {
    if (n % 50 == 0) part = 0.2 * std::exp(0.7 * normal(random));
    if (gop == 0 ? n == 0 : n % gop == 0) continue;
    Source& picture = clip[static_cast<std::size_t>(n)];
    const double factor = std::min(part * std::exp(0.15 * normal(random)), 1.0);
    picture.bits *= factor, picture.bias *= factor * 3;
  }
  return clip;
}

TEST(RateController, ABitrateIsMetWithPPictures) {
  for (const int gop : {2, 8, 30, 250, 0}) {
    for (const bool cbr : {false, true}) {
      for (const int lookahead : {0, 40}) {
        RateSettings settings = target_of(2000000, 2000000, 1, cbr);
        settings.gop = gop, settings.lookahead = lookahead;
        const auto coded = simulate(clip_of(moving_scenes(3000, gop, 3), settings), 64);
        const std::string what =
            "gop " + std::to_string(gop) + (cbr ? ", cbr, " : ", ") + std::to_string(lookahead);
        EXPECT_LT(std::abs(summary_of(coded, 2000000, 25).error), 0.02) << what;
        EXPECT_LT(summary_of(coded, 2000000, 25).again, 0.15) << what;
        expect_buffer_holds(coded, *settings.hrd, 25);
      }
    }
  }
}

TEST(RateController, PPicturesWaitForTheOneBefore) {
  RateSettings limited = target_of(2000000, 3000000, 0.5);
  limited.limit_bytes = 40000;
  RateSettings crf;
  crf.crf_q8 = 23 * 256;
  RateSettings ahead = target_of(2000000, 2000000, 1);
  ahead.lookahead = 40;
  for (RateSettings settings : {limited, crf, ahead}) {
    settings.gop = 12;
    const Clip clip = clip_of(moving_scenes(500, 12, 5), settings);
    EXPECT_TRUE(same(simulate(clip, 64), simulate(clip, 1)));
  }
}

TEST(RateController, KeyPicturesHaveALowerQp) {
  RateSettings settings;
  settings.crf_q8 = 30 * 256, settings.gop = 10;
  const auto coded = simulate(clip_of(moving_scenes(30, 10, 1), settings), 1);
  for (std::size_t n = 0; n < coded.size(); ++n) EXPECT_EQ(coded[n].qp, n % 10 == 0 ? 27 : 30) << n;
  using namespace cu264::encoder;
  for (int qp = 0; qp <= kMaxQpQ8; ++qp) {
    ASSERT_LE(own_qp_q8(PictureKind::key, qp), qp);
    if (qp >= 3 * kQpOne) {
      ASSERT_NEAR(stream_qp_q8(PictureKind::key, own_qp_q8(PictureKind::key, qp)), qp, 1);
    }
  }
  EXPECT_EQ(own_qp_q8(PictureKind::key, kMaxQpQ8), kMaxQpQ8);
}

// What a key picture was lent is paid back to the last bit, before the next one if that comes as expected.
TEST(RateController, KeyPicturesPayBackTheirLoan) {
  encoder::KeyLoan loan;
  EXPECT_EQ(loan.payment(1000), 0);
  loan.lend(10000, 29);
  std::int64_t paid = 0;
  for (int picture = 0; picture < 29; ++picture) {
    const std::int64_t part = loan.payment(1000);
    EXPECT_NEAR(static_cast<double>(part), 10000 / 29.0, 1.0 + 10000 / 29.0 / 20);
    loan.pay(part), paid += part;
  }
  EXPECT_EQ(paid, 10000);
  EXPECT_EQ(loan.payment(1000), 0);
  loan.lend(10000, 4);  // no picture pays more than three quarters of its share
  for (paid = 0; loan.bits() > 0; loan.pay(loan.payment(1000))) ASSERT_LE(loan.payment(1000), 750);
}

double deviation(const std::vector<Coded>& coded) {
  double sum = 0, squares = 0;
  for (const Coded& picture : coded) sum += picture.qp, squares += picture.qp * picture.qp;
  const double mean = sum / static_cast<double>(coded.size());
  return std::sqrt(squares / static_cast<double>(coded.size()) - mean * mean);
}

// Who knows the pictures to come changes the QP less, within the same bounds.
TEST(RateController, LookAheadKeepsTheQuality) {
  double blind_sum = 0, ahead_sum = 0, wide_blind_sum = 0, wide_ahead_sum = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    RateSettings settings = target_of(8000000, 8000000, 1);
    const std::vector<Source> pictures = scenes(1000, 0.03, 0.02, seed);
    blind_sum += deviation(simulate(clip_of(pictures, settings), 64));
    settings.lookahead = 40;
    const auto ahead = simulate(clip_of(pictures, settings), 64);
    ahead_sum += deviation(ahead);
    EXPECT_LT(summary_of(ahead, 8000000, 25).worst_second, 0.1) << seed;
    EXPECT_LT(std::abs(summary_of(ahead, 8000000, 25).error), 0.008) << seed;
    EXPECT_LT(summary_of(ahead, 8000000, 25).again, 0.2) << seed;
    expect_buffer_holds(ahead, *settings.hrd, 25);
    settings = target_of(8000000, 16000000, 2);
    wide_blind_sum += deviation(simulate(clip_of(pictures, settings), 64));
    settings.lookahead = 100;
    wide_ahead_sum += deviation(simulate(clip_of(pictures, settings), 64));
  }
  EXPECT_LT(ahead_sum, 0.97 * blind_sum);
  EXPECT_LT(wide_ahead_sum, 0.85 * wide_blind_sum);
}

// A clip ends closer to its rate if its end is seen.
TEST(RateController, TheEndOfAClipIsSeen) {
  double seen = 0, unseen = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    RateSettings settings = target_of(8000000, 8000000, 1);
    settings.lookahead = 40;
    const Clip clip = clip_of(scenes(600, 0.03, 0.02, seed), settings);
    seen += std::abs(summary_of(simulate(clip, 64), 8000000, 25).error) / 8;
    unseen += std::abs(summary_of(simulate(clip, 64, false), 8000000, 25).error) / 8;
  }
  EXPECT_LT(seen, 0.005);
  EXPECT_LT(seen, 0.6 * unseen);
}

// Fewer pictures than are looked at, and than a second has.
TEST(RateController, ShortClipsAreSeenWhole) {
  for (const int pictures : {1, 2, 5, 24, 30, 41}) {
    RateSettings settings = target_of(8000000, 8000000, 1);
    settings.lookahead = 40;
    const Clip clip = clip_of(scenes(pictures, 0.03, 0.02), settings);
    const auto coded = simulate(clip, 1);
    for (const int reach : {7, 64}) EXPECT_TRUE(same(simulate(clip, reach), coded)) << pictures;
    expect_buffer_holds(coded, *settings.hrd, 25);
  }
}

// Errors of the curves that stay are learned, and then cost nothing.
TEST(RateController, LearnsTheErrorOfTheCurves) {
  for (const double bias : {0.7, 1.3}) {
    std::vector<Source> clip = scenes(2000, 0, 0.01);
    for (Source& source : clip) source.bias = bias;
    const auto coded = simulate(clip_of(clip, target_of(8000000, 8000000, 1)), 64);
    const Summary summary = summary_of(coded, 8000000, 25);
    EXPECT_LT(std::abs(summary.error), 0.003) << bias;
    EXPECT_LT(summary.worst_second, 0.1) << bias;
    EXPECT_LT(summary.again, 0.02) << bias;
  }
}

TEST(RateController, BufferHoldsThroughCutsFromBlackToNoise) {
  for (const int scene : {1, 7, 50, 400}) {
    for (const double seconds : {0.2, 1.0, 3.0}) {
      for (const bool cbr : {false, true}) {
        const RateSettings settings = target_of(20000000, 20000000, seconds, cbr);
        const auto coded = simulate(clip_of(black_and_noise(1500, scene), settings), 320);
        expect_buffer_holds(coded, *settings.hrd, 25);
        if (HasFatalFailure()) FAIL() << scene << " pictures, " << seconds << " s, cbr " << cbr;
        EXPECT_EQ(std::count_if(coded.begin(), coded.end(), [](const Coded& c) { return c.bytes == 0; }), 0);
      }
    }
  }
}

// With peaks allowed, quality changes less than with a narrow buffer, and the mean is met all the same.
TEST(RateController, PeaksKeepTheQuality) {
  const auto steadiness = [](const std::vector<Coded>& coded) {
    double changes = 0;
    for (std::size_t n = 1; n < coded.size(); ++n) changes += std::abs(coded[n].qp - coded[n - 1].qp);
    return changes;
  };
  const std::vector<Source> clip = scenes(3000, 0.03, 0.02);
  const auto narrow = simulate(clip_of(clip, target_of(8000000, 8000000, 1)), 64);
  const auto wide = simulate(clip_of(clip, target_of(8000000, 16000000, 2)), 64);
  EXPECT_LT(steadiness(wide), steadiness(narrow));
  EXPECT_LT(std::abs(summary_of(wide, 8000000, 25).error), 0.02);
}

TEST(RateController, NoPictureExceedsItsLimit) {
  for (const double bias : {0.0, 0.1, 0.3}) {
    RateSettings settings;
    settings.qp = 20, settings.limit_bytes = 60000;
    const std::vector<Source> clip = scenes(3000, bias, 0.05);
    const auto coded = simulate(clip_of(clip, settings), 64);
    double use = 0;
    int limited = 0;
    for (std::size_t n = 0; n < coded.size(); ++n) {
      ASSERT_LE(coded[n].bytes, 60000) << n;
      ASSERT_GE(coded[n].qp, 20) << n;
      const bool wants_more = bits_at(clip[n], 20) / 8 > 60000;
      if (!wants_more && coded[n].qp > 20) {
        ASSERT_GT(coded[n].bytes, 60000 * 89 / 100) << n;
      }
      if (wants_more) use += static_cast<double>(coded[n].bytes) / 60000, ++limited;
    }
    ASSERT_GT(limited, 1000);
    EXPECT_GT(use / limited, 0.95) << bias;
  }
}

// Where the curve has another slope than the sizes, a second size does not hit the limit either.
TEST(RateController, LimitsAreUsedDespiteWrongSlopes) {
  RateSettings settings;
  settings.qp = 5, settings.limit_bytes = 60000;
  for (const double slope : {0.85, 1.25}) {
    std::vector<Source> clip = scenes(600, 0.1, 0.3);
    for (Source& source : clip) source.bits += 300000, source.slope = slope;
    const auto coded = simulate(clip_of(clip, settings), 64);
    double use = 0;
    for (std::size_t n = 0; n < coded.size(); ++n) {
      ASSERT_LE(coded[n].bytes, 60000) << n;
      use += static_cast<double>(coded[n].bytes) / 60000 / static_cast<double>(coded.size());
    }
    EXPECT_GT(use, 0.95) << slope;
  }
}

TEST(RateController, EveryPictureIsExactlySoLarge) {
  RateSettings settings;
  settings.limit_bytes = 60000, settings.exact = true;
  const auto coded = simulate(clip_of(scenes(2000, 0.1, 0.05), settings), 64);
  double filler = 0;
  for (const Coded& picture : coded) {
    ASSERT_EQ(picture.bytes, 60000);
    ASSERT_TRUE(picture.filler == 0 || picture.filler >= 5);
    filler += static_cast<double>(picture.filler);
  }
  EXPECT_LT(filler / (2000.0 * 60000), 0.05);
}

TEST(RateController, PicturesThatNoQpMakesSmallEnoughAreLeftOut) {
  RateSettings settings;
  settings.limit_bytes = 1000, settings.drop = true;
  std::vector<Source> clip(400, Source{20000, 2, 1});
  clip[100].bits = 9e6;
  const auto coded = simulate(clip_of(clip, settings), 64);
  for (std::size_t n = 0; n < coded.size(); ++n) EXPECT_EQ(coded[n].bytes == 0, n == 100) << n;
  const auto at_51 = static_cast<std::int64_t>(bits_at(clip[100], 51) / 8);
  EXPECT_EQ(coded[100].excess, at_51 + kOverhead - 1000);
}

// A target that changes holds from the next picture on.
TEST(RateController, TargetChangesWithinOnePicture) {
  for (const int lookahead : {0, 40}) {
    Clip clip = clip_of(scenes(1200, 0.02, 0.02), {});
    clip.settings = [=](std::size_t n) {
      RateSettings settings = n < 600 ? target_of(8000000, 8000000, 1) : target_of(3000000, 3000000, 1);
      settings.lookahead = lookahead;
      return settings;
    };
    const auto coded = simulate(clip, 192);
    EXPECT_TRUE(same(simulate(clip, 5), coded));
    const auto second = [&](std::size_t from) {
      double bits = 0;
      for (std::size_t n = from; n < from + 25; ++n) bits += 8.0 * static_cast<double>(coded[n].bytes);
      return bits;
    };
    EXPECT_NEAR(second(575), 8e6, 8e5) << lookahead;
    EXPECT_NEAR(second(600), 3e6, 3e5) << lookahead;
    EXPECT_NEAR(second(1000), 3e6, 3e5) << lookahead;
  }
}

// What was spent too little of a high target must not be made good from a low one.
TEST(RateController, AChangeOfTheTargetCausesNoJump) {
  for (const int lookahead : {0, 40}) {
    Clip clip = clip_of(std::vector<Source>(200, Source{200000, 2, 1.1}), {});
    clip.settings = [=](std::size_t n) {
      RateSettings settings = n < 100 ? target_of(8000000, 8000000, 1) : target_of(2000000, 2000000, 1);
      settings.lookahead = lookahead;
      return settings;
    };
    const auto coded = simulate(clip, 64);
    for (std::size_t n = 100; n < 130; ++n)
      EXPECT_NEAR(static_cast<double>(coded[n].bytes), 1e4, 2500) << n << ", look-ahead " << lookahead;
  }
}

TEST(RateController, QpOfOneFrameIsKept) {
  RateController controller(kColumns, kRows);
  PictureControl control;
  control.settings = target_of(8000000, 8000000, 1);
  control.qp = 12;
  controller.announce(curve_of({}, control), control);
  EXPECT_EQ(controller.plan().qp, 12);
  EXPECT_FALSE(controller.can_plan(control)) << "the first picture is not settled";
  EXPECT_FALSE(controller.review(0, 40000));
  EXPECT_FALSE(controller.settle(0).again);
  EXPECT_TRUE(controller.can_plan(control));
}

}  // namespace
}  // namespace cu264::simulated
