// The maps that guide a batch on the device, and the sums of their macroblocks, are those of the host, in one
// round or in several.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "encoder/adaptive_quantisation/device_edge_guide.h"
#include "support/device_array.cuh"
#include "support/picture.h"
#include "tests/parity/device_test.h"

namespace cu264::parity {
namespace {

using namespace encoder;
using test::DeviceArray;

class EdgeGuideParity : public DeviceTest {};

void expect_guide_parity(int width, int height, int pictures, int round, const canny::Params& detector) {
  SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", rounds of " + std::to_string(round));
  const auto luma = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::vector<std::uint8_t> samples;
  for (int i = 0; i < pictures; ++i) {
    const auto content = i % 2 == 0 ? test::Content::natural : test::Content::text;
    const test::Picture picture = test::make_picture(content, width, height, static_cast<std::uint32_t>(i));
    samples.insert(samples.end(), picture.samples.begin(),
                   picture.samples.begin() + static_cast<std::ptrdiff_t>(luma));
  }
  const DeviceArray<std::uint8_t> d_samples(samples);
  std::vector<core::SourcePicture> table(static_cast<std::size_t>(pictures));
  for (int i = 0; i < pictures; ++i) {
    table[static_cast<std::size_t>(i)].plane[0] = d_samples.data() + static_cast<std::size_t>(i) * luma;
    table[static_cast<std::size_t>(i)].pitch[0] = width;
  }
  const DeviceArray<core::SourcePicture> d_table(table);
  const cuda::EdgeGuide guide(detector, width, height, pictures,
                              static_cast<std::int64_t>(round) * static_cast<std::int64_t>(luma));
  const auto macroblocks = static_cast<std::size_t>(cuda::macroblocks_of_size(width, height));
  const DeviceArray<std::uint8_t> scratch(guide.scratch_bytes()), maps(guide.map_bytes());
  const DeviceArray<MacroblockSums> sums(macroblocks * static_cast<std::size_t>(pictures));
  std::vector<std::uint8_t> found_maps(samples.size());
  cuda::PicturePlanes spaced{d_samples.data(), width, static_cast<std::ptrdiff_t>(luma), nullptr}, listed;
  listed.table = d_table.data();
  for (const cuda::PicturePlanes& planes : {spaced, listed}) {
    guide.launch_sums(planes, pictures, {scratch.data(), maps.data()}, sums.data(), found_maps.data(),
                      nullptr);
    const std::vector<MacroblockSums> found = sums.download();
    for (int i = 0; i < pictures; ++i) {
      const std::uint8_t* const picture = samples.data() + static_cast<std::size_t>(i) * luma;
      const std::vector<std::uint8_t> map =
          canny::detect(detector, picture, width, width, height, {BackendChoice::cpu});
      const auto begin = found_maps.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * luma);
      ASSERT_TRUE(std::equal(map.begin(), map.end(), begin)) << "picture " << i;
      for (std::size_t mb = 0; mb < macroblocks; ++mb) {
        const int mb_width = (width + 15) / 16, at = static_cast<int>(mb);
        const MacroblockSums expected =
            macroblock_sums(picture, width, map.data(), width, width, height, at % mb_width, at / mb_width);
        const MacroblockSums& own = found[static_cast<std::size_t>(i) * macroblocks + mb];
        ASSERT_EQ(expected.edges, own.edges) << "picture " << i << " macroblock " << mb;
        ASSERT_EQ(expected.sum, own.sum) << "picture " << i << " macroblock " << mb;
        ASSERT_EQ(expected.squares, own.squares) << "picture " << i << " macroblock " << mb;
      }
    }
  }
}

TEST_F(EdgeGuideParity, SumsAndMaps) {
  canny::Params frame, fixed;
  frame.partition = canny::Partition::frame;
  fixed.fixed = canny::ThresholdPair{5, 15};
  for (const canny::Params& detector : {canny::Params{}, frame, fixed}) {
    expect_guide_parity(64, 48, 5, 5, detector);
    expect_guide_parity(64, 48, 5, 2, detector);
    expect_guide_parity(75, 37, 3, 1, detector);
    expect_guide_parity(1, 1, 2, 1, detector);
    expect_guide_parity(17, 130, 4, 3, detector);
  }
}

}  // namespace
}  // namespace cu264::parity
