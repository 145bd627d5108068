// Edge detection on batches, in repeated runs and through the public API gives the host's results.
#include "tests/parity/canny_checks.h"
#include "vision/published/open_detector.h"

namespace cu264::parity {
namespace {

using namespace vision;
using vision::cuda::Labelling;

class CannyBatchParity : public CannyPartitions {};
CU264_EVERY_PARTITION(CannyBatchParity);

TEST_P(CannyBatchParity, BatchesAndRepeats) {
  std::vector<GrayPicture> pictures;
  for (unsigned i = 0; i < 9; ++i) pictures.push_back(i % 3 == 2 ? noise(130, 97, i) : discs(130, 97, i));
  pictures.push_back(flat(130, 97, 3));
  const CannyParams params = with(canny::candidates_001(), GetParam());
  std::vector<Stages> expected;
  for (const GrayPicture& picture : pictures) expected.push_back(on_host(params, picture));
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const Labelling labelling : {Labelling::automatic, Labelling::global}) {
      const std::vector<Stages> found = production_stages(params, pictures, labelling);
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        SCOPED_TRACE("picture " + std::to_string(i) + " repeat " + std::to_string(repeat));
        expect_same(expected[i], found[i]);
        if (HasFatalFailure()) return;
      }
    }
  }
}

using CannyDetectorParity = CannyDevice;

// Runs through the public API, from host memory.
TEST_F(CannyDetectorParity, Detectors) {
  const int width = 203, height = 91, pitch = 211, count = 3;
  const GrayPicture tall = discs(pitch, height * count, 17);
  for (const bool as_published : {false, true}) {
    for (const bool bottom_up : {false, true}) {
      const canny::Pictures pictures{tall.samples.data() + (bottom_up ? (height - 1) * pitch : 0),
                                     bottom_up ? -pitch : pitch, height * pitch, count};
      std::vector<std::uint8_t> edges[2];
      std::vector<canny::Thresholds> thresholds[2];
      const BackendChoice backends[] = {BackendChoice::cpu, BackendChoice::cuda};
      for (int b = 0; b < 2; ++b) {
        canny::ExecutionOptions execution;
        execution.backend = backends[b];
        execution.batch = count;
        canny::Detector detector = as_published ? published::open_detector({}, width, height, execution)
                                                : canny::Detector({}, width, height, execution);
        edges[b].assign(static_cast<std::size_t>(width) * height * count, 1);
        thresholds[b].resize(static_cast<std::size_t>(detector.sub_images()) * count);
        for (int repeat = 0; repeat < 2; ++repeat) {
          detector.detect(pictures, {edges[b].data(), width, static_cast<std::ptrdiff_t>(width) * height},
                          thresholds[b].data());
        }
      }
      expect_same_edges(edges[0], edges[1], width);
      for (std::size_t i = 0; i < thresholds[0].size(); ++i) {
        ASSERT_EQ(int{thresholds[0][i].low}, int{thresholds[1][i].low}) << i;
        ASSERT_EQ(int{thresholds[0][i].high}, int{thresholds[1][i].high}) << i;
        ASSERT_EQ(static_cast<int>(thresholds[0][i].source), static_cast<int>(thresholds[1][i].source)) << i;
      }
    }
  }
}

}  // namespace
}  // namespace cu264::parity
