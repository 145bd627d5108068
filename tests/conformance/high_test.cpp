// Streams of the profile high: what the other tests ask of Baseline, asked of the 8x8 transform with CAVLC
// and with CABAC.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"
#include "tests/support/rate_checks.h"

namespace cu264::test {
namespace {

using Search = std::tuple<Preset, bool>;  // and whether CAVLC codes

Config high_config(int qp, Search search, int slices = 1, bool deblock = true) {
  Config config = make_config(qp, std::get<0>(search), slices, deblock);
  config.profile = Profile::high;
  config.cavlc = std::get<1>(search);
  return config;
}

class High : public testing::TestWithParam<Search> {};

// All contents at every QP. Every other QP has a size that is cropped on both sides, no loop filter, and QPs
// that differ within the picture. Every mode of Intra_8x8 and every kind of macroblock must occur.
TEST_P(High, DecodesToTheReconstruction) {
  std::uint32_t modes = 0, kinds[4] = {};
  for (int qp = 0; qp <= 51; ++qp) {
    if (quick() && qp != 0 && qp != 51 && qp % 4 != static_cast<int>(std::get<0>(GetParam()))) continue;
    SCOPED_TRACE("QP " + std::to_string(qp));
    const bool even = qp % 2 == 0;
    const std::vector<Picture> pictures = make_all_contents(even ? 64 : 42, even ? 48 : 54);
    Config config = high_config(qp, GetParam(), 1, even);
    if (!even) config.aq = AdaptiveQuantisation::variance;
    const EncodedStream stream = encode(config, pictures);
    check_stream(config, stream, pictures);
    walk_stream(stream.bytes(), [&](const WalkedMacroblock& mb) {
      ++kinds[static_cast<int>(mb.kind)];
      if (mb.kind != core::MacroblockKind::intra8x8) return;
      for (const int mode : mb.intra4x4_pred_mode) modes |= 1u << mode;
    });
  }
  EXPECT_EQ(modes, 0x1ffu);
  for (const std::uint32_t count : kinds) EXPECT_GT(count, 0u);
}

// At low QPs the error is no larger than quantisation explains, so that a wrong scale cannot hide.
TEST_P(High, TheErrorStaysWithinTheQuantiser) {
  const std::vector<Picture> pictures = make_all_contents(64, 48);
  for (int qp = 0; qp <= 51; qp += 3) {
    const EncodedStream stream = encode(high_config(qp, GetParam(), 1, false), pictures);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      EXPECT_LE(worst_squared_error(pictures[i], reconstruction_of(stream, i)), squared_error_bound(qp))
          << "QP " << qp << ", " << name_of(kContents[i]);
    }
  }
}

TEST_P(High, SlicesBeginAnew) {
  const std::vector<Picture> pictures = make_all_contents(48, 98);  // 7 macroblock rows
  for (const int slices : {2, 3, 7}) {
    for (const int qp : {0, 12, 27, 42}) {
      SCOPED_TRACE(std::to_string(slices) + " slices, QP " + std::to_string(qp));
      const Config config = high_config(qp, GetParam(), slices, slices != 3);
      check_stream(config, encode(config, pictures), pictures);
    }
  }
}

TEST_P(High, TinyAndOddSizes) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 50}, {50, 2}, {17, 33}, {130, 16}}) {
    const std::vector<Picture> pictures = make_all_contents(width, height);
    for (const int qp : {0, 27, 51}) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", QP " + std::to_string(qp));
      const Config config = high_config(qp, GetParam());
      check_stream(config, encode(config, pictures), pictures);
    }
  }
}

TEST_P(High, PcmBesideCodedMacroblocks) {
  bool mixed = false;
  for (int qp = 0; qp <= 16; qp += quick() ? 4 : 1) {
    SCOPED_TRACE("QP " + std::to_string(qp));
    const std::vector<Picture> pictures = {make_picture(Content::graded_noise, 80, 80, 1),
                                           make_picture(Content::graded_noise, 80, 80, 2)};
    const Config config = high_config(qp, GetParam(), 1 + qp % 2 * 4);
    for (const WalkedPicture& picture : check_stream(config, encode(config, pictures), pictures).pictures)
      mixed = mixed || (picture.pcm_mbs > 0 && picture.pcm_mbs < 25);
  }
  EXPECT_TRUE(mixed) << "no picture had both";
}

// Pictures that rate control codes, some of them twice, at QPs that may differ within a picture.
TEST(HighRateControl, DecodesToTheReconstruction) {
  const std::vector<Picture> pictures = cuts_of(96, 80, 35);
  for (const RateMode& mode : rate_modes(96, 80)) {
    for (const bool cavlc : {false, true}) {
      SCOPED_TRACE(std::string(mode.name) + (cavlc ? ", CAVLC" : ", CABAC"));
      Config config = mode.config;
      config.profile = Profile::high, config.cavlc = cavlc;
      config.backend = BackendChoice::cpu;
      const EncodedStream stream = encode(config, pictures);
      check_decoded(config, stream);
      for (const Packet& packet : stream.packets) {
        const auto bytes = static_cast<std::int64_t>(packet.data.size());
        EXPECT_TRUE(config.max_frame_bytes == 0 || bytes <= config.max_frame_bytes) << bytes;
        EXPECT_TRUE(config.frame_bytes == 0 || bytes == config.frame_bytes) << bytes;
      }
    }
  }
}

// An automatic profile gives the bytes that asking for it does.
TEST(HighAutomatic, HasTheBytesOfHigh) {
  const std::vector<Picture> pictures = make_all_contents(64, 48);
  Config config = high_config(27, {Preset::balanced, false});
  const EncodedStream high = encode(config, pictures);
  config.cavlc = true;
  const EncodedStream cavlc = encode(config, pictures);
  config.profile = Profile::automatic;
  EXPECT_EQ(encode(config, pictures).bytes(), cavlc.bytes());
  config.cavlc = false;
  const EncodedStream automatic = encode(config, pictures);
  EXPECT_EQ(automatic.bytes(), high.bytes());
  EXPECT_EQ(automatic.info.profile, "high");
  EXPECT_TRUE(automatic.info.cabac);
}

// Level 1b is told by level_idc 9, not by a flag (A.3.2).
TEST(HighLevels, Level1bHasItsOwnNumber) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 176, 144)};
  Config config = high_config(27, {Preset::fast, true});
  config.level_idc = 9;
  config.frame_rate = {15, 1};
  check_stream(config, encode(config, pictures), pictures);
}

std::string search_name(const testing::TestParamInfo<Search>& info) {
  return std::string(name_of(std::get<0>(info.param))) + (std::get<1>(info.param) ? "_cavlc" : "_cabac");
}

INSTANTIATE_TEST_SUITE_P(Presets, High, testing::Combine(testing::ValuesIn(kPresets), testing::Bool()),
                         search_name);

}  // namespace
}  // namespace cu264::test
