// Pictures of different QPs and streams are in flight together: each has the bytes that it has alone, and a
// decoder finds its parameters in them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cu264/protect.h"
#include "encoder/headers.h"
#include "encoder/stages.h"
#include "support/decode.h"
#include "tests/conformance/stream_check.h"
#include "tests/support/mixed_pictures.h"

namespace cu264::test {
namespace {

constexpr int kWidth = 66, kHeight = 82;
constexpr int kAnyLevel = 40;

Config config_of(Preset preset, int slices) {
  Config config;
  config.width = kWidth, config.height = kHeight;
  config.preset = preset, config.slices = slices, config.reconstruction = true;
  return config;
}

ProtectionKey key() {
  return ProtectionKey(std::array<std::uint8_t, 32>{3, 1, 4, 1, 5});
}

// Compares the two with few threads and with many.
void expect_same_as_alone(const Config& config, int streams, const std::vector<MixedPicture>& pictures) {
  encoder::StageParams params = encoder::stage_params(config);
  params.streams = streams;
  const std::vector<encoder::CodedAccessUnit> alone = code_alone(params, pictures);
  for (const int threads : {1, 2, 7}) {
    params.threads = threads;
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
  encoder::StageParams params = encoder::stage_params(config);
  EXPECT_NO_THROW(encoder::open_cpu_backend(params));
  params.streams = 2;
  EXPECT_THROW(encoder::open_cpu_backend(params), Error);
}

TEST(MixedPictures, ParametersOutOfRangeAreRefused) {
  const Config config = config_of(Preset::fast, 1);
  encoder::StageParams params = encoder::stage_params(config);
  params.streams = 2;
  const auto backend = encoder::open_cpu_backend(params);
  MixedPicture mixed = mixed_pictures(1, kWidth, kHeight, 1, 1).front();
  const auto refused = [&](core::PictureParams wrong) {
    EXPECT_THROW(code_together(*backend, {{mixed.picture, wrong}}), Error);
  };
  core::PictureParams wrong = mixed.params;
  wrong.qp = 52, refused(wrong);
  wrong = mixed.params, wrong.idr_pic_id = 2, refused(wrong);
  wrong = mixed.params, wrong.stream = 2, refused(wrong);
  mixed.params.qp = 51, mixed.params.stream = 1, mixed.params.idr_pic_id = 1;
  EXPECT_EQ(code_together(*backend, {mixed}).size(), 1u);
}

// Decodes each stream by itself.
TEST(MixedPictures, DecodersFindTheParameters) {
  constexpr int kStreams = 3;
  for (const auto& [name, value] : {std::pair{"aq", "off"}, {"aq", "variance"}}) {
    Config config = config_of(Preset::balanced, 3);
    config.set(name, value);
    encoder::StageParams params = encoder::stage_params(config);
    params.streams = kStreams;
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
