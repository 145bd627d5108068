// Streams with P pictures: libavcodec, and openh264 where it is there, decode them to exactly the encoder's
// reconstruction.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "support/encode.h"
#include "tests/conformance/stream_check.h"
#include "tests/support/error_of.h"
#include "tests/support/moving_pictures.h"
#include "tests/support/openh264_decode.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

// The profile, and whether CAVLC codes.
struct Coding {
  const char* name;
  Profile profile;
  bool cavlc;
};
constexpr Coding kCodings[] = {{"baseline", Profile::baseline, true},
                               {"main", Profile::main, false},
                               {"main, CAVLC", Profile::main, true},
                               {"high", Profile::high, false},
                               {"high, CAVLC", Profile::high, true}};

using Case = std::tuple<Preset, int>;  // and an index into kCodings

Config gop_config(int qp, Case test, int gop = 8) {
  const Coding& coding = kCodings[std::get<1>(test)];
  Config config = make_config(qp, std::get<0>(test));
  config.backend = BackendChoice::cpu;
  config.profile = coding.profile, config.cavlc = coding.cavlc && coding.profile != Profile::baseline;
  config.gop = gop;
  return config;
}

class PPictures : public testing::TestWithParam<Case> {};

void check(const Config& config, const std::vector<Picture>& clip) {
  const EncodedStream stream = encode(config, clip);
  ASSERT_EQ(stream.packets.size(), clip.size());
  for (const Packet& packet : stream.packets) {
    const PictureStats& stats = packet.stats;
    const std::uint32_t mbs =
        stats.intra4x4_mbs + stats.intra8x8_mbs + stats.intra16x16_mbs + stats.pcm_mbs + stats.inter_mbs;
    EXPECT_EQ(mbs, static_cast<std::uint32_t>((clip[0].width + 15) / 16 * ((clip[0].height + 15) / 16)));
    if (packet.key) {
      EXPECT_EQ(stats.inter_mbs, 0u);
    }
  }
  check_decoded(config, stream);
}

TEST_P(PPictures, DecodeToTheReconstruction) {
  QuickCases cases(5);
  for (const Motion motion : kMotions) {
    for (const int qp : {0, 5, 10, 17, 24, 30, 37, 44, 51}) {
      if (cases.leave_out()) continue;
      SCOPED_TRACE(std::string(name_of(motion)) + ", QP " + std::to_string(qp));
      Config config = gop_config(qp, GetParam(), 5);
      config.deblock = qp % 5 != 2;
      if (qp % 2 == 0) config.aq = AdaptiveQuantisation::variance;
      check(config, make_clip(motion, 80, 66, 7));
    }
  }
}

TEST_P(PPictures, SlicesBeginAnew) {
  const std::vector<Picture> clip = make_clip(Motion::noisy, 64, 98, 4);  // 7 macroblock rows
  for (const int slices : {2, 3, 7}) {
    for (const int qp : {8, 27, 42}) {
      SCOPED_TRACE(std::to_string(slices) + " slices, QP " + std::to_string(qp));
      Config config = gop_config(qp, GetParam());
      config.slices = slices;
      check(config, clip);
    }
  }
}

TEST_P(PPictures, TinyAndOddSizes) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 50}, {50, 2}, {17, 33}, {130, 16}, {16, 130}}) {
    for (const Motion motion : {Motion::slow, Motion::fast, Motion::objects}) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", " + name_of(motion));
      check(gop_config(27, GetParam()), make_clip(motion, width, height, 4));
    }
  }
}

TEST_P(PPictures, GopsBeginWhereTheyShould) {
  const std::vector<Picture> clip = make_clip(Motion::slow, 48, 32, 20);
  for (const int gop : {0, 2, 3, 17, 30}) {
    SCOPED_TRACE("gop " + std::to_string(gop));
    const Config config = gop_config(30, GetParam(), gop);
    const EncodedStream stream = encode(config, clip);
    for (std::size_t i = 0; i < clip.size(); ++i)
      EXPECT_EQ(stream.packets[i].key, gop == 0 ? i == 0 : i % static_cast<std::size_t>(gop) == 0) << i;
    check_decoded(config, stream);
  }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name =
      std::string(name_of(std::get<0>(info.param))) + "_" + kCodings[std::get<1>(info.param)].name;
  std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
  return name;
}
INSTANTIATE_TEST_SUITE_P(Conformance, PPictures,
                         testing::Combine(testing::ValuesIn(kPresets), testing::Range(0, 5)), case_name);

TEST(PPictureStreams, OpenH264ShowsTheReconstruction) {
  if (!has_openh264()) GTEST_SKIP() << "openh264 is not there";
  for (int coding = 0; coding < 5; ++coding) {
    for (const Motion motion : {Motion::slow, Motion::fast, Motion::cut, Motion::objects}) {
      SCOPED_TRACE(std::string(kCodings[coding].name) + ", " + name_of(motion));
      const std::vector<Picture> clip = make_clip(motion, 96, 80, 6);
      const EncodedStream stream = encode(gop_config(26, {Preset::balanced, coding}), clip);
      const std::vector<Picture> shown = decode_with_openh264(stream.bytes());
      ASSERT_EQ(shown.size(), clip.size());
      for (std::size_t i = 0; i < shown.size(); ++i)
        EXPECT_EQ(difference(reconstruction_of(stream, i), shown[i]), "") << "picture " << i;
    }
  }
}

// Neither the number of threads nor what was coded before changes a byte.
TEST(PPictureStreams, AreTheSameWithAnyNumberOfThreads) {
  const std::vector<Picture> clip = make_clip(Motion::noisy, 112, 96, 9);
  for (const Preset preset : kPresets) {
    Config config = gop_config(28, {preset, 3}, 4);
    config.threads = 1;
    const std::vector<std::uint8_t> expected = encode(config, clip).bytes();
    config.threads = 0;
    EXPECT_EQ(encode(config, clip).bytes(), expected);
    config.width = 112, config.height = 96, config.reconstruction = true;
    Encoder encoder(config);
    encode(encoder, config, make_clip(Motion::cut, 112, 96, 3, 5));
    EXPECT_EQ(encode(encoder, config, clip).bytes(), expected);
  }
}

TEST(PPictureStreams, AFrameBeginsAGopWhereItIsAskedTo) {
  const std::vector<Picture> clip = make_clip(Motion::slow, 48, 48, 7);
  Config config = gop_config(30, {Preset::fast, 3}, 4);
  config.width = config.height = 48, config.reconstruction = true;
  Encoder encoder(config);
  EncodedStream stream;
  stream.info = encoder.info();
  const auto receive = [&] {
    while (auto packet = encoder.receive()) stream.packets.push_back(std::move(*packet));
  };
  for (std::size_t i = 0; i < clip.size(); ++i) {
    const FrameBuffer buffer(clip[i], PixelFormat::i420);
    Frame frame = buffer.view();
    frame.key = i == 2;
    while (!encoder.send(frame)) stream.packets.push_back(*encoder.receive());
  }
  encoder.flush();
  receive();
  const bool keys[] = {true, false, true, false, false, false, true};
  for (std::size_t i = 0; i < clip.size(); ++i) EXPECT_EQ(stream.packets[i].key, keys[i]) << i;
  check_decoded(config, stream);
}

std::vector<std::size_t> keys_of(const Config& config, const std::vector<Picture>& clip) {
  const EncodedStream stream = encode(config, clip);
  check_decoded(config, stream);
  std::vector<std::size_t> keys;
  for (const Packet& packet : stream.packets) {
    if (packet.key) keys.push_back(packet.index);
  }
  return keys;
}

TEST(PPictureStreams, ASceneBeginsAGop) {
  std::vector<Picture> clip;
  std::uint32_t seed = 1;
  for (const Motion motion : {Motion::slow, Motion::objects, Motion::still, Motion::noisy}) {
    for (Picture& picture : make_clip(motion, 176, 144, 7, 10 * seed++)) clip.push_back(std::move(picture));
  }
  Config config = gop_config(30, {Preset::fast, 3}, 10);
  config.scene_cuts = true;
  EXPECT_EQ(keys_of(config, clip), (std::vector<std::size_t>{0, 7, 14, 21}));
  config.threads = 1, config.crf = 30;
  EXPECT_EQ(keys_of(config, clip), (std::vector<std::size_t>{0, 7, 14, 21}));
  config.scene_cuts = false;
  EXPECT_EQ(keys_of(config, clip), (std::vector<std::size_t>{0, 10, 20}));
}

// Fades, fast pans and noise begin no scene, and noise is not a row of scenes.
TEST(PPictureStreams, OnlyAScenesFirstPictureBeginsAGop) {
  for (const Motion motion : kMotions) {
    if (motion == Motion::cut) continue;
    SCOPED_TRACE(name_of(motion));
    Config config = gop_config(34, {Preset::fast, 3}, 0);
    config.scene_cuts = true;
    EXPECT_EQ(keys_of(config, make_clip(motion, 176, 144, 12)), (std::vector<std::size_t>{0}));
  }
}

TEST(PPictureStreams, TakeFarFewerBits) {
  const std::vector<Picture> clip = make_clip(Motion::slow, 176, 144, 8);
  Config config = gop_config(27, {Preset::fast, 3});
  const std::size_t with = encode(config, clip).bytes().size();
  config.gop = 1;
  EXPECT_LT(3 * with, encode(config, clip).bytes().size());
}

TEST(PPictureStreams, WhatDoesNotGoWithThemIsRefused) {
  const auto refused = [](const auto& change) {
    Config config = gop_config(27, {Preset::fast, 0});
    config.width = config.height = 64;
    change(config);
    return error_of(ErrorCode::unsupported, [&] { Encoder encoder(config); });
  };
  EXPECT_NE(refused([](Config& c) {
              c.profile = Profile::high;
              c.scaling_lists = jvt_scaling_lists();
            }).find("scaling lists"),
            std::string::npos);
  EXPECT_NE(refused([](Config& c) {
              c.devices = {0, 1}, c.device_output = true;
            }).find("packets"),
            std::string::npos);
  EXPECT_NE(refused([](Config& c) {
              c.devices = {0, 1};
              c.aq = AdaptiveQuantisation::variance;
            }).find("adaptive quantisation"),
            std::string::npos);
}

}  // namespace
}  // namespace cu264::test
