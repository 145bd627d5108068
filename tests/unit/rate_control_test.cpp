// Rate control through Encoder and StreamGroup on the CPU: what holds of sizes, that bytes depend on nothing
// but pictures and configuration, and that protection, clips and changes work with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "cu264/stream_group.h"
#include "encoder/config.h"
#include "encoder/stream_params.h"
#include "support/encode.h"
#include "tests/support/error_of.h"
#include "tests/support/rate_checks.h"

namespace {

using namespace cu264;
using namespace cu264::test;

constexpr int kWidth = 96, kHeight = 80;

const std::vector<Picture>& clip() {
  static const std::vector<Picture> pictures = cuts_of(kWidth, kHeight, 70);
  return pictures;
}

std::vector<Packet> encode_alone(Config config, int threads = 2) {
  config.backend = BackendChoice::cpu, config.threads = threads;
  Encoder encoder(config);
  return encode_with_rate(encoder, clip());
}

// The clip in one of the modes as they are, which several tests compare with.
const std::vector<Packet>& coded(const RateMode& mode) {
  static std::map<std::string, std::vector<Packet>> of_modes;
  std::vector<Packet>& packets = of_modes[mode.name];
  if (packets.empty()) packets = encode_alone(mode.config);
  return packets;
}

void expect_same(const std::vector<Packet>& packets, const std::vector<Packet>& expected,
                 const std::string& what) {
  ASSERT_EQ(packets.size(), expected.size()) << what;
  for (std::size_t n = 0; n < packets.size(); ++n) {
    ASSERT_EQ(packets[n].index, expected[n].index) << what;
    ASSERT_EQ(packets[n].data, expected[n].data) << what << ", picture " << n;
    EXPECT_EQ(packets[n].stats.codings, expected[n].stats.codings) << what << ", picture " << n;
    EXPECT_EQ(packets[n].stats.buffer_bits, expected[n].stats.buffer_bits) << what << ", picture " << n;
  }
}

TEST(RateControl, ThreadsAndStreamsDoNotMatter) {
  StreamGroupConfig group_config;
  group_config.backend = BackendChoice::cpu, group_config.threads = 2;
  StreamGroup group(group_config);
  std::vector<StreamGroup::Stream> streams;
  const auto modes = rate_modes(kWidth, kHeight);
  for (const RateMode& mode : modes) streams.push_back(group.open(mode.config));
  std::vector<std::vector<Packet>> packets(modes.size());
  for (std::size_t n = 0; n <= clip().size(); ++n) {
    for (std::size_t s = 0; s < streams.size(); ++s) {
      if (n == clip().size()) {
        group.flush(streams[s]);
      } else {
        const FrameBuffer frame(clip()[n], PixelFormat::i420);
        while (!group.submit(streams[s], frame.view(), std::chrono::milliseconds(1))) {
          if (auto packet = group.receive(streams[s], std::chrono::milliseconds(1)))
            packets[s].push_back(std::move(*packet));
        }
      }
    }
  }
  for (std::size_t s = 0; s < streams.size(); ++s) {
    while (auto packet = group.receive(streams[s], std::chrono::seconds(60)))
      packets[s].push_back(std::move(*packet));
    const auto expected = encode_alone(modes[s].config, 1);
    expect_same(packets[s], expected, std::string("group, ") + modes[s].name);
    expect_same(coded(modes[s]), expected, modes[s].name);
  }
}

TEST(RateControl, SizesAreWhatWasAskedFor) {
  int again = 0;
  for (const RateMode& mode : rate_modes(kWidth, kHeight)) {
    const auto& packets = coded(mode);
    const Config& config = mode.config;
    for (const Packet& packet : packets) {
      const auto bytes = static_cast<std::int64_t>(packet.data.size());
      ASSERT_TRUE(config.max_frame_bytes == 0 || bytes <= config.max_frame_bytes) << bytes;
      ASSERT_TRUE(config.frame_bytes == 0 || bytes == config.frame_bytes) << bytes;
      EXPECT_GE(packet.stats.mean_qp, packet.stats.qp);
      EXPECT_EQ(packet.stats.buffer_bits >= 0, config.bitrate > 0) << mode.name;
      again += packet.stats.codings > 1;
    }
    if (config.bitrate == 0) continue;
    const auto rate = static_cast<double>(config.max_bitrate > 0 ? config.max_bitrate : config.bitrate);
    const double buffer = config.buffer_bits > 0 ? static_cast<double>(config.buffer_bits) : rate;
    const BucketFault fault = leaky_bucket(packets, rate / 25, buffer, config.cbr);
    EXPECT_EQ(fault.picture, -1) << mode.name << ": " << fault.what;
  }
  EXPECT_GT(again, 5) << "hardly anything was coded again";
}

// Encryption and marks number pictures, however often one is coded.
TEST(RateControl, ProtectionWorks) {
  for (RateMode mode : rate_modes(kWidth, kHeight)) {
    mode.config.encryption = EncoderEncryption{ProtectionKey::random(), encryption_strength(2)};
    if (mode.config.bitrate == 0) {
      mode.config.watermark = EncoderWatermark{ProtectionKey::random(), {1}};
    }
    const auto packets = encode_alone(mode.config);
    ASSERT_EQ(packets.size(), clip().size()) << mode.name;
    for (const Packet& packet : packets) {
      const auto bytes = static_cast<std::int64_t>(packet.data.size());
      EXPECT_TRUE(mode.config.frame_bytes == 0 || bytes == mode.config.frame_bytes) << bytes;
    }
  }
}

TEST(RateControl, ClipsFollowOneAnother) {
  for (RateMode mode : rate_modes(kWidth, kHeight)) {
    mode.config.backend = BackendChoice::cpu, mode.config.threads = 2;
    Encoder encoder(mode.config);
    const auto first = encode_with_rate(encoder, clip());
    expect_same(encode_with_rate(encoder, clip()), first, mode.name);
  }
}

// drain() waits for packets and changes none of them, unless pictures look at those after a drain: then the
// bytes follow from where it is.
TEST(RateControl, DrainingChangesNothingButWhatIsLookedAt) {
  const std::vector<std::size_t> drained = {0, 1, 2, 9, 40, 69};
  for (RateMode mode : rate_modes(kWidth, kHeight)) {
    const bool looks_ahead = encoder::coded_lookahead(mode.config) > 0;
    const auto& whole = coded(mode);
    mode.config.backend = BackendChoice::cpu, mode.config.threads = 1;
    Encoder first(mode.config);
    const auto expected = looks_ahead ? encode_draining(first, clip(), drained) : whole;
    const bool same = std::equal(whole.begin(), whole.end(), expected.begin(), expected.end(),
                                 [](const Packet& a, const Packet& b) { return a.data == b.data; });
    EXPECT_EQ(same, !looks_ahead) << mode.name;
    mode.config.threads = 2;
    Encoder encoder(mode.config);
    for (int round = 0; round < 2; ++round)
      expect_same(encode_draining(encoder, clip(), drained), expected, mode.name);
  }
}

// As many pictures are held as are looked at, whatever the batch, and given back when the clip ends.
TEST(RateControl, PacketsComeAfterTheLookAhead) {
  for (const int lookahead : {0, 1, 6}) {
    Config config = rate_modes(kWidth, kHeight)[1].config;
    config.backend = BackendChoice::cpu, config.threads = 1, config.lookahead = lookahead;
    Encoder encoder(config);
    for (std::size_t n = 0; n < 20; ++n) {
      const FrameBuffer frame(clip()[n], PixelFormat::i420);
      ASSERT_TRUE(encoder.send(frame.view()));
      const auto packet = encoder.receive(std::chrono::seconds(60));
      ASSERT_EQ(packet.has_value(), n >= static_cast<std::size_t>(lookahead)) << n << ", " << lookahead;
      EXPECT_EQ(packet ? packet->index : 0,
                n < static_cast<std::size_t>(lookahead) ? 0 : n - static_cast<std::size_t>(lookahead));
    }
    encoder.flush();
    for (int n = 0; n < lookahead; ++n) EXPECT_TRUE(encoder.receive());
    EXPECT_FALSE(encoder.receive());
  }
}

// Without a bitrate nothing is looked at, and nothing is held for it.
TEST(RateControl, OtherModesDoNotLookAhead) {
  for (RateMode mode : rate_modes(kWidth, kHeight)) {
    if (mode.config.bitrate > 0) continue;
    const auto expected = encode_alone(mode.config);
    mode.config.lookahead = 30;
    EXPECT_EQ(encoder::stream_params(mode.config).pacing.lookahead, 0) << mode.name;
    expect_same(encode_alone(mode.config), expected, mode.name);
  }
}

// A clip that is shorter than the look-ahead, and one that ends while a bitrate has just changed.
TEST(RateControl, ShortClipsAndChangesAheadDoNotDependOnThreads) {
  for (const RateMode& mode : rate_modes(kWidth, kHeight)) {
    if (encoder::coded_lookahead(mode.config) == 0) continue;
    std::vector<std::vector<Packet>> results;
    for (const int threads : {1, 2, 3}) {
      Config config = mode.config;
      config.backend = BackendChoice::cpu, config.threads = threads;
      Encoder encoder(config);
      std::vector<Packet> packets;
      for (std::size_t n = 0; n < 30; ++n) {
        if (n == 20) {
          ConfigChanges changes;
          changes.bitrate = config.bitrate / 2;
          encoder.reconfigure(changes);
        }
        const FrameBuffer frame(clip()[n], PixelFormat::i420);
        while (!encoder.send(frame.view())) packets.push_back(encoder.receive().value());
        if (threads == 3) {  // takes what is there
          while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
        }
      }
      encoder.flush();
      while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
      ASSERT_EQ(packets.size(), 30u);
      results.push_back(std::move(packets));
    }
    for (const auto& packets : results) expect_same(packets, results[0], mode.name);
  }
}

// A stream of a group that waits for pictures to come delays no other, and is closed in the middle.
TEST(RateControl, StreamsThatLookAheadDoNotDelayOthers) {
  StreamGroupConfig group_config;
  group_config.backend = BackendChoice::cpu, group_config.threads = 2;
  StreamGroup group(group_config);
  Config waits = rate_modes(kWidth, kHeight)[1].config, blind = waits;
  blind.lookahead = 0;
  for (int round = 0; round < 3; ++round) {
    const auto held = group.open(waits), prompt = group.open(blind);
    for (std::size_t n = 0; n < 10; ++n) {
      const FrameBuffer frame(clip()[n], PixelFormat::i420);
      ASSERT_TRUE(group.submit(held, frame.view(), std::chrono::seconds(60)));
      ASSERT_TRUE(group.submit(prompt, frame.view(), std::chrono::seconds(60)));
      const auto packet = group.receive(prompt, std::chrono::seconds(60));
      ASSERT_TRUE(packet) << n;
      EXPECT_EQ(packet->index, n);
    }
    EXPECT_FALSE(group.receive(held));
    if (round == 1) {
      group.flush(held);
      for (std::size_t n = 0; n < 10; ++n) {
        const auto packet = group.receive(held, std::chrono::seconds(60));
        ASSERT_TRUE(packet) << n;
        EXPECT_EQ(packet->index, n);
      }
    }
    if (round < 2) group.close(held);
    group.close(prompt);
  }
}

TEST(RateControl, DrainHandsOutEverythingBeforeItTakesMore) {
  Config config = rate_modes(kWidth, kHeight)[0].config;
  config.backend = BackendChoice::cpu, config.threads = 2;
  Encoder encoder(config);
  encoder.drain();
  EXPECT_FALSE(encoder.receive());
  const FrameBuffer frame(clip()[0], PixelFormat::i420);
  ASSERT_TRUE(encoder.send(frame.view()));
  ASSERT_TRUE(encoder.send(frame.view()));
  encoder.drain();
  EXPECT_FALSE(encoder.send(frame.view())) << "packets are left";
  EXPECT_TRUE(encoder.receive(std::chrono::seconds(60)));
  EXPECT_TRUE(encoder.receive());
  EXPECT_FALSE(encoder.receive());
  ASSERT_TRUE(encoder.send(frame.view()));
  encoder.flush();
  const auto packet = encoder.receive();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->index, 2u) << "another clip began";
}

TEST(RateControl, ReconfigureChangesTheNextPicture) {
  Config config = rate_modes(kWidth, kHeight)[1].config;
  config.backend = BackendChoice::cpu, config.threads = 2;
  Encoder encoder(config);
  const Picture picture = make_picture(Content::natural, kWidth, kHeight);
  const FrameBuffer frame(picture, PixelFormat::i420);
  std::vector<Packet> packets;
  ConfigChanges changes;
  changes.bitrate = config.bitrate / 4;
  for (int n = 0; n < 80; ++n) {
    if (n == 40) encoder.reconfigure(changes);
    while (!encoder.send(frame.view())) {
      if (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
    }
  }
  encoder.flush();
  while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
  ASSERT_EQ(packets.size(), 80u);
  const double before = static_cast<double>(packets[39].data.size()),
               after = static_cast<double>(packets[41].data.size());
  EXPECT_NEAR(after / before, 0.25, 0.06);
  // A new buffer needs new parameter sets (the sequence parameter set's first bytes).
  const auto has_sps = [](const Packet& packet) { return packet.data[4] == 0x67; };
  for (const Packet& packet : packets)
    EXPECT_EQ(has_sps(packet), packet.index == 0 || packet.index == 40) << packet.index;

  ConfigChanges to_crf;
  to_crf.crf = 20;
  EXPECT_NE(error_of(ErrorCode::invalid_argument,
                     [&] {
                       encoder.send(frame.view());
                       encoder.reconfigure(to_crf);
                     })
                .find("within a clip"),
            std::string::npos);
}

TEST(RateControl, ConstantQpBecomesAnotherModeBetweenClips) {
  Config config = baseline_config();
  config.width = kWidth, config.height = kHeight, config.preset = Preset::fast;
  config.backend = BackendChoice::cpu, config.threads = 2;
  Encoder encoder(config);
  const auto plain = encode_with_rate(encoder, clip());
  ConfigChanges changes;
  changes.crf = 26.25;
  encoder.reconfigure(changes);
  expect_same(encode_with_rate(encoder, clip()), encode_alone(rate_modes(kWidth, kHeight)[0].config), "crf");
}

TEST(RateControl, PicturesThatCannotBeSmallEnoughEndOrAreLeftOut) {
  Config config;
  config.width = kWidth, config.height = kHeight, config.preset = Preset::fast;
  config.max_frame_bytes = 500;  // noise has more at QP 51
  config.headers = HeaderPlacement::separate;
  config.on_overflow = OnOverflow::drop;
  const auto packets = encode_alone(config);
  EXPECT_LT(packets.size(), clip().size());
  EXPECT_GT(packets.size(), clip().size() / 2);
  config.backend = BackendChoice::cpu;
  config.on_overflow = OnOverflow::error;
  Encoder encoder(config);
  const std::string message = error_of(ErrorCode::encode_failure, [&] { encode_with_rate(encoder, clip()); });
  EXPECT_NE(message.find("picture 14"), std::string::npos) << message;
  EXPECT_NE(message.find("bytes at QP 51"), std::string::npos) << message;
}

// With a batch that is given, this needs no device.
TEST(RateControl, FramesThatAreHeldCountAsMemory) {
  constexpr std::size_t kFrame = 1920 * 1080 * 3 / 2, kPiece = 4 << 20, kBatch = 64;
  for (const Profile profile : {Profile::baseline, Profile::high}) {
    Config config;
    config.width = 1920, config.height = 1080, config.batch = kBatch, config.profile = profile;
    MemoryRequirement plain, held, held_for_two;
    try {
      plain = memory_required(config);
      config.bitrate = 8000000;
      EXPECT_GE(memory_required(config).device, plain.device + (8 * kBatch + kDefaultLookahead) * kFrame);
      config.lookahead = 0;
      held = memory_required(config);
      config.devices = {0, 1};
      held_for_two = memory_required(config);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::device_unavailable) << error.what();
      GTEST_SKIP() << "the build has no CUDA backend";
    }
    // Four batches are in the backends, or five with CABAC, and four wait.
    const std::size_t frames = (profile == Profile::high ? 9 : 8) * kBatch;
    EXPECT_GE(held.device, plain.device + frames * kFrame);
    EXPECT_LE(held.device, plain.device + (frames + 6) * kPiece);
    EXPECT_GE(held_for_two.pinned, plain.pinned + frames * kFrame);
  }
}

TEST(RateControl, ImpossibleSettingsAreRefused) {
  const auto refuse = [](const std::function<void(Config&)>& change, const char* said) {
    Config config;
    config.width = kWidth, config.height = kHeight;
    change(config);
    const std::string message = error_of(ErrorCode::invalid_argument, [&] { encoder::validate(config); });
    EXPECT_NE(message.find(said), std::string::npos) << message;
  };
  refuse([](Config& c) { c.crf = 51.5; }, "0 to 51");
  refuse([](Config& c) { c.crf = 20, c.bitrate = 1000000; }, "use one of them");
  refuse([](Config& c) { c.bitrate = -1; }, "out of range");
  refuse([](Config& c) { c.bitrate = 1000000, c.lookahead = 251; }, "use 0 to 250");
  refuse([](Config& c) { c.lookahead = -1; }, "use 0 to 250");
  refuse([](Config& c) { c.bitrate = 2000000, c.max_bitrate = 1000000; }, "below the mean");
  refuse([](Config& c) { c.buffer_bits = 1000000; }, "unknown rate");
  refuse([](Config& c) { c.cbr = true; }, "needs a bitrate");
  refuse([](Config& c) { c.bitrate = 1000000, c.cbr = true, c.max_bitrate = 2000000; }, "is the bitrate");
  refuse([](Config& c) { c.bitrate = 1000000, c.buffer_bits = 30000; }, "at least 40001");
  refuse([](Config& c) { c.bitrate = 1000000, c.cbr = true, c.max_frame_bytes = 4000; }, "do not fill");
  refuse([](Config& c) { c.frame_bytes = 4000, c.max_frame_bytes = 4000; }, "every size");
  const auto drop = [](Config& c) { c.max_frame_bytes = 4000, c.on_overflow = OnOverflow::drop; };
  refuse(
      [&](Config& c) {
        drop(c);
        c.encryption = EncoderEncryption{ProtectionKey::random(), encryption_strength(1)};
      },
      "the finished stream");
  refuse(
      [&](Config& c) {
        drop(c), c.watermark = EncoderWatermark{ProtectionKey::random(), {1}};
      },
      "the finished stream");
  Config config;
  config.width = kWidth, config.height = kHeight;
  config.bitrate = 1000000, config.cbr = true, config.device_output = true;
  error_of(ErrorCode::unsupported, [&] { encoder::validate(config); });
}

}  // namespace
