// Pictures up to the largest size give the host's results. The plain reference keeps a dozen bytes for each
// pixel and runs the hysteresis of every pair, so beyond some millions of pixels the host's production
// detector takes its place; unit tests compare the two.
#include <string>

#include "tests/parity/canny_checks.h"
#include "vision/published/open_detector.h"

namespace cu264::parity {
namespace {

using namespace vision;

// Tiles of discs, which have as many edges as one large picture of discs and are quicker to make.
GrayPicture tiled_discs(int width, int height, unsigned seed) {
  const int side = 509;
  const GrayPicture tiles[] = {discs(side, side, seed), discs(side, side, seed + 1)};
  GrayPicture picture = flat(width, height, 0);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const GrayPicture& tile = tiles[(x / side + y / side) % 2];
      picture.samples[static_cast<std::size_t>(y) * width + x] =
          tile.samples[static_cast<std::size_t>(y % side) * side + x % side];
    }
  }
  return picture;
}

struct Found {
  std::vector<std::uint8_t> edges;
  std::vector<canny::Thresholds> thresholds;
};

enum class Form { production, published };

Found detected(const GrayPicture& picture, Partition partition, Form form, BackendChoice backend) {
  canny::Params params;
  params.partition = partition;
  canny::ExecutionOptions execution;
  execution.backend = backend;
  canny::Detector detector = form == Form::published
                                 ? published::open_detector(params, picture.width, picture.height, execution)
                                 : canny::Detector(params, picture.width, picture.height, execution);
  Found found;
  found.edges.assign(picture.samples.size(), 1);
  found.thresholds.resize(static_cast<std::size_t>(detector.sub_images()));
  detector.detect({picture.samples.data(), picture.width, 0, 1}, {found.edges.data(), picture.width, 0},
                  found.thresholds.data());
  return found;
}

void expect_same(const Found& expected, const Found& found, int width) {
  ASSERT_EQ(expected.thresholds.size(), found.thresholds.size());
  for (std::size_t s = 0; s < expected.thresholds.size(); ++s) {
    const canny::Thresholds &a = expected.thresholds[s], &b = found.thresholds[s];
    ASSERT_EQ(int{a.low}, int{b.low}) << "low of sub-image " << s;
    ASSERT_EQ(int{a.high}, int{b.high}) << "high of sub-image " << s;
    ASSERT_EQ(static_cast<int>(a.source), static_cast<int>(b.source)) << "source of sub-image " << s;
  }
  expect_same_edges(expected.edges, found.edges, width);
}

class CannyLargeParity : public CannyPartitions {
 protected:
  void expect_large(int width, int height, bool published) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    const GrayPicture picture = tiled_discs(width, height, 40);
    const Found expected = detected(picture, GetParam(), Form::production, BackendChoice::cpu);
    try {
      expect_same(expected, detected(picture, GetParam(), Form::production, BackendChoice::cuda), width);
      if (HasFatalFailure() || !published) return;
      SCOPED_TRACE("published");
      expect_same(expected, detected(picture, GetParam(), Form::published, BackendChoice::cuda), width);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      GTEST_SKIP() << error.what();
    }
  }
};

CU264_EVERY_PARTITION(CannyLargeParity);

// The largest side, where coordinates, tiles in a row and sub-images reach their maximum.
TEST_P(CannyLargeParity, Wide) {
  expect_large(canny::kMaxSide, 64, true);
}
TEST_P(CannyLargeParity, Tall) {
  expect_large(64, canny::kMaxSide, true);
}

// The published form is left out because its hysteresis over a whole frame takes minutes here.
TEST_P(CannyLargeParity, WideEightThousand) {
  expect_large(8192, 1031, GetParam() != Partition::frame);
}
TEST_P(CannyLargeParity, TallEightThousand) {
  expect_large(1031, 8192, GetParam() != Partition::frame);
}

// 2^28 pixels, which 32-bit sums of bytes and of labels could not hold.
TEST_P(CannyLargeParity, LargestPicture) {
  expect_large(canny::kMaxSide, canny::kMaxSide, false);
}

}  // namespace
}  // namespace cu264::parity
