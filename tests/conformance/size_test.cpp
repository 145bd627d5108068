// Pictures of every shape: single samples, odd sides, one macroblock wide or high, and the largest size.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

struct Size {
  int width;
  int height;
};

class SmallSize : public testing::TestWithParam<Size> {};
class LargeSize : public testing::TestWithParam<Size> {};

TEST_P(SmallSize, EveryPresetDecodesToTheReconstruction) {
  const auto [width, height] = GetParam();
  for (const Preset preset : kPresets) {
    for (const int qp : {4, 26, 44}) {
      const std::vector<Picture> pictures = {make_picture(Content::natural, width, height, 7),
                                             make_picture(Content::noise, width, height),
                                             make_picture(Content::text, width, height)};
      for (const int slices : {1, (height + 15) / 16}) {
        SCOPED_TRACE(std::string(name_of(preset)) + ", QP " + std::to_string(qp) + ", slices " +
                     std::to_string(slices));
        const Config config = make_config(qp, preset, slices);
        const EncodedStream stream = encode(config, pictures);
        check_stream(config, stream, pictures);
        EXPECT_EQ(stream.info.warnings.empty(), width % 2 == 0 && height % 2 == 0)
            << "a warning must name an odd side";
      }
    }
  }
}

TEST_P(LargeSize, DecodesToTheReconstruction) {
  const auto [width, height] = GetParam();
  if (quick() && width * height > 200000) GTEST_SKIP() << "left out by CU264_TEST_QUICK";
  const std::vector<Picture> pictures = {make_picture(Content::natural, width, height)};
  const Config config = make_config(27, Preset::fast, std::min(4, (height + 15) / 16));
  const EncodedStream stream = encode(config, pictures);
  check_stream(config, stream, pictures);
  EXPECT_GT(luma_psnr(widened(pictures[0]), reconstruction_of(stream, 0)), 34);
}

std::string size_name(const testing::TestParamInfo<Size>& size) {
  return std::to_string(size.param.width) + "x" + std::to_string(size.param.height);
}

INSTANTIATE_TEST_SUITE_P(Size, SmallSize,
                         testing::Values(Size{1, 1}, Size{2, 2}, Size{1, 40}, Size{40, 1}, Size{15, 16},
                                         Size{16, 16}, Size{16, 17}, Size{17, 33}, Size{18, 34}, Size{16, 96},
                                         Size{96, 16}, Size{96, 96}),
                         size_name);
INSTANTIATE_TEST_SUITE_P(Size, LargeSize,
                         testing::Values(Size{1919, 1079}, Size{4104, 32}, Size{32, 4104}, Size{8192, 16},
                                         Size{16, 8192}),
                         size_name);

TEST(LargestSize, DecodesToTheReconstruction) {
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "too slow in this build";
#endif
  if (quick()) GTEST_SKIP() << "left out by CU264_TEST_QUICK";
  const std::vector<Picture> pictures = {make_picture(Content::flat16, 8192, 8192)};
  const Config config = make_config(27, Preset::fast);
  const EncodedStream stream = encode(config, pictures);
  check_stream(config, stream, pictures);
  EXPECT_EQ(stream.info.level_idc, 62);
  EXPECT_FALSE(stream.info.warnings.empty()) << "no level holds so many macroblocks";
}

}  // namespace
}  // namespace cu264::test
