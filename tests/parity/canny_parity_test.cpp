// GUD-Canny on whole pictures: the two forms on the device give the results of the host's plainest form,
// stage by stage.
#include "tests/parity/canny_checks.h"

namespace cu264::parity {
namespace {

using namespace vision;

class CannyParity : public CannyPartitions {};
CU264_EVERY_PARTITION(CannyParity);

TEST_P(CannyParity, AllSets) {
  const GrayPicture picture = discs(150, 117, 1);
  for (const std::vector<int>& set : {canny::candidates_003(), canny::candidates_001(),
                                      std::vector<int>{5, 40}, std::vector<int>{1, 2, 33, 64, 65, 99, 100}}) {
    expect_parity(with(set, GetParam()), picture);
    if (HasFatalFailure()) return;
  }
}

TEST_P(CannyParity, MostCandidates) {
  std::vector<int> set;
  for (int level = 1; level <= kMaxCandidates; ++level) set.push_back(level);
  expect_parity(with(set, GetParam()), discs(97, 80, 2));
  expect_parity(with(set, GetParam()), noise(70, 61, 3));
}

TEST_P(CannyParity, FlatAndNoise) {
  expect_parity(with(canny::candidates_001(), GetParam()), flat(100, 70, 128));
  expect_parity(with(canny::candidates_001(), GetParam()), noise(100, 70, 7));
  expect_parity(with(canny::candidates_003(), GetParam(), 1), noise(100, 70, 8));
}

TEST_P(CannyParity, DensityScaling) {
  CannyParams params = with(canny::candidates_003(), GetParam());
  params.density_scaling = true;
  // Crowded, sparse and empty pictures: density scaling raises, lowers and keeps the thresholds.
  expect_parity(params, noise(150, 70, 31));
  expect_parity(params, discs(333, 111, 32));
  expect_parity(params, flat(70, 40, 9));
}

TEST_P(CannyParity, Photographs) {
  const std::vector<std::string> paths = pgm_paths();
  if (paths.empty()) GTEST_SKIP() << "no .pgm file below the folder CU264_TEST_DATA";
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const GrayPicture picture = read_pgm(path);
    expect_parity(with(canny::candidates_003(), GetParam()), picture);
    if (GetParam() == Partition::columns) expect_parity(with(canny::candidates_001(), GetParam()), picture);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cu264::parity
