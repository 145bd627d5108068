// The code of all runs of a block is the sequence of the codes of its runs.
#include "core/cavlc_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/cavlc_tables.h"

namespace {

// The order of the clause (9.2.3), from the highest frequency down.
std::string one_by_one(unsigned nonzero) {
  std::string bits;
  int position = 15;
  while (((nonzero >> position) & 1) == 0) --position;
  int zeros_left = 0;
  for (int k = 0; k < position; ++k) zeros_left += ((nonzero >> k) & 1) == 0;
  while (zeros_left > 0) {
    int next = position - 1;
    while (next >= 0 && ((nonzero >> next) & 1) == 0) --next;
    if (next < 0) break;
    const int run = position - next - 1;
    const cu264::core::CodeWord code = cu264::core::run_before_code(zeros_left, run);
    for (int i = code.length - 1; i >= 0; --i) bits += ((code.bits >> i) & 1) != 0 ? '1' : '0';
    zeros_left -= run;
    position = next;
  }
  return bits;
}

TEST(CavlcRuns, EveryMaskOfABlock) {
  int longest = 0;
  for (unsigned nonzero = 1; nonzero < 65536; ++nonzero) {
    const cu264::core::Runs runs = cu264::core::run_before_codes(nonzero);
    std::string bits;
    for (int i = runs.length - 1; i >= 0; --i) bits += ((runs.bits >> i) & 1) != 0 ? '1' : '0';
    ASSERT_EQ(bits, one_by_one(nonzero)) << "mask " << nonzero;
    ASSERT_EQ(runs.bits >> runs.length, 0u) << "mask " << nonzero;
    ASSERT_EQ(cu264::core::run_before_codes_length(nonzero), runs.length) << "mask " << nonzero;
    longest = std::max(longest, runs.length);
  }
  EXPECT_EQ(longest, 25);
}

}  // namespace
