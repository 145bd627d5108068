// Rate control by the times of pictures: seconds have the same bits, however many pictures they have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/simulated_rate.h"

namespace cu264::simulated {
namespace {

// Durations in milliseconds.
std::vector<std::int64_t> durations_of(const std::string& kind) {
  std::vector<std::int64_t> durations;
  std::mt19937 random(3);
  const auto add = [&](int pictures, int rate) {
    for (int n = 0; n < pictures; ++n) durations.push_back((n + 1) * 1000 / rate - n * 1000 / rate);
  };
  if (kind == "fast, then slow") add(900, 60), add(150, 10);
  if (kind == "slow, then fast") add(150, 10), add(900, 60);
  if (kind == "alternating") {
    for (int n = 0; n < 15; ++n) add(24, 24), add(60, 60);
  }
  if (kind == "jitter") {
    for (int n = 0; n < 900; ++n) durations.push_back(15 + static_cast<int>(random() % 36));
  }
  if (kind == "slides") durations.assign(20, 3000);
  if (kind == "long first") durations.push_back(5000), add(600, 25);
  if (kind == "bursts") {
    for (int n = 0; n < 12; ++n) {
      add(60 + static_cast<int>(random() % 60), 60);
      if (n < 11) durations.back() += 2000 + static_cast<int>(random() % 3000);
    }
  }
  return durations;
}

Clip timed_clip(const std::string& kind, std::vector<Source> pictures, int lookahead,
                std::int64_t bitrate = 8000000) {
  const std::vector<std::int64_t> durations = durations_of(kind);
  const std::int64_t all = std::accumulate(durations.begin(), durations.end(), std::int64_t{0});
  RateSettings settings;
  settings.bitrate = bitrate, settings.lookahead = lookahead;
  settings.time_base = Rational{1, 1000};
  settings.frame_rate = {static_cast<int>(durations.size() * 1000), static_cast<int>(all)};
  pictures.resize(durations.size(), pictures.back());
  Clip clip = clip_of(std::move(pictures), settings);
  clip.durations = durations;
  return clip;
}

// What is spent beside the bitrate: of the whole, and most in any two seconds, in which a picture's bits
// count for as long as it is shown, or when it begins.
struct TimedSummary {
  double error = 0, worst = 0, peak = 0;
};

TimedSummary timed_summary_of(const Clip& clip, const std::vector<Coded>& coded) {
  std::vector<double> shown{0}, begun{0};  // [millisecond]: bits so far, in those of a millisecond
  for (std::size_t n = 0; n < coded.size(); ++n) {
    const double bits =
        8.0 * static_cast<double>(coded[n].bytes) * 1000 / static_cast<double>(clip.settings(n).bitrate);
    const std::int64_t duration = clip.durations[n];
    for (std::int64_t ms = 0; ms < duration; ++ms) {
      shown.push_back(shown.back() + bits / static_cast<double>(duration));
      begun.push_back(begun.back() + (ms == 0 ? bits : 0));
    }
  }
  TimedSummary summary;
  const std::size_t all = shown.size() - 1, window = 2000;
  summary.error = shown.back() / static_cast<double>(all) - 1;
  for (std::size_t ms = 0; ms + window <= all; ++ms) {
    summary.worst = std::max(summary.worst, std::abs((shown[ms + window] - shown[ms]) / window - 1));
    summary.peak = std::max(summary.peak, (begun[ms + window] - begun[ms]) / window);
  }
  return summary;
}

// Passages of six times as many pictures a second have as many bits a second.
TEST(TimedRateController, SecondsHaveTheSameBits) {
  for (const char* kind : {"fast, then slow", "slow, then fast", "alternating", "jitter"}) {
    for (const int lookahead : {0, 40}) {
      for (const bool changes : {false, true}) {
        const auto pictures = changes ? scenes(1100, 0.03, 0.02) : std::vector<Source>{{400000, 2, 1.1}};
        const Clip clip = timed_clip(kind, pictures, lookahead);
        const TimedSummary summary = timed_summary_of(clip, simulate(clip, 64));
        EXPECT_LT(std::abs(summary.error), 0.006) << kind << ", look-ahead " << lookahead;
        EXPECT_LT(summary.worst, 0.1) << kind << ", look-ahead " << lookahead;
      }
    }
  }
}

// Pictures that are shown for seconds have the bits of these seconds, if they can use them.
TEST(TimedRateController, PausesHaveTheirBits) {
  for (const char* kind : {"slides", "long first", "bursts"}) {
    for (const int lookahead : {0, 40}) {
      const Clip clip = timed_clip(kind, {{3000000, 2, 1.1}}, lookahead);
      const TimedSummary summary = timed_summary_of(clip, simulate(clip, 64));
      EXPECT_LT(std::abs(summary.error), 0.025) << kind << ", look-ahead " << lookahead;
      EXPECT_LT(summary.worst, 0.25) << kind << ", look-ahead " << lookahead;
    }
  }
}

// What a still picture cannot use is not lost: others have it, and none of them without measure.
TEST(TimedRateController, WhatPausesCannotUseIsMadeGood) {
  for (const char* kind : {"long first", "bursts"}) {
    for (const int lookahead : {0, 40}) {
      const Clip clip = timed_clip(kind, {{400000, 2, 1.1}}, lookahead);
      const auto coded = simulate(clip, 64);
      EXPECT_EQ(std::max_element(coded.begin(), coded.end(),
                                 [](const Coded& a, const Coded& b) { return a.bytes < b.bytes; })
                    ->qp,
                0);
      const TimedSummary summary = timed_summary_of(clip, coded);
      EXPECT_LT(std::abs(summary.error), 0.03) << kind << ", look-ahead " << lookahead;
      EXPECT_LT(summary.peak, 4) << kind << ", look-ahead " << lookahead;
    }
  }
}

TEST(TimedRateController, DecisionsDoNotDependOnPicturesInFlight) {
  for (const char* kind : {"fast, then slow", "bursts"}) {
    for (const int lookahead : {0, 40, 250}) {
      const Clip clip = timed_clip(kind, scenes(1100, 0.1, 0.03), lookahead);
      const std::vector<Coded> expected = simulate(clip, 1);
      for (const int reach : {7, 320}) EXPECT_TRUE(same(simulate(clip, reach), expected)) << kind << reach;
    }
  }
}

// A picture of unknown duration lasts as long as the frame rate says, and none longer than an hour.
TEST(TimedRateController, DurationsThatAreNotKnown) {
  Clip clip = timed_clip("jitter", scenes(900, 0.03, 0.02), 40);
  const auto settings = [base = clip.settings(0)](std::size_t) {
    RateSettings at_25 = base;
    at_25.frame_rate = {25, 1};
    return at_25;
  };
  clip.settings = settings;
  clip.durations.assign(900, 40);
  const std::vector<Coded> told = simulate(clip, 64);
  clip.durations.assign(900, 0);
  EXPECT_TRUE(same(simulate(clip, 64), told));
  clip.durations[500] = std::int64_t{1} << 62;
  const std::vector<Coded> endless = simulate(clip, 64);
  clip.durations[500] = 3600 * 1000;
  EXPECT_TRUE(same(simulate(clip, 64), endless));
}

}  // namespace
}  // namespace cu264::simulated
