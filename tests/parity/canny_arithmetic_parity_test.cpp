// Device variants of single functions of the edge detector are compared with the functions that they replace.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/parity/canny_kernels.h"
#include "tests/parity/device_test.h"
#include "vision/cuda/level_scale.h"
#include "vision/gradient.h"

namespace cu264::parity {
namespace {

using namespace vision;

class CannyArithmeticParity : public DeviceTest {};

TEST_F(CannyArithmeticParity, RootsOfAllMagnitudes) {
  EXPECT_EQ(0u, wrong_device_roots((kMaxMagnitude + 1) * (kMaxMagnitude + 1)));
}

TEST_F(CannyArithmeticParity, VotedThresholds) {
  std::mt19937 random(3);
  for (const int highest : {1, 2, 25, 31, 32, 33, 63, 64, 65, 96, 99, 100}) {
    std::vector<LevelCounts> counts(300);
    for (std::size_t i = 1; i < counts.size(); ++i) {
      const unsigned sparse = 1 + static_cast<unsigned>(random() % 12);
      for (int x = 1; x <= highest; ++x) {
        if (random() % sparse == 0) counts[i].with_level[x] = static_cast<int>(random() % 4);
        if (random() % sparse == 0) counts[i].histogram[x] = static_cast<int>(random() % 6);
      }
    }
    const std::vector<VotedThresholds> found = voted_thresholds(counts, highest);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      SCOPED_TRACE("highest " + std::to_string(highest) + " counts " + std::to_string(i));
      const Thresholds own = sub_image_thresholds(counts[i], {}, highest);
      const Thresholds fallback = fallback_thresholds(counts[i], highest);
      ASSERT_EQ(int{own.low}, int{found[i].own.low});
      ASSERT_EQ(int{own.high}, int{found[i].own.high});
      ASSERT_EQ(static_cast<int>(own.source), static_cast<int>(found[i].own.source));
      ASSERT_EQ(int{fallback.low}, int{found[i].fallback.low});
      ASSERT_EQ(int{fallback.high}, int{found[i].fallback.high});
      ASSERT_EQ(static_cast<int>(fallback.source), static_cast<int>(found[i].fallback.source));
    }
  }
}

// This test needs no device.
TEST(LevelScale, IsLevelOf) {
  for (int reference = 0; reference <= kMaxMagnitude; ++reference) {
    const cuda::LevelScale scale(reference);
    for (int magnitude = 0; magnitude <= reference; ++magnitude) {
      ASSERT_EQ(level_of(magnitude, reference), scale.level(magnitude)) << magnitude << " of " << reference;
    }
  }
}

}  // namespace
}  // namespace cu264::parity
