// Sizes at the limits of words, tiles and shared memory, and the ways in which pictures may lie in memory.
#include "tests/parity/canny_checks.h"

namespace cu264::parity {
namespace {

using namespace vision;

class CannySizeParity : public CannyPartitions {};
CU264_EVERY_PARTITION(CannySizeParity);

TEST_P(CannySizeParity, OddSizes) {
  const int sizes[][2] = {{1, 1},   {2, 2},   {3, 3},   {1, 50},  {50, 1},  {31, 33},  {32, 32},
                          {33, 31}, {64, 16}, {65, 17}, {129, 2}, {2, 129}, {1, 1100}, {1100, 1}};
  for (const auto& size : sizes) {
    expect_parity(with(canny::candidates_003(), GetParam()), discs(size[0], size[1], 5));
    expect_parity(with(canny::candidates_003(), GetParam()), noise(size[0], size[1], 6));
    if (HasFatalFailure()) return;
  }
}

using CannyPlaceParity = CannyDevice;

TEST_F(CannyPlaceParity, Placements) {
  const Placement placements[] = {{1, 0, false}, {3, 5, false}, {0, 32, true}, {7, 9, true}, {0, 10, false}};
  for (const Placement& placement : placements) {
    expect_parity(with(canny::candidates_003(), Partition::columns), discs(86, 60, 12), placement);
    expect_parity(with(canny::candidates_003(), Partition::rows), discs(96, 60, 13), placement);
  }
}

// Sizes with more than one word for each thread, and with more than shared memory holds.
TEST_F(CannyPlaceParity, TallAndWide) {
  for (const int length : {1030, 2100, 3100, 4000}) {
    expect_parity(with(canny::candidates_003(), Partition::columns), discs(40, length, 14));
    expect_parity(with(canny::candidates_003(), Partition::rows), discs(length, 40, 15));
    if (HasFatalFailure()) return;
  }
  expect_parity(with(canny::candidates_003(), Partition::frame), discs(700, 300, 16));
}

}  // namespace
}  // namespace cu264::parity
