// Time stamps are kept, made where they are missing, and corrected where they do not increase.
#include "io/timestamps.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace cu264::io {
namespace {

constexpr std::int64_t kNone = AV_NOPTS_VALUE;

std::vector<std::int64_t> run(Timestamps& timestamps, const std::vector<std::int64_t>& given) {
  std::vector<std::int64_t> times;
  for (const std::int64_t one : given) times.push_back(timestamps.next(one));
  return times;
}

TEST(Timestamps, GivenOnesAreKept) {
  Timestamps timestamps({1, 1000}, {25, 1}, false);
  EXPECT_EQ(run(timestamps, {-70, 0, 41, 500, 501}), (std::vector<std::int64_t>{-70, 0, 41, 500, 501}));
  EXPECT_EQ(timestamps.moved(), 0);
}

TEST(Timestamps, MissingOnesComeFromTheFrameRate) {
  Timestamps timestamps({1, 1000}, {25, 1}, false);
  EXPECT_EQ(run(timestamps, {kNone, kNone, 100, kNone, kNone}),
            (std::vector<std::int64_t>{0, 40, 100, 140, 180}));
  EXPECT_EQ(timestamps.moved(), 0);
}

TEST(Timestamps, RoundingDoesNotAddUp) {
  Timestamps timestamps({1, 1000}, {30000, 1001}, false);
  std::int64_t last = 0;
  for (int i = 0; i <= 30000; ++i) last = timestamps.next(kNone);
  EXPECT_EQ(last, 1001000);
}

TEST(Timestamps, GuessesOfElementaryStreamsAreIgnored) {
  Timestamps timestamps({1, 1000}, {50, 1}, true);
  EXPECT_EQ(run(timestamps, {7, 3, kNone, 900}), (std::vector<std::int64_t>{0, 20, 40, 60}));
}

TEST(Timestamps, TimeNeverStandsStill) {
  Timestamps timestamps({1, 25}, {25, 1}, false);
  EXPECT_EQ(run(timestamps, {5, 5, 4, 8, kNone, 8}), (std::vector<std::int64_t>{5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(timestamps.moved(), 3);
}

TEST(Timestamps, RatesAboveTheTimeBaseStillAdvance) {
  Timestamps timestamps({1, 25}, {100, 1}, false);
  EXPECT_EQ(run(timestamps, {kNone, kNone, kNone}), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(timestamps.frame_duration(), 1);
}

// Filters compute times too, and `setpts` can say anything.
TEST(Timestamps, TimesThatNoClockShowsAreMissing) {
  for (const std::int64_t time : {INT64_MAX, INT64_MAX - 1, -INT64_MAX, std::int64_t{1} << 62}) {
    Timestamps timestamps({1, 1000}, {25, 1}, false);
    EXPECT_EQ(run(timestamps, {0, time, time, 500}), (std::vector<std::int64_t>{0, 40, 80, 500}));
  }
  Timestamps slow({1, INT32_MAX}, {1, INT32_MAX}, false);
  const auto times = run(slow, {kNone, kNone, kNone});
  EXPECT_LT(times[0], times[1]);
  EXPECT_LT(times[1], times[2]);
}

}  // namespace
}  // namespace cu264::io
