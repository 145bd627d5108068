// Pictures of different QPs and streams are in flight together: each has the bytes that it has alone, and a
// decoder finds its parameters in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cu264/protect.h"
#include "encoder/headers.h"
#include "encoder/stream_params.h"
#include "support/decode.h"
#include "support/encode.h"
#include "tests/conformance/stream_check.h"
#include "tests/support/mixed_pictures.h"

namespace cu264::test {
namespace {

constexpr int kWidth = 66, kHeight = 82;
constexpr int kAnyLevel = 40;

Config config_of(Preset preset, int slices) {
  Config config = baseline_config();
  config.width = kWidth, config.height = kHeight;
  config.preset = preset, config.slices = slices, config.reconstruction = true;
  return config;
}

ProtectionKey key() {
  return ProtectionKey(std::array<std::uint8_t, 32>{3, 1, 4, 1, 5});
}

// Compares the two with few threads and with many.
void expect_same_as_alone(const Config& config, int streams, const std::vector<MixedPicture>& pictures) {
  encoder::StreamParams params = encoder::stream_params(config);
  params.execution.streams = streams;
  const std::vector<encoder::CodedAccessUnit> alone = code_alone(params, pictures);
  for (const int threads : {1, 2, 7}) {
    params.execution.threads = threads;
    const auto together = code_together(*encoder::open_cpu_backend(params), pictures);
    ASSERT_EQ(difference(alone, together, pictures), "") << threads << " threads";
  }
}

TEST(MixedPictures, AreCodedAsAlone) {
  for (const Preset preset : kPresets) {
    for (const auto& [name, value] :
         {std::pair{"aq", "off"}, {"aq", "variance"}, {"edge-guided", "1"}, {"edge-guided", "3"}}) {
      for (const int slices : {1, 3}) {
        SCOPED_TRACE(std::string(name_of(preset)) + ", " + name + " " + value + ", slices " +
                     std::to_string(slices));
        Config config = config_of(preset, slices);
        config.set(name, value);
        expect_same_as_alone(config, 3, mixed_pictures(17, kWidth, kHeight, 3, 264));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(MixedPictures, AreProtectedAsAlone) {
  Config config = config_of(Preset::fast, 2);
  for (const WatermarkScheme scheme : {WatermarkScheme::t1_sign, WatermarkScheme::t1_parity}) {
    config.watermark = EncoderWatermark{key(), {0xc5}, scheme, 65536};
    expect_same_as_alone(config, 3, mixed_pictures(15, kWidth, kHeight, 3, 265));
  }
  config.encryption = EncoderEncryption{key(), encryption_strength(3)};
  expect_same_as_alone(config, 1, mixed_pictures(15, kWidth, kHeight, 1, 266));
}

// One keystream for several streams would reveal the difference between their pictures.
TEST(MixedPictures, StreamsThatShareAKeystreamAreRefused) {
  Config config = config_of(Preset::fast, 1);
  config.encryption = EncoderEncryption{key(), encryption_strength(3)};
  encoder::StreamParams params = encoder::stream_params(config);
  EXPECT_NO_THROW(encoder::open_cpu_backend(params));
  params.execution.streams = 2;
  EXPECT_THROW(encoder::open_cpu_backend(params), Error);
}

TEST(MixedPictures, ParametersOutOfRangeAreRefused) {
  const Config config = config_of(Preset::fast, 1);
  encoder::StreamParams params = encoder::stream_params(config);
  params.execution.streams = 2;
  const auto backend = encoder::open_cpu_backend(params);
  MixedPicture mixed = mixed_pictures(1, kWidth, kHeight, 1, 1).front();
  const auto refused = [&](core::PictureParams wrong) {
    EXPECT_THROW(code_together(*backend, {{mixed.picture, wrong}}), Error);
  };
  core::PictureParams wrong = mixed.params;
  wrong.qp = 52, refused(wrong);
  wrong = mixed.params, wrong.idr_pic_id = 3, refused(wrong);
  wrong = mixed.params, wrong.stream = 2, refused(wrong);
  mixed.params.qp = 51, mixed.params.stream = 1, mixed.params.idr_pic_id = 1;
  EXPECT_EQ(code_together(*backend, {mixed}).size(), 1u);
}

// Returns settings that ask for offsets of each kind, with pictures whose last rows are raised.
std::vector<Config> configs_with_raised_rows() {
  const auto with = [](auto change) {
    Config config = config_of(Preset::fast, 2);
    config.crf = 20;
    change(config);
    return config;
  };
  return {with([](Config& c) { c.aq = AdaptiveQuantisation::off; }), with([](Config&) {}),
          with([](Config& c) { c.edge_guided = 3; }), with([](Config& c) { c.bitrate = 1000; }),
          with([](Config& c) { c.max_frame_bytes = 1000, c.edge_guided = 1; })};
}

TEST(RaisedRows, AreCodedAsAlone) {
  for (const Config& config : configs_with_raised_rows()) {
    std::vector<MixedPicture> pictures = mixed_pictures(17, kWidth, kHeight, 3, 268);
    raise_rows(pictures, 1);
    expect_same_as_alone(config, 3, pictures);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Each macroblock whose QP is in the stream has the picture's QP, or one more in the raised rows.
TEST(RaisedRows, DecodersFindTheirQp) {
  constexpr int kMbWidth = (kWidth + 15) / 16, kMbHeight = (kHeight + 15) / 16;
  for (const int slices : {1, 3}) {
    Config config = config_of(Preset::balanced, slices);
    std::vector<MixedPicture> pictures = mixed_pictures(30, kWidth, kHeight, 1, 269);
    raise_rows(pictures, 2);
    encoder::StreamParams params = encoder::stream_params(config);
    params.decisions.aq = encoder::AqParams{encoder::AqMode::none, 0, false};
    const auto units = code_together(*encoder::open_cpu_backend(params), pictures);
    std::vector<std::uint8_t> bytes = encoder::stream_headers(config, kAnyLevel, false);
    for (const auto& unit : units) bytes.insert(bytes.end(), unit.slices.begin(), unit.slices.end());
    int checked = 0, raised = 0, picture = -1;
    const WalkedStream walked = walk_stream(bytes, [&](const WalkedMacroblock& mb) {
      picture += mb.address == 0;
      const bool told = mb.kind == core::MacroblockKind::intra16x16 ||
                        (mb.kind == core::MacroblockKind::intra4x4 && mb.coded_block_pattern != 0);
      if (!told) return;
      const core::PictureParams& wanted = pictures[static_cast<std::size_t>(picture)].params;
      const int raise = mb.address / kMbWidth >= kMbHeight - wanted.raised_rows;
      ASSERT_EQ(mb.qp, std::min(wanted.qp + raise, 51)) << "picture " << picture << ", mb " << mb.address;
      ++checked, raised += raise;
    });
    EXPECT_GT(raised, 100);
    EXPECT_GT(checked - raised, 100);
    const DecodedStream decoded = decode_annexb(bytes);
    EXPECT_TRUE(decoded.complaints.empty()) << decoded.complaints.front();
    ASSERT_EQ(decoded.pictures.size(), units.size());
    for (std::size_t n = 0; n < units.size(); ++n)
      EXPECT_EQ(decoded.pictures[n].picture.samples, units[n].reconstruction) << "picture " << n;
  }
}

// Without memory a picture has the same offsets whenever it is coded.
TEST(RaisedRows, PicturesCodedAgainHaveTheirBytes) {
  Config config = config_of(Preset::fast, 1);
  config.bitrate = 1000000;
  const encoder::StreamParams params = encoder::stream_params(config);
  ASSERT_TRUE(params.decisions.aq && params.decisions.aq->mode == encoder::AqMode::variance &&
              !params.decisions.aq->remembers);
  std::vector<MixedPicture> pictures = mixed_pictures(12, kWidth, kHeight, 1, 270);
  raise_rows(pictures, 3);
  std::vector<MixedPicture> twice = pictures;
  twice.insert(twice.end(), pictures.rbegin(), pictures.rend());
  const auto units = code_together(*encoder::open_cpu_backend(params), twice);
  for (std::size_t i = 0; i < pictures.size(); ++i)
    EXPECT_EQ(units[i].slices, units[twice.size() - 1 - i].slices) << "picture " << i;
}

TEST(RaisedRows, NeedOffsetsAndFitThePicture) {
  const Config config = config_of(Preset::fast, 1);
  encoder::StreamParams params = encoder::stream_params(config);
  std::vector<MixedPicture> pictures = mixed_pictures(1, kWidth, kHeight, 1, 1);
  pictures[0].params.raised_rows = 1;
  EXPECT_THROW(code_together(*encoder::open_cpu_backend(params), pictures), Error);
  params.decisions.aq = encoder::AqParams{encoder::AqMode::none, 0, false};
  EXPECT_NO_THROW(code_together(*encoder::open_cpu_backend(params), pictures));
  pictures[0].params.raised_rows = static_cast<std::uint16_t>(params.format.mb_height + 1);
  EXPECT_THROW(code_together(*encoder::open_cpu_backend(params), pictures), Error);
}

// Decodes each stream by itself.
TEST(MixedPictures, DecodersFindTheParameters) {
  constexpr int kStreams = 3;
  for (const auto& [name, value] : {std::pair{"aq", "off"}, {"aq", "variance"}}) {
    Config config = config_of(Preset::balanced, 3);
    config.set(name, value);
    encoder::StreamParams params = encoder::stream_params(config);
    params.execution.streams = kStreams;
    const std::vector<MixedPicture> pictures = mixed_pictures(40, kWidth, kHeight, kStreams, 267);
    const auto units = code_together(*encoder::open_cpu_backend(params), pictures);
    for (std::uint32_t stream = 0; stream < kStreams; ++stream) {
      SCOPED_TRACE("stream " + std::to_string(stream));
      std::vector<std::uint8_t> bytes = encoder::stream_headers(config, kAnyLevel, false);
      std::vector<std::size_t> own;
      for (std::size_t i = 0; i < units.size(); ++i) {
        if (pictures[i].params.stream != stream) continue;
        bytes.insert(bytes.end(), units[i].slices.begin(), units[i].slices.end());
        own.push_back(i);
      }
      const WalkedStream walked = walk_stream(bytes);
      const DecodedStream decoded = decode_annexb(bytes);
      EXPECT_TRUE(decoded.complaints.empty()) << decoded.complaints.front();
      ASSERT_EQ(walked.pictures.size(), own.size());
      ASSERT_EQ(decoded.pictures.size(), own.size());
      for (std::size_t n = 0; n < own.size(); ++n) {
        const core::PictureParams& wanted = pictures[own[n]].params;
        EXPECT_EQ(walked.pictures[n].qp, wanted.qp);
        EXPECT_EQ(walked.pictures[n].idr_pic_id, wanted.idr_pic_id);
        EXPECT_EQ(walked.pictures[n].disable_deblocking_filter_idc, wanted.deblock ? 0 : 1);
        EXPECT_EQ(units[own[n]].stats.qp, wanted.qp);
        EXPECT_EQ(decoded.pictures[n].picture.samples, units[own[n]].reconstruction) << "picture " << n;
      }
    }
  }
}

}  // namespace
}  // namespace cu264::test
