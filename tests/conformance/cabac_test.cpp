// Streams of the profile main: what the other tests ask of CAVLC, asked of CABAC, and what only CABAC has.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <string>

#include "core/cabac_contexts.h"
#include "tests/conformance/limit_checks.h"
#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

Config main_config(int qp, Preset preset, int slices = 1, bool deblock = true) {
  Config config = make_config(qp, preset, slices, deblock);
  config.profile = Profile::main;
  return config;
}

class Cabac : public testing::TestWithParam<Preset> {};

// All contents at every QP. Every other QP has a size that is cropped on both sides, no loop filter, and QPs
// that differ within the picture.
TEST_P(Cabac, DecodesToTheReconstruction) {
  std::bitset<1024> contexts;
  for (int qp = 0; qp <= 51; ++qp) {
    if (quick() && qp != 0 && qp != 51 && qp % 9 != static_cast<int>(GetParam())) continue;
    SCOPED_TRACE("QP " + std::to_string(qp));
    const bool even = qp % 2 == 0;
    const std::vector<Picture> pictures = make_all_contents(even ? 64 : 42, even ? 48 : 54);
    Config config = main_config(qp, GetParam(), 1, even);
    if (!even) config.aq = AdaptiveQuantisation::variance;
    for (const WalkedPicture& picture : check_stream(config, encode(config, pictures), pictures).pictures)
      contexts |= picture.contexts;
  }
  // So libavcodec has used the initial values of all contexts, but those of the 8x8 transform.
  for (int context = 0; context < core::kCtxTransformSize; ++context)
    EXPECT_TRUE(contexts.test(static_cast<std::size_t>(core::ctx_idx(context)))) << core::ctx_idx(context);
}

TEST_P(Cabac, SlicesBeginAnew) {
  const std::vector<Picture> pictures = make_all_contents(48, 98);  // 7 macroblock rows
  for (const int slices : {2, 3, 7}) {
    for (const int qp : {0, 12, 27, 42}) {
      SCOPED_TRACE(std::to_string(slices) + " slices, QP " + std::to_string(qp));
      const Config config = main_config(qp, GetParam(), slices, slices != 3);
      check_stream(config, encode(config, pictures), pictures);
    }
  }
}

TEST_P(Cabac, TinyAndOddSizes) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 50}, {50, 2}, {17, 33}, {130, 16}}) {
    const std::vector<Picture> pictures = make_all_contents(width, height);
    for (const int qp : {0, 27, 51}) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", QP " + std::to_string(qp));
      const Config config = main_config(qp, GetParam());
      check_stream(config, encode(config, pictures), pictures);
    }
  }
}

// I_PCM ends a codeword and begins another one, with the contexts as they are.
TEST_P(Cabac, PcmBesideCodedMacroblocks) {
  expect_pcm_beside_coded_macroblocks([](int qp, int slices) { return main_config(qp, GetParam(), slices); });
}

// Half of the picture is flat, whose contexts expect no levels.
// Where the search counts CABAC's bits, macroblocks end further below the limit: noise costs it the
// distortion of some 430 bits, so that I_PCM, which has none, is better from about 2660 bits on.
TEST_P(Cabac, MacroblocksKeepToTheirLimit) {
  expect_macroblocks_within_limit(
      [](int qp, int slices) { return main_config(qp, GetParam(), slices); },
      [](Picture& picture) { std::fill_n(picture.samples.begin(), 64 * 32, std::uint8_t{90}); },
      GetParam() == Preset::fast ? 2800 : 2500);
}

// Levels that are large and alike have many bins for their bits.
TEST_P(Cabac, ZeroWordsMakeUpForBins) {
  std::size_t words = 0;
  for (const int qp : {0, 2, 4}) {
    for (const int slices : {1, 4}) {
      const std::vector<Picture> pictures = {make_picture(Content::natural, 96, 96),
                                             make_picture(Content::noise, 96, 96)};
      const Config config = main_config(qp, GetParam(), slices);
      for (const WalkedPicture& picture : check_stream(config, encode(config, pictures), pictures).pictures)
        words += picture.zero_words;
    }
  }
  EXPECT_GT(words, 0u) << "no content needs them";
}

TEST_P(Cabac, QpsThatDifferWithinAPicture) {
  const std::vector<Picture> pictures = make_all_contents(96, 80);
  for (const int edges : {0, 3}) {
    for (const int qp : {3, 27, 49}) {
      Config config = main_config(qp, GetParam(), 2);
      config.edge_guided = edges;
      config.aq = edges > 0 ? AdaptiveQuantisation::off : AdaptiveQuantisation::variance;
      SCOPED_TRACE("edge-guided " + std::to_string(edges) + ", QP " + std::to_string(qp));
      check_stream(config, encode(config, pictures), pictures);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, Cabac, testing::ValuesIn(kPresets),
                         [](const testing::TestParamInfo<Preset>& preset) { return name_of(preset.param); });

// The profile is another one, and the macroblocks are the same.
TEST(CabacProfile, MainMayHaveCavlc) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 96, 96)};
  Config config = main_config(27, Preset::balanced);
  config.cavlc = true;
  const EncodedStream stream = encode(config, pictures);
  check_stream(config, stream, pictures);
  const EncodedStream baseline = encode(make_config(27, Preset::balanced), pictures);
  EXPECT_EQ(stream.packets[0].stats.residual_bits, baseline.packets[0].stats.residual_bits);
  EXPECT_EQ(stream.packets[0].reconstruction, baseline.packets[0].reconstruction);
}

// `fast` chooses the same macroblocks for both coders. The other presets count the coder's bits.
TEST(CabacProfile, CodesTheMacroblocksOfBaselineInFewerBits) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 176, 144)};
  for (const Preset preset : {Preset::fast, Preset::balanced, Preset::best}) {
    bool equal = true;
    for (const int qp : {22, 32, 42}) {
      const EncodedStream cabac = encode(main_config(qp, preset), pictures);
      const EncodedStream cavlc = encode(make_config(qp, preset), pictures);
      equal = equal && cabac.packets[0].reconstruction == cavlc.packets[0].reconstruction;
      EXPECT_LT(cabac.bytes().size(), cavlc.bytes().size()) << "QP " << qp;
    }
    EXPECT_EQ(equal, preset == Preset::fast);
  }
}

TEST(CabacProfile, DoesNotDependOnThreads) {
  const std::vector<Picture> pictures = make_all_contents(80, 80);
  Config config = main_config(24, Preset::balanced, 3);
  const std::vector<std::uint8_t> expected = encode(config, pictures).bytes();
  for (const int threads : {2, 5}) {
    config.threads = threads;
    EXPECT_EQ(encode(config, pictures).bytes(), expected) << threads;
  }
}

// Limits hold in bytes, whatever codes them.
TEST(CabacProfile, KeepsToALimitOfBytes) {
  std::vector<Picture> pictures;
  for (std::uint32_t i = 0; i < 6; ++i) pictures.push_back(make_picture(Content::natural, 176, 144, i + 1));
  Config config = main_config(10, Preset::fast);
  config.max_frame_bytes = 3000;
  for (const Packet& packet : encode(config, pictures).packets) EXPECT_LE(packet.data.size(), 3000u);
  config.max_frame_bytes = 0;
  config.frame_bytes = 4000;
  for (const Packet& packet : encode(config, pictures).packets) EXPECT_EQ(packet.data.size(), 4000u);
}

TEST(CabacProfile, RefusesWhatNeedsCavlc) {
  Config config = main_config(27, Preset::fast);
  config.width = config.height = 64;
  config.watermark = EncoderWatermark{ProtectionKey::random(), {1, 2, 3}};
  EXPECT_THROW(Encoder{config}, Error);
  config.cavlc = true;
  EXPECT_FALSE(Encoder(config).info().cabac);
}

}  // namespace
}  // namespace cu264::test
