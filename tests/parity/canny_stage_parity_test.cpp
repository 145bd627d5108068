// The stages before the threshold search (all Gaussians, the noise floor) and plain Canny, which has no
// search, give the host's results.
#include "tests/parity/canny_checks.h"
#include "vision/gaussian.h"

namespace cu264::parity {
namespace {

using namespace vision;

using CannyStageParity = CannyDevice;

TEST_F(CannyStageParity, AllSigmas) {
  const GrayPicture picture = discs(101, 75, 4);
  for (int sigma = 1; sigma <= kSigmaSteps; ++sigma) {
    expect_parity(with(canny::candidates_003(), Partition::columns, sigma), picture);
    if (HasFatalFailure()) return;
  }
}

TEST_F(CannyStageParity, NoiseFloor) {
  CannyParams params = with(canny::candidates_003(), Partition::columns);
  for (const int floor : {1, 40, 5760}) {
    params.noise_floor = floor;
    expect_parity(params, discs(90, 90, 9));
  }
}

TEST_F(CannyStageParity, FixedThresholds) {
  const int pairs[][2] = {{8, 19}, {0, 1}, {30, 30}, {99, 100}, {0, 100}};
  for (const auto& pair : pairs) {
    expect_parity(fixed_params(pair[0], pair[1]), discs(150, 90, 10));
    expect_parity(fixed_params(pair[0], pair[1]), noise(75, 60, 11));
  }
}

}  // namespace
}  // namespace cu264::parity
