// --target-size: the search ends within its passes at a file of the size asked for, or says why there is
// none.
#include "app/size_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace cu264::app {
namespace {

using SizeOf = std::function<std::int64_t(double)>;  // bytes of the pictures by crf

// Runs passes until one is kept. Returns the size of that file.
std::int64_t run(SizeSearch& search, const SizeOf& size, std::int64_t fixed) {
  for (int pass = 1;; ++pass) {
    EXPECT_LE(pass, SizeSearch::kMostPasses);
    const std::int64_t bytes = size(search.crf()) + fixed;
    if (search.take(bytes, fixed)) return bytes;
    if (pass > SizeSearch::kMostPasses) return 0;
  }
}

// Bits fall by a factor that itself changes with the crf, as those of clips do.
SizeOf curve(double at_23, double slope, double bend) {
  return [=](double crf) {
    const double d = crf - 23;
    return static_cast<std::int64_t>(at_23 * std::exp(-slope * d - bend * d * d));
  };
}

TEST(SizeSearch, EndsBelowTheTarget) {
  int most = 0, passes = 0, searches = 0;
  for (const double slope : {0.09, 0.12, 0.17}) {
    for (const double bend : {-0.001, 0.0, 0.001}) {
      for (const double wanted : {8.0, 14.5, 23.0, 30.25, 40.0}) {
        for (const std::int64_t fixed : {0, 200000}) {
          const SizeOf size = curve(3e6, slope, bend);
          const std::int64_t target = size(wanted) + fixed;
          SizeSearch search(target, 0);
          const std::int64_t bytes = run(search, size, fixed);
          EXPECT_LE(bytes, target);
          EXPECT_GE(static_cast<double>(bytes), (1 - SizeSearch::kTolerance) * static_cast<double>(target))
              << search.summary();
          most = std::max(most, search.passes()), passes += search.passes(), ++searches;
        }
      }
    }
  }
  EXPECT_LE(most, 5);
  EXPECT_LE(passes, 4 * searches);
}

TEST(SizeSearch, AGoodGuessTakesTwoPasses) {
  const SizeOf size = curve(0.6 * 1e9 / 8, 0.12, 0);
  SizeSearch search(size(19.99), 1e9);
  run(search, size, 1000);
  EXPECT_LE(search.passes(), 2);
  EXPECT_EQ(search.summary().find("crf "), 0u) << search.summary();
}

// With few sizes to choose from, the largest that fits is taken.
TEST(SizeSearch, StepsThatAreTooCoarseGiveTheNextBelow) {
  const SizeOf steps = [](double crf) {
    return static_cast<std::int64_t>(1e6 * std::exp(-0.12 * std::floor(crf / 4) * 4));
  };
  for (const std::int64_t target : {100000, 200000, 50000, 77777}) {
    SizeSearch search(target, 0);
    const std::int64_t bytes = run(search, steps, 0);
    EXPECT_LE(bytes, target);
    EXPECT_GE(static_cast<double>(bytes), 0.6 * static_cast<double>(target));
  }
}

TEST(SizeSearch, ExtremesAreTakenOrRefused) {
  const SizeOf size = curve(1e6, 0.12, 0);
  SizeSearch large(1000000000, 0);
  EXPECT_EQ(run(large, size, 0), size(0));
  SizeSearch small(1000, 0);
  EXPECT_THROW(run(small, size, 0), Error);
  SizeSearch filled(1000, 0);
  EXPECT_THROW(run(filled, size, 1000), Error);
}

}  // namespace
}  // namespace cu264::app
