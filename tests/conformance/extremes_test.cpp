// Content that no natural picture has: macroblocks around the limit of 3200 bits, and levels at the limit of
// what Baseline's codes can hold.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/limit_checks.h"
#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

class Extremes : public testing::TestWithParam<Preset> {};

// Full-range noise at QP 0 takes more bits than its samples.
TEST_P(Extremes, NoiseBecomesPcm) {
  const std::vector<Picture> pictures = {make_picture(Content::noise, 64, 64)};
  const Config config = make_config(0, GetParam());
  const EncodedStream stream = encode(config, pictures);
  const WalkedStream walked = check_stream(config, stream, pictures);
  ASSERT_EQ(walked.pictures.size(), 1u);
  EXPECT_GT(walked.pictures[0].pcm_mbs, 0u);
}

TEST_P(Extremes, PcmIsLossless) {
  const std::vector<Picture> pictures = {make_picture(Content::noise, 48, 48)};
  const Config config = make_config(0, GetParam(), 1, false);
  const EncodedStream stream = encode(config, pictures);
  const Picture decoded = reconstruction_of(stream, 0);
  int seen = 0;
  walk_stream(stream.bytes(), [&](const WalkedMacroblock& mb) {
    if (mb.kind != core::MacroblockKind::pcm) return;
    ++seen;
    for (int p = 0; p < 3; ++p) {
      const int size = p == 0 ? 16 : 8, width = decoded.plane_width(p);
      const int at = mb.address / 3 * size * width + mb.address % 3 * size;
      for (int i = 0; i < size * size; ++i) {
        const int offset = at + i / size * width + i % size;
        ASSERT_EQ(decoded.plane(p)[offset], pictures[0].plane(p)[offset]) << "macroblock " << mb.address;
      }
    }
  });
  EXPECT_GT(seen, 0);
}

// Macroblocks below and above the limit lie side by side, which tests nC next to I_PCM, the QP after it, and
// the loop filter across it.
TEST_P(Extremes, PcmBesideCodedMacroblocks) {
  expect_pcm_beside_coded_macroblocks([](int qp, int slices) { return make_config(qp, GetParam(), slices); });
}

TEST_P(Extremes, MacroblocksNearTheLimit) {
  expect_macroblocks_within_limit([](int qp, int slices) { return make_config(qp, GetParam(), slices); });
}

// Every macroblock is the opposite of what its neighbours predict, which gives the largest residuals. Levels
// that would exceed the limit must not lead to wrong streams.
TEST_P(Extremes, LargestLevels) {
  int largest = 0;
  for (int qp = 0; qp <= 6; ++qp) {
    for (const Content content :
         {Content::opposites, Content::checker16, Content::checker4, Content::checker1}) {
      SCOPED_TRACE(std::string(name_of(content)) + ", QP " + std::to_string(qp));
      const std::vector<Picture> pictures = {make_picture(content, 96, 96, 1),
                                             make_picture(content, 96, 96, 2)};
      const Config config = make_config(qp, GetParam(), 1, false);
      const EncodedStream stream = encode(config, pictures);
      for (const WalkedPicture& picture : check_stream(config, stream, pictures).pictures) {
        largest = std::max(largest, picture.max_abs_level);
      }
      for (std::size_t i = 0; i < stream.packets.size(); ++i) {
        EXPECT_LE(worst_squared_error(pictures[i], reconstruction_of(stream, i)), squared_error_bound(qp));
      }
    }
  }
  EXPECT_GE(largest, 1000) << "the contents do not come near the limit";
  EXPECT_LE(largest, 2063);
}

// A flat field with a single other sample, at every place of a macroblock.
TEST_P(Extremes, ImpulseAtEveryPlace) {
  std::vector<Picture> pictures;
  for (int place = 0; place < 256; place += quick() ? 17 : 3) {
    Picture picture = make_picture(Content::flat0, 32, 32);
    picture.plane(0)[(16 + place / 16) * 32 + 16 + place % 16] = 255;
    picture.plane(1)[(8 + place / 16 / 2) * 16 + 8 + place % 16 / 2] = 255;
    pictures.push_back(picture);
  }
  for (const int qp : {0, 20, 40, 51}) {
    SCOPED_TRACE("QP " + std::to_string(qp));
    const Config config = make_config(qp, GetParam());
    check_stream(config, encode(config, pictures), pictures);
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, Extremes, testing::ValuesIn(kPresets),
                         [](const testing::TestParamInfo<Preset>& preset) { return name_of(preset.param); });

}  // namespace
}  // namespace cu264::test
