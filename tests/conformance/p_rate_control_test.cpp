// Rate control of streams with P pictures: what holds of sizes and of the buffer, that bytes depend on
// nothing but pictures and configuration, and that libavcodec decodes pictures that were coded again, and
// what comes after pictures that were left out, to exactly the encoder's reconstruction.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cu264/stream_group.h"
#include "support/encode.h"
#include "tests/conformance/stream_check.h"
#include "tests/support/error_of.h"
#include "tests/support/moving_pictures.h"
#include "tests/support/quick.h"
#include "tests/support/rate_checks.h"

namespace cu264::test {
namespace {

constexpr int kWidth = 96, kHeight = 80;
constexpr int kGops[] = {8, 30, 0};

// Motion that begins and ends, with cuts between.
const std::vector<Picture>& clip() {
  static const std::vector<Picture> pictures = [] {
    std::vector<Picture> all;
    const auto add = [&](Motion motion, int count, std::uint32_t seed) {
      for (Picture& picture : make_clip(motion, kWidth, kHeight, count, seed))
        all.push_back(std::move(picture));
    };
    add(Motion::slow, 23, 1), add(Motion::still, 9, 2), add(Motion::noise, 2, 3);
    add(Motion::objects, 20, 4), add(Motion::noisy, 14, 5), add(Motion::fade, 7, 6);
    return all;
  }();
  return pictures;
}

std::vector<RateMode> modes_with(int gop) {
  std::vector<RateMode> modes = rate_modes(kWidth, kHeight);
  for (RateMode& mode : modes) {
    Config& config = mode.config;
    config.gop = gop, config.backend = BackendChoice::cpu;
    config.bitrate /= 2, config.max_bitrate /= 2;
  }
  return modes;
}

// Every mode with every length of GOPs; in a quick run every mode with one of them, each of which has as many
// modes.
std::vector<RateMode> cases() {
  std::vector<RateMode> chosen;
  for (std::size_t g = 0; g < std::size(kGops); ++g) {
    std::size_t index = 0;
    for (RateMode& mode : modes_with(kGops[g])) {
      if (!quick() || index++ % std::size(kGops) == g) chosen.push_back(std::move(mode));
    }
  }
  return chosen;
}

std::string name_of(const RateMode& mode) {
  return std::string(mode.name) + ", gop " + std::to_string(mode.config.gop);
}

// As encode(), where packets may be missing.
EncodedStream encode_what_fits(Config config, const std::vector<Picture>& pictures) {
  config.width = kWidth, config.height = kHeight, config.reconstruction = true;
  Encoder encoder(config);
  EncodedStream stream;
  stream.info = encoder.info();
  stream.packets = encode_with_rate(encoder, pictures);
  return stream;
}

void expect_sizes_that_were_asked_for(const Config& config, const EncodedStream& stream) {
  for (const Packet& packet : stream.packets) {
    const auto bytes = static_cast<std::int64_t>(packet.data.size());
    ASSERT_TRUE(config.max_frame_bytes == 0 || bytes <= config.max_frame_bytes) << bytes;
    ASSERT_TRUE(config.frame_bytes == 0 || bytes == config.frame_bytes) << bytes;
  }
  if (config.bitrate == 0) return;
  const auto rate = static_cast<double>(config.max_bitrate > 0 ? config.max_bitrate : config.bitrate);
  const double buffer = config.buffer_bits > 0 ? static_cast<double>(config.buffer_bits) : rate;
  const BucketFault fault = leaky_bucket(stream.packets, rate / 25, buffer, config.cbr);
  EXPECT_EQ(fault.picture, -1) << fault.what;
}

// frame_num of the pictures that are there counts from each key picture, without gaps: the decoder would say
// so.
TEST(PRateControl, DecodesToTheReconstructionAndHasTheSizesAskedFor) {
  std::size_t again = 0;
  const std::vector<RateMode> modes = cases();
  for (const RateMode& mode : modes) {
    SCOPED_TRACE(name_of(mode));
    const EncodedStream stream = encode(mode.config, clip());
    ASSERT_EQ(stream.packets.size(), clip().size());
    check_decoded(mode.config, stream);
    expect_sizes_that_were_asked_for(mode.config, stream);
    for (const Packet& packet : stream.packets) again += packet.stats.codings > 1;
  }
  EXPECT_GT(again, 2 * modes.size()) << "hardly anything was coded again";
}

TEST(PRateControl, ThreadsAndStreamsDoNotMatter) {
  const std::vector<RateMode> modes = cases();
  StreamGroupConfig group_config;
  group_config.backend = BackendChoice::cpu, group_config.threads = 2;
  StreamGroup group(group_config);
  std::vector<StreamGroup::Stream> streams;
  for (const RateMode& mode : modes) streams.push_back(group.open(mode.config));
  std::vector<std::vector<Packet>> packets(modes.size());
  for (std::size_t n = 0; n < clip().size(); ++n) {
    const FrameBuffer frame(clip()[n], PixelFormat::i420);
    for (std::size_t s = 0; s < streams.size(); ++s) {
      while (!group.submit(streams[s], frame.view(), std::chrono::milliseconds(1))) {
        if (auto packet = group.receive(streams[s], std::chrono::milliseconds(1)))
          packets[s].push_back(std::move(*packet));
      }
    }
  }
  for (std::size_t s = 0; s < streams.size(); ++s) {
    group.flush(streams[s]);
    while (auto packet = group.receive(streams[s], std::chrono::seconds(60)))
      packets[s].push_back(std::move(*packet));
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(name_of(modes[s]) + ", threads " + std::to_string(threads));
      Config config = modes[s].config;
      config.threads = threads;
      Encoder encoder(config);
      const std::vector<Packet> alone = encode_with_rate(encoder, clip());
      ASSERT_EQ(packets[s].size(), alone.size());
      for (std::size_t n = 0; n < alone.size(); ++n) ASSERT_EQ(packets[s][n].data, alone[n].data) << n;
    }
  }
}

// A live stream waits for no picture after the one that it sent.
TEST(PRateControl, APacketComesBeforeTheNextFrame) {
  Config config = modes_with(8)[1].config;
  config.lookahead = 0;
  Encoder encoder(config);
  for (std::size_t n = 0; n < 20; ++n) {
    const FrameBuffer frame(clip()[n], PixelFormat::i420);
    ASSERT_TRUE(encoder.send(frame.view()));
    const auto packet = encoder.receive(std::chrono::seconds(60));
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet->index, n);
  }
}

// A bitrate and a buffer change within a GOP: their parameter sets begin a new one.
TEST(PRateControl, GopsBeginWhereTheyAreAskedToAndWhereTheBufferChanges) {
  for (const RateMode& mode : modes_with(12)) {
    if (mode.config.bitrate == 0) continue;
    SCOPED_TRACE(mode.name);
    Config config = mode.config;
    config.reconstruction = true;
    Encoder encoder(config);
    EncodedStream stream;
    stream.info = encoder.info();
    for (std::size_t n = 0; n < 23; ++n) {
      if (n == 9) {
        ConfigChanges changes;
        changes.bitrate = config.bitrate * 2 / 3;
        if (config.max_bitrate > 0) changes.max_bitrate = config.max_bitrate * 2 / 3;
        encoder.reconfigure(changes);
      }
      const FrameBuffer buffer(clip()[n], PixelFormat::i420);
      Frame frame = buffer.view();
      frame.key = n == 4;
      while (!encoder.send(frame)) stream.packets.push_back(*encoder.receive());
    }
    encoder.flush();
    while (auto packet = encoder.receive()) stream.packets.push_back(std::move(*packet));
    ASSERT_EQ(stream.packets.size(), 23u);
    for (const Packet& packet : stream.packets)
      EXPECT_EQ(packet.key, packet.index == 0 || packet.index == 4 || packet.index == 9 || packet.index == 21)
          << packet.index;
    check_decoded(config, stream);
  }
}

// What comes after pictures that were left out is predicted from the last one that was not; a key picture's
// place is taken by the next picture.
TEST(PRateControl, PicturesThatAreLeftOutLeaveNoGap) {
  for (const int gop : kGops) {
    for (const HeaderPlacement headers : {HeaderPlacement::first_packet, HeaderPlacement::every_packet}) {
      SCOPED_TRACE("gop " + std::to_string(gop));
      Config config = modes_with(gop)[0].config;
      config.crf.reset(), config.qp = 30;
      config.headers = headers;
      config.max_frame_bytes = 560, config.on_overflow = OnOverflow::drop;  // noise has more at QP 51
      const std::vector<Picture> pictures = cuts_of(kWidth, kHeight, 70);
      const EncodedStream stream = encode_what_fits(config, pictures);
      EXPECT_LT(stream.packets.size(), pictures.size());
      EXPECT_GT(stream.packets.size(), pictures.size() / 3);
      check_decoded(config, stream);
      config.on_overflow = OnOverflow::error;
      EXPECT_NE(
          error_of(ErrorCode::encode_failure, [&] { encode_what_fits(config, pictures); }).find("at QP 51"),
          std::string::npos);
    }
  }
}

TEST(PRateControl, ABitrateIsMet) {
  QuickCases quick_cases(5);  // the first and the last
  for (const int gop : kGops) {
    for (const int lookahead : {0, 40}) {
      if (quick_cases.leave_out()) continue;
      SCOPED_TRACE("gop " + std::to_string(gop) + ", lookahead " + std::to_string(lookahead));
      Config config = modes_with(gop)[1].config;
      config.lookahead = lookahead, config.bitrate = 400000;
      std::vector<Picture> pictures = make_clip(Motion::noisy, kWidth, kHeight, 240, 9);
      double bits = 0;
      const EncodedStream stream = encode(config, pictures);
      for (const Packet& packet : stream.packets) bits += 8.0 * static_cast<double>(packet.data.size());
      // 30 % of a second's, and a key picture that is not yet paid back.
      EXPECT_NEAR(bits / (400000 * 240 / 25.0), 1, lookahead > 0 ? 0.01 : 0.03);
    }
  }
}

// Key pictures have a lower QP, and P pictures far fewer bits.
TEST(PRateControl, QualityCostsFewerBits) {
  const std::vector<Picture> pictures = make_clip(Motion::slow, kWidth, kHeight, 24);
  Config config = modes_with(8)[0].config;
  const EncodedStream stream = encode(config, pictures);
  double key_qp = 0, p_qp = 0;
  for (const Packet& packet : stream.packets)
    (packet.key ? key_qp : p_qp) += packet.stats.mean_qp / (packet.key ? 3 : 21);
  EXPECT_NEAR(p_qp - key_qp, kKeyPictureQpOffset, 0.3);
  config.gop = 1;
  EXPECT_LT(2 * stream.bytes().size(), encode(config, pictures).bytes().size());
}

}  // namespace
}  // namespace cu264::test
