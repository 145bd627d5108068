// Real footage, from the folder that CU264_TEST_DATA names.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/decode.h"
#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

using Cell = std::tuple<const char*, Preset>;
class Clip : public testing::TestWithParam<Cell> {};

TEST_P(Clip, DecodesToTheReconstructionAndQualityFollowsQp) {
  const auto [name, preset] = GetParam();
  const char* const data = std::getenv("CU264_TEST_DATA");
  if (!data || !*data) GTEST_SKIP() << "CU264_TEST_DATA names no folder of clips";
  const std::string path = std::string(data) + "/video/" + name + ".mkv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  std::vector<Picture> pictures = load_clip(path, 2);
  const bool large = pictures[0].width * pictures[0].height > 500 * 300;
  if (quick() && large) GTEST_SKIP() << "left out by CU264_TEST_QUICK";
  if (large) pictures.resize(1);

  double psnr_before = 100;
  std::size_t bytes_before = SIZE_MAX;
  for (const int qp : {17, 27, 37, 47}) {
    SCOPED_TRACE("QP " + std::to_string(qp));
    Config config = make_config(qp, preset, qp == 37 ? 3 : 1);
    config.threads = 2;
    const EncodedStream stream = encode(config, pictures);
    check_stream(config, stream, pictures);
    const double psnr_now = luma_psnr(pictures[0], reconstruction_of(stream, 0));
    const std::size_t bytes_now = stream.packets[0].data.size();
    EXPECT_LT(psnr_now, psnr_before);
    EXPECT_LT(bytes_now, bytes_before);
    if (qp == 27) {
      EXPECT_GT(psnr_now, 30);
    }
    psnr_before = psnr_now, bytes_before = bytes_now;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Real, Clip,
    testing::Combine(testing::Values("foreman_akiyo_cif_21f", "foreman_akiyo_qcif_21f", "city_704x576_3f",
                                     "city_qcif_34f_derived", "foliage_720x480_2f", "park_joy_480x270_10f",
                                     "parkscene_1080p_2f", "cars_320x240_12f", "photos_720p_5f"),
                     testing::ValuesIn(kPresets)),
    [](const testing::TestParamInfo<Cell>& cell) {
      return std::string(std::get<0>(cell.param)) + "_" + name_of(std::get<1>(cell.param));
    });

}  // namespace
}  // namespace cu264::test
