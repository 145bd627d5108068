// Emulation prevention may begin anywhere: the state before a byte follows from the zeros directly before it.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/nal.h"

namespace cu264 {
namespace {

TEST(NalRun, StateFollowsFromTheRunOfZeros) {
  std::mt19937 random(264);
  for (int round = 0; round < 300; ++round) {
    const unsigned zero_percent = random() % 101;
    int zeros = 0;
    std::int64_t run = 0;
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(core::zeros_after_run(run), zeros) << "run " << run;
      const auto byte = static_cast<std::uint8_t>(random() % 100 < zero_percent ? 0 : random() % 6);
      // A byte needs emulation prevention if it is not above 3 and follows an even number, not zero, of
      // consecutive zero bytes of the RBSP.
      EXPECT_EQ(core::needs_emulation_prevention(zeros, byte), byte <= 3 && run > 0 && run % 2 == 0);
      zeros = core::zeros_after(zeros, byte);
      run = byte == 0 ? run + 1 : 0;
    }
  }
}

}  // namespace
}  // namespace cu264
