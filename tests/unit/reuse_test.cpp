// An encoder that is reused: the next clip has the bytes that another encoder would give it. Changes between
// pictures and between clips, and QPs of single frames.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "protect/fixed_nonce.h"
#include "support/encode.h"
#include "support/picture.h"

namespace cu264::test {
namespace {

std::vector<Picture> clip(int pictures, int width, int height, std::uint32_t seed) {
  std::vector<Picture> frames;
  for (int i = 0; i < pictures; ++i) {
    frames.push_back(make_picture(Content::natural, width, height, seed + static_cast<std::uint32_t>(i / 2)));
  }
  return frames;
}

Config config_of(int width, int height) {
  Config config;
  config.width = width, config.height = height;
  config.preset = Preset::fast;
  config.backend = BackendChoice::cpu;
  config.threads = 2;
  config.reconstruction = true;
  return config;
}

void expect_same(const EncodedStream& expected, const EncodedStream& found) {
  EXPECT_EQ(expected.headers, found.headers);
  ASSERT_EQ(expected.packets.size(), found.packets.size());
  for (std::size_t i = 0; i < expected.packets.size(); ++i) {
    const Packet &a = expected.packets[i], &b = found.packets[i];
    EXPECT_TRUE(a.data == b.data) << "picture " << i;
    EXPECT_TRUE(a.reconstruction == b.reconstruction) << "picture " << i;
    EXPECT_EQ(a.index, b.index);
    EXPECT_EQ(a.pts, b.pts);
  }
}

TEST(Reuse, NextClipsAreCodedAsByAnotherEncoder) {
  for (const char* const aq : {"off", "variance"}) {
    for (const char* const edges : {"0", "2"}) {
      if (std::string(aq) == "variance" && std::string(edges) != "0") continue;
      Config config = config_of(66, 50);
      config.set("aq", aq), config.set("edge-guided", edges);
      config.headers = HeaderPlacement::every_packet;
      Encoder encoder(config);
      for (const int pictures : {5, 1, 8, 3}) {
        const std::vector<Picture> frames = clip(pictures, 66, 50, static_cast<std::uint32_t>(pictures));
        expect_same(encode(config, frames), encode(encoder, config, frames));
      }
    }
  }
}

TEST(Reuse, WatermarksBeginAnew) {
  Config config = config_of(96, 80);
  ProtectionKey key(std::array<std::uint8_t, 32>{2, 6, 4});
  config.watermark = EncoderWatermark{key, {0xc5}, WatermarkScheme::t1_sign, 65536};
  const protect::FixedNonce nonce(11);
  Encoder encoder(config);
  for (const int pictures : {4, 6}) {
    const std::vector<Picture> frames = clip(pictures, 96, 80, 7);
    expect_same(encode(config, frames), encode(encoder, config, frames));
  }
}

// Two streams under one key and one nonce would give both away.
TEST(Reuse, EachClipHasItsOwnKeystream) {
  Config config = config_of(64, 64);
  config.encryption =
      EncoderEncryption{ProtectionKey(std::array<std::uint8_t, 32>{1}), encryption_strength(3)};
  Encoder encoder(config);
  const std::vector<Picture> frames = clip(2, 64, 64, 3);
  const EncodedStream first = encode(encoder, config, frames), second = encode(encoder, config, frames);
  EXPECT_TRUE(first.packets[0].data != second.packets[0].data);
  EXPECT_TRUE(first.packets[1].data != second.packets[1].data);
}

TEST(Reuse, TheNextClipBeginsWhenThePacketsAreTaken) {
  Encoder encoder(config_of(32, 32));
  const FrameBuffer frame(make_picture(Content::natural, 32, 32), PixelFormat::i420);
  ASSERT_TRUE(encoder.send(frame.view(5)));
  encoder.flush();
  EXPECT_FALSE(encoder.send(frame.view(6)));
  EXPECT_EQ(encoder.receive().value().pts, 5);
  EXPECT_TRUE(encoder.send(frame.view(6)));
  encoder.flush();
  const Packet packet = encoder.receive().value();
  EXPECT_EQ(packet.index, 0u);
  EXPECT_EQ(packet.pts, 6);
  EXPECT_FALSE(encoder.receive());
}

TEST(Reuse, SizeAndPresetChangeBetweenClips) {
  Config config = config_of(66, 50);
  Encoder encoder(config);
  struct {
    int width, height;
    Preset preset;
  } const clips[] = {
      {66, 50, Preset::fast}, {30, 100, Preset::balanced}, {80, 64, Preset::fast}, {80, 64, Preset::best}};
  for (const auto& [width, height, preset] : clips) {
    ConfigChanges changes;
    changes.width = width, changes.height = height, changes.preset = preset;
    changes.frame_rate = Rational{30, 1};
    encoder.reconfigure(changes);
    config.width = width, config.height = height, config.preset = preset, config.frame_rate = {30, 1};
    EXPECT_EQ(encoder.info().width, width);
    const std::vector<Picture> frames = clip(3, width, height, 9);
    expect_same(encode(config, frames), encode(encoder, config, frames));
  }
}

TEST(Reuse, QpChangesBetweenPictures) {
  const Config config = config_of(48, 48);
  Encoder encoder(config);
  const FrameBuffer frame(make_picture(Content::natural, 48, 48), PixelFormat::i420);
  std::vector<Packet> packets;
  for (const int qp : {20, 51, 0}) {
    ConfigChanges changes;
    changes.qp = qp;
    encoder.reconfigure(changes);
    while (!encoder.send(frame.view())) packets.push_back(encoder.receive().value());
  }
  Frame own = frame.view();
  own.qp = 33;
  while (!encoder.send(own)) packets.push_back(encoder.receive().value());
  encoder.flush();
  while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
  ASSERT_EQ(packets.size(), 4u);
  const int expected[] = {20, 51, 0, 33};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(packets[i].stats.qp, expected[i]);
  EXPECT_GT(packets[2].data.size(), packets[1].data.size());
}

TEST(Reuse, ChangesThatCannotBeAreRefused) {
  Encoder encoder(config_of(48, 48));
  const auto code_of = [&](const ConfigChanges& changes) {
    try {
      encoder.reconfigure(changes);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode{};
  };
  ConfigChanges qp, size;
  qp.qp = 52, size.width = 32;
  EXPECT_EQ(code_of(qp), ErrorCode::invalid_argument);
  const FrameBuffer frame(make_picture(Content::natural, 48, 48), PixelFormat::i420);
  Frame bad = frame.view();
  bad.qp = -1;
  EXPECT_THROW(encoder.send(bad), Error);
  ASSERT_TRUE(encoder.send(frame.view()));
  EXPECT_EQ(code_of(size), ErrorCode::invalid_argument);  // within a clip
  encoder.flush();
  EXPECT_EQ(code_of(size), ErrorCode::invalid_argument);  // a packet is left
  EXPECT_TRUE(encoder.receive());
  EXPECT_EQ(code_of(size), ErrorCode{});
  EXPECT_EQ(encoder.info().width, 32);
}

}  // namespace
}  // namespace cu264::test
