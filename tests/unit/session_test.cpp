// The four calls of a session: their order, flow control, placement of headers, refusals, and the same bytes
// for any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "encoder/encoder_access.h"
#include "tests/support/error_of.h"

namespace {

using cu264::Config;
using cu264::Encoder;
using cu264::Error;
using cu264::ErrorCode;
using cu264::Frame;
using cu264::HeaderPlacement;
using cu264::Packet;
using cu264::test::error_of;

// A clip of soft drifting noise with a hard edge, which leads to macroblocks of every kind.
class Clip {
 public:
  Clip(int width, int height, int frames) : width_(width), height_(height) {
    std::mt19937 random(11);
    const int chroma_width = (width + 1) / 2;
    const int samples = width * height + 2 * chroma_width * ((height + 1) / 2);
    for (int n = 0; n < frames; ++n) {
      std::vector<std::uint8_t> memory(static_cast<std::size_t>(samples));
      for (int i = 0; i < samples; ++i) {
        const int base = (i % width + 3 * n) % width < width / 2 ? 60 : 190;
        const int noise = n % 3 == 2 ? 60 : 6;
        memory[static_cast<std::size_t>(i)] =
            static_cast<std::uint8_t>(base + static_cast<int>(random() % noise));
      }
      memory_.push_back(std::move(memory));
    }
  }

  int frames() const { return static_cast<int>(memory_.size()); }

  Frame frame(int n) const {
    const int chroma_width = (width_ + 1) / 2;
    const int chroma_height = (height_ + 1) / 2;
    Frame f;
    f.width = width_, f.height = height_;
    f.plane[0] = memory_[static_cast<std::size_t>(n)].data();
    f.plane[1] = f.plane[0] + width_ * height_;
    f.plane[2] = f.plane[1] + chroma_width * chroma_height;
    f.pitch[0] = width_, f.pitch[1] = f.pitch[2] = chroma_width;
    f.pts = 1000 + 7 * n;
    f.user_data = const_cast<std::uint8_t*>(f.plane[0]);
    return f;
  }

 private:
  int width_;
  int height_;
  std::vector<std::vector<std::uint8_t>> memory_;
};

Config config_of(int width, int height, int threads = 2) {
  Config config;
  config.width = width, config.height = height;
  config.threads = threads;
  config.preset = cu264::Preset::fast;
  config.backend = cu264::BackendChoice::cpu;
  return config;
}

// All packets, received as in the example of the public header.
std::vector<Packet> encode(const Clip& clip, const Config& config) {
  Encoder encoder(config);
  std::vector<Packet> packets;
  for (int n = 0; n < clip.frames(); ++n) {
    while (!encoder.send(clip.frame(n))) {
      auto packet = encoder.receive();
      EXPECT_TRUE(packet) << "full, but nothing to receive";
      if (!packet) return packets;
      packets.push_back(std::move(*packet));
    }
  }
  encoder.flush();
  while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
  return packets;
}

// nal_unit_type of each NAL unit of an Annex B stream.
std::vector<int> nal_types(std::span<const std::uint8_t> stream) {
  std::vector<int> types;
  for (std::size_t i = 0; i + 3 < stream.size(); ++i) {
    if (stream[i] == 0 && stream[i + 1] == 0 && stream[i + 2] == 1) types.push_back(stream[i + 3] & 31);
  }
  return types;
}

bool starts_with_long_code(std::span<const std::uint8_t> data) {
  return data.size() > 4 && data[0] == 0 && data[1] == 0 && data[2] == 0 && data[3] == 1;
}

TEST(Session, PacketsComeInOrderWithWhatTheFramesCarried) {
  const Clip clip(50, 34, 17);
  for (const int threads : {1, 2, 5}) {
    const auto packets = encode(clip, config_of(50, 34, threads));
    ASSERT_EQ(packets.size(), 17u) << threads << " threads";
    for (int n = 0; n < clip.frames(); ++n) {
      const Packet& packet = packets[static_cast<std::size_t>(n)];
      EXPECT_EQ(packet.index, static_cast<std::uint64_t>(n));
      EXPECT_EQ(packet.pts, clip.frame(n).pts);
      EXPECT_EQ(packet.user_data, clip.frame(n).user_data);
      EXPECT_TRUE(packet.key);
      EXPECT_EQ(packet.stats.qp, 27);
      EXPECT_EQ(packet.stats.intra4x4_mbs + packet.stats.intra8x8_mbs + packet.stats.intra16x16_mbs +
                    packet.stats.pcm_mbs,
                4u * 3u);
      EXPECT_TRUE(starts_with_long_code(packet.data)) << "picture " << n;
    }
  }
}

TEST(Session, BytesAreTheSameForAnyNumberOfThreads) {
  const Clip clip(70, 66, 9);
  for (const int slices : {1, 3}) {
    for (const bool deblock : {false, true}) {
      std::vector<Packet> first;
      for (const int threads : {1, 2, 3, 7}) {
        Config config = config_of(70, 66, threads);
        config.slices = slices;
        config.deblock = deblock;
        config.reconstruction = true;
        const auto packets = encode(clip, config);
        if (first.empty()) first = packets;
        ASSERT_EQ(packets.size(), first.size());
        for (std::size_t n = 0; n < packets.size(); ++n) {
          EXPECT_TRUE(packets[n].data == first[n].data) << "picture " << n << ", " << threads << " threads";
          EXPECT_TRUE(packets[n].reconstruction == first[n].reconstruction) << "picture " << n;
          EXPECT_EQ(packets[n].stats.residual_bits, first[n].stats.residual_bits);
        }
      }
    }
  }
}

TEST(Session, SendRefusesWhenFullAndReceiveThenHasAPacket) {
  const Clip clip(32, 32, 1);
  for (const int threads : {1, 2, 4}) {
    Encoder encoder(config_of(32, 32, threads));
    int sent = 0;
    while (encoder.send(clip.frame(0))) ASSERT_LT(++sent, 1000) << "never full";
    EXPECT_GE(sent, 1);
    EXPECT_FALSE(encoder.send(clip.frame(0)));
    const auto packet = encoder.receive();
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet->index, 0u);
    EXPECT_TRUE(encoder.send(clip.frame(0))) << "a packet was taken, so there is room";
  }
}

TEST(Session, FlushWithoutFramesEndsAtOnce) {
  Encoder encoder(config_of(32, 32));
  EXPECT_FALSE(encoder.receive());
  encoder.flush();
  EXPECT_FALSE(encoder.receive());
  encoder.flush();
  EXPECT_FALSE(encoder.receive());
}

TEST(Session, FlushHandsOutEverythingOnce) {
  const Clip clip(32, 32, 1);
  Encoder encoder(config_of(32, 32, 3));
  int sent = 0;
  while (encoder.send(clip.frame(0))) ++sent;
  encoder.flush();
  for (int n = 0; n < sent; ++n) EXPECT_TRUE(encoder.receive()) << n << " of " << sent;
  EXPECT_FALSE(encoder.receive());
}

TEST(Session, MayBeDestroyedOrMovedWithPicturesInFlight) {
  const Clip clip(64, 64, 1);
  for (const int threads : {1, 2, 4}) {
    Encoder encoder(config_of(64, 64, threads));
    while (encoder.send(clip.frame(0))) {
    }
    Encoder moved = std::move(encoder);
    EXPECT_TRUE(moved.receive());
    moved = Encoder(config_of(32, 32));
    EXPECT_FALSE(moved.receive());
  }
}

TEST(Session, AnEncoderThatWasMovedFromThrows) {
  const Clip clip(48, 48, 1);
  Encoder encoder(config_of(48, 48));
  const Encoder moved = std::move(encoder);
  error_of(ErrorCode::invalid_argument, [&] { encoder.send(clip.frame(0)); });
  error_of(ErrorCode::invalid_argument, [&] { encoder.receive(); });
  error_of(ErrorCode::invalid_argument, [&] { encoder.flush(); });
  error_of(ErrorCode::invalid_argument, [&] { (void)encoder.info(); });
  error_of(ErrorCode::invalid_argument, [&] { (void)encoder.headers(); });
  EXPECT_EQ(moved.info().width, 48);
}

TEST(Session, TheFrameMayBeReusedOnceSent) {
  const Clip clip(48, 48, 3);
  const auto expected = encode(clip, config_of(48, 48));
  Encoder encoder(config_of(48, 48, 4));
  std::vector<Packet> packets;
  std::vector<std::uint8_t> memory(48 * 48 * 3 / 2);
  for (int n = 0; n < 3; ++n) {
    Frame frame = clip.frame(n);
    std::copy(frame.plane[0], frame.plane[0] + memory.size(), memory.begin());
    frame.plane[0] = memory.data();
    frame.plane[1] = memory.data() + 48 * 48;
    frame.plane[2] = frame.plane[1] + 24 * 24;
    while (!encoder.send(frame)) packets.push_back(*encoder.receive());
    std::fill(memory.begin(), memory.end(), std::uint8_t{0});
  }
  encoder.flush();
  while (auto packet = encoder.receive()) packets.push_back(*packet);
  ASSERT_EQ(packets.size(), 3u);
  for (std::size_t n = 0; n < 3; ++n) EXPECT_TRUE(packets[n].data == expected[n].data) << "picture " << n;
}

TEST(Session, HeadersGoWhereTheyAreAskedFor) {
  const Clip clip(32, 48, 3);
  Config config = config_of(32, 48);
  config.slices = 2;
  const std::vector<int> all = {7, 8, 6};
  for (const auto placement :
       {HeaderPlacement::first_packet, HeaderPlacement::every_packet, HeaderPlacement::separate}) {
    config.headers = placement;
    EXPECT_EQ(nal_types(Encoder(config).headers()), all);
    const auto packets = encode(clip, config);
    ASSERT_EQ(packets.size(), 3u);
    for (std::size_t n = 0; n < 3; ++n) {
      std::vector<int> expected;
      if (placement != HeaderPlacement::separate && n == 0) expected = all;
      if (placement == HeaderPlacement::every_packet && n > 0) expected = {7, 8};
      expected.insert(expected.end(), {5, 5});
      EXPECT_EQ(nal_types(packets[n].data), expected) << "picture " << n;
      EXPECT_TRUE(starts_with_long_code(packets[n].data)) << "picture " << n;
    }
  }
}

TEST(Session, ReconstructionIsOfTheDecodedSizeAndOnlyOnDemand) {
  const Clip clip(35, 17, 2);
  Config config = config_of(35, 17);
  EXPECT_TRUE(encode(clip, config)[0].reconstruction.empty());
  config.reconstruction = true;
  EXPECT_EQ(encode(clip, config)[1].reconstruction.size(), 36u * 18u * 3u / 2u);
}

// At QP 0 the reconstruction is very close to the source, which shows that the planes are in their places.
TEST(Session, ReconstructionResemblesTheSource) {
  const Clip clip(48, 32, 1);
  Config config = config_of(48, 32);
  config.qp = 0;
  config.reconstruction = true;
  const auto packets = encode(clip, config);
  const Frame source = clip.frame(0);
  for (int i = 0; i < 48 * 32 * 3 / 2; ++i) {
    ASSERT_NEAR(packets[0].reconstruction[static_cast<std::size_t>(i)], source.plane[0][i], 3)
        << "sample " << i;
  }
}

TEST(Session, InfoSaysWhatWasChosen) {
  Config config = config_of(34, 18);
  config.profile = cu264::Profile::automatic;
  Encoder even(config);
  EXPECT_EQ(even.info().backend, "cpu");
  EXPECT_EQ(even.info().backend_reason, "asked for");
  EXPECT_EQ(even.info().profile, "high");
  EXPECT_TRUE(even.info().cabac);
  EXPECT_EQ(even.info().profile_reason, "nothing needs CAVLC");
  EXPECT_EQ(even.info().batch, 1);
  EXPECT_EQ(even.info().level_idc, 10);
  EXPECT_TRUE(even.info().warnings.empty());
  Encoder odd(config_of(35, 17));
  EXPECT_EQ(odd.info().width, 36);
  EXPECT_EQ(odd.info().height, 18);
  ASSERT_EQ(odd.info().warnings.size(), 2u);
  EXPECT_EQ(odd.info().warnings[0], "width 35 is coded as 36, one replicated sample");
  EXPECT_EQ(odd.info().warnings[1], "height 17 is coded as 18, one replicated sample");
  Config fast = config_of(64, 64);
  fast.frame_rate = {100000000, 1};
  ASSERT_EQ(Encoder(fast).info().warnings.size(), 1u);
  EXPECT_EQ(Encoder(fast).info().level_idc, 62);
}

TEST(Session, OpenRefuses) {
  Config config = config_of(64, 64);
  config.device_output = true;
  error_of(ErrorCode::unsupported, [&] { Encoder encoder(config); });
  config.device_output = false;
  const cu264::entropy::EntropyKernel kernel{};  // only the CUDA backend has one
  error_of(ErrorCode::unsupported, [&] { cu264::encoder::EncoderAccess::open(config, &kernel); });
  config.backend = cu264::BackendChoice::cuda;
  config.devices = {63};  // no machine has so many devices
  error_of(ErrorCode::device_unavailable, [&] { Encoder encoder(config); });
  config.backend = cu264::BackendChoice::automatic;  // a caller who names a device does not want the CPU
  error_of(ErrorCode::device_unavailable, [&] { Encoder encoder(config); });
  error_of(ErrorCode::invalid_argument, [] { Encoder encoder(config_of(0, 64)); });
}

TEST(Session, AllFramesHaveOneFormat) {
  const Clip clip(32, 32, 2);
  Encoder encoder(config_of(32, 32));
  Frame rgb = clip.frame(0);
  rgb.format = cu264::PixelFormat::rgb24, rgb.pitch[0] = 96;
  error_of(ErrorCode::bad_input, [&] { encoder.send(rgb); });  // the headers do not describe a conversion
  EXPECT_TRUE(encoder.send(clip.frame(0)));
  Frame grey = clip.frame(1);
  grey.format = cu264::PixelFormat::gray8;
  error_of(ErrorCode::bad_input, [&] { encoder.send(grey); });
  Config config = config_of(32, 32);
  config.input_format = cu264::PixelFormat::gray8;
  Encoder grey_encoder(config);
  error_of(ErrorCode::bad_input, [&] { grey_encoder.send(clip.frame(0)); });
  EXPECT_TRUE(grey_encoder.send(grey));
}

TEST(Session, SendRefusesFramesThatCannotBeRead) {
  const Clip clip(32, 32, 1);
  Encoder encoder(config_of(32, 32));
  const std::pair<ErrorCode, std::function<void(Frame&)>> faults[] = {
      {ErrorCode::bad_input, [](Frame& f) { f.width = 30; }},
      {ErrorCode::bad_input, [](Frame& f) { f.height = 64; }},
      {ErrorCode::invalid_argument, [](Frame& f) { f.plane[2] = nullptr; }},
      {ErrorCode::invalid_argument, [](Frame& f) { f.pitch[0] = 31; }},
      {ErrorCode::invalid_argument, [](Frame& f) { f.pitch[1] = -15; }},
      {ErrorCode::invalid_argument, [](Frame& f) { f.format = cu264::PixelFormat::nv12, f.pitch[1] = 31; }},
      {ErrorCode::invalid_argument, [](Frame& f) { f.format = static_cast<cu264::PixelFormat>(100); }},
      {ErrorCode::unsupported, [](Frame& f) { f.memory = cu264::MemoryKind::device; }}};
  for (const auto& [code, spoil] : faults) {
    Frame frame = clip.frame(0);
    spoil(frame);
    const std::string what = error_of(code, [&, f = frame] { encoder.send(f); });
    EXPECT_NE(what.find('('), std::string::npos) << "no remedy: " << what;
  }
}

}  // namespace
