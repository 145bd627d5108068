// Pictures without a packet, because they exceed a limit or could not be coded: what would have preceded them
// precedes the next picture, and is counted there.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/bitstream/nal_unit.h"
#include "cu264/stream_group.h"
#include "support/encode.h"
#include "tests/support/rate_checks.h"

namespace {

using namespace cu264;
using namespace cu264::test;

constexpr int kWidth = 96, kHeight = 80;
constexpr std::int64_t kLimit = 900;  // noise has more at QP 51

const std::vector<int> kAllHeaders = {7, 8, 6}, kParameterSets = {7, 8};

// Pictures of noise, where `noise` says so, between flat ones.
std::vector<Picture> clip_of(const std::vector<bool>& noise) {
  std::vector<Picture> clip;
  for (const bool is_noise : noise)
    clip.push_back(make_picture(is_noise ? Content::noise : Content::flat16, kWidth, kHeight));
  return clip;
}

Config config_of(HeaderPlacement headers = HeaderPlacement::first_packet) {
  Config config;
  config.width = kWidth, config.height = kHeight, config.preset = Preset::fast;
  config.backend = BackendChoice::cpu, config.threads = 2;
  config.headers = headers;
  config.on_overflow = OnOverflow::drop;
  return config;
}

std::vector<Packet> encode_clip(const Config& config, const std::vector<Picture>& clip) {
  Encoder encoder(config);
  return encode_with_rate(encoder, clip);
}

// The types of the NAL units in front of the slice.
std::vector<int> types_before_slices(const Packet& packet) {
  std::vector<int> types;
  for (const auto& nal : bitstream::split_annexb(packet.data).units) {
    if (nal.type() == bitstream::kNalSliceIdr) break;
    types.push_back(nal.type());
  }
  return types;
}

TEST(LeftOutPictures, HeadersOfTheFirstComeWithTheNext) {
  const auto clip = clip_of({true, true, false, false, true, false});
  for (const bool exact : {false, true}) {
    Config config = config_of();
    (exact ? config.frame_bytes : config.max_frame_bytes) = kLimit;
    for (const auto placement :
         {HeaderPlacement::first_packet, HeaderPlacement::every_packet, HeaderPlacement::separate}) {
      config.headers = placement;
      const auto packets = encode_clip(config, clip);
      ASSERT_EQ(packets.size(), 3u);
      for (std::size_t n = 0; n < packets.size(); ++n) {
        std::vector<int> expected;
        if (placement != HeaderPlacement::separate && n == 0) expected = kAllHeaders;
        if (placement == HeaderPlacement::every_packet && n > 0) expected = kParameterSets;
        EXPECT_EQ(types_before_slices(packets[n]), expected) << n;
        const auto size = static_cast<std::int64_t>(packets[n].data.size());
        EXPECT_TRUE(size == kLimit || (!exact && size < kLimit)) << n << " has " << size;
      }
    }
  }
}

// The limit holds to the byte with the headers of the picture before.
TEST(LeftOutPictures, HeadersCountWhereTheyAre) {
  const auto clip = clip_of({true, false});
  Config config = config_of(HeaderPlacement::separate);
  config.qp = 51, config.max_frame_bytes = kLimit;
  const auto bare = encode_clip(config, clip);
  ASSERT_EQ(bare.size(), 1u);
  config.headers = HeaderPlacement::first_packet;
  config.max_frame_bytes = static_cast<std::int64_t>(bare[0].data.size() + Encoder(config).headers().size());
  EXPECT_EQ(encode_clip(config, clip).size(), 1u);
  --config.max_frame_bytes;
  EXPECT_EQ(encode_clip(config, clip).size(), 0u);
}

TEST(LeftOutPictures, MessagesOfTheBufferComeFirst) {
  Config config = config_of();
  config.bitrate = 25 * 8 * kLimit, config.max_frame_bytes = kLimit;
  const auto packets = encode_clip(config, clip_of({true, false, true, false, false}));
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_EQ(types_before_slices(packets[0]), (std::vector<int>{7, 8, 6, 6}));
  EXPECT_EQ(types_before_slices(packets[1]), std::vector<int>{6});
  const auto first_message = [](const Packet& packet) {
    for (const auto& nal : bitstream::split_annexb(packet.data).units)
      if (nal.type() == bitstream::kNalSei) return static_cast<int>(nal.unit[1]);  // its payloadType
    return -1;
  };
  for (const Packet& packet : packets) EXPECT_EQ(first_message(packet), 0) << "the buffering period";
}

// Parameter sets that a new buffer asks for are written with the first picture that has a packet.
TEST(LeftOutPictures, NewParameterSetsComeWithTheNext) {
  Config config = config_of();
  config.bitrate = 25 * 8 * kLimit, config.max_frame_bytes = kLimit;
  for (const bool first : {true, false}) {  // whether those of the first picture are lost too
    Encoder encoder(config);
    std::vector<Packet> packets;
    const auto clip = clip_of({first, true, false, false});
    for (std::size_t n = 0; n < clip.size(); ++n) {
      ConfigChanges changes;
      changes.buffer_bits = config.bitrate / 2;
      if (n == 1) encoder.reconfigure(changes);
      const FrameBuffer frame(clip[n], PixelFormat::i420);
      while (!encoder.send(frame.view())) {
        if (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
      }
    }
    encoder.flush();
    while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
    ASSERT_EQ(packets.size(), first ? 2u : 3u);
    const Packet& changed = packets[first ? 0 : 1];
    EXPECT_EQ(changed.index, 2u);
    EXPECT_EQ(types_before_slices(changed),
              (first ? std::vector<int>{7, 8, 6, 6} : std::vector<int>{7, 8, 6}));
    EXPECT_TRUE(std::equal(changed.data.begin(), changed.data.begin() + 40, encoder.headers().begin()))
        << "they are not the new ones";
    EXPECT_EQ(types_before_slices(packets.back()), std::vector<int>{6});
  }
}

// What the caller adds counts with its own picture only.
TEST(LeftOutPictures, AddedBytesAreLostWithTheirPicture) {
  Config config = config_of();
  config.frame_bytes = kLimit;
  Encoder encoder(config);
  const auto clip = clip_of({true, false, false});
  const std::int64_t added[] = {300, 50, 0};
  for (std::size_t n = 0; n < clip.size(); ++n) {
    const FrameBuffer buffer(clip[n], PixelFormat::i420);
    Frame frame = buffer.view();
    frame.added_bytes = added[n];
    ASSERT_TRUE(encoder.send(frame));
  }
  encoder.flush();
  for (std::size_t n = 1; n < clip.size(); ++n) {
    const auto packet = encoder.receive();
    ASSERT_TRUE(packet);
    EXPECT_EQ(static_cast<std::int64_t>(packet->data.size()) + added[n], kLimit);
  }
  EXPECT_FALSE(encoder.receive());
}

// In a group a stream continues after an error.
struct Outcome {
  std::vector<Packet> packets;
  std::vector<std::string> errors;
};

Outcome encode_in_group(const Config& config, const std::vector<Picture>& clip) {
  StreamGroupConfig group_config;
  group_config.backend = BackendChoice::cpu, group_config.threads = 2;
  StreamGroup group(group_config);
  const auto stream = group.open(config);
  for (const Picture& picture : clip) {
    const FrameBuffer frame(picture, PixelFormat::i420);
    EXPECT_TRUE(group.submit(stream, frame.view()));
  }
  group.flush(stream);
  Outcome outcome;
  for (std::size_t n = 0; n < clip.size(); ++n) {
    try {
      if (auto packet = group.receive(stream, std::chrono::seconds(60)))
        outcome.packets.push_back(std::move(*packet));
    } catch (const Error& error) {
      outcome.errors.emplace_back(error.what());
    }
  }
  return outcome;
}

TEST(LeftOutPictures, HeadersOfAnErrorComeWithTheNext) {
  Config config = config_of();
  config.on_overflow = OnOverflow::error, config.frame_bytes = kLimit;
  const Outcome outcome = encode_in_group(config, clip_of({true, false, true, false}));
  ASSERT_EQ(outcome.errors.size(), 2u);
  EXPECT_NE(outcome.errors[0].find("picture 0 exceeds"), std::string::npos) << outcome.errors[0];
  ASSERT_EQ(outcome.packets.size(), 2u);
  EXPECT_EQ(types_before_slices(outcome.packets[0]), kAllHeaders);
  EXPECT_EQ(types_before_slices(outcome.packets[1]), std::vector<int>{});
  for (const Packet& packet : outcome.packets)
    EXPECT_EQ(packet.data.size(), static_cast<std::size_t>(kLimit));
}

// Readers count pictures, and would use the keystream of another one.
TEST(LeftOutPictures, EncryptedClipsEndWithAnError) {
  Config config = config_of();
  config.on_overflow = OnOverflow::error, config.max_frame_bytes = kLimit;
  config.encryption = EncoderEncryption{ProtectionKey::random(), encryption_strength(2)};
  const Outcome outcome = encode_in_group(config, clip_of({false, true, false, false}));
  EXPECT_EQ(outcome.packets.size(), 1u);
  ASSERT_EQ(outcome.errors.size(), 3u);
  EXPECT_NE(outcome.errors[0].find("picture 1 exceeds"), std::string::npos) << outcome.errors[0];
  EXPECT_NE(outcome.errors[2].find("readers would take"), std::string::npos) << outcome.errors[2];
}

}  // namespace
