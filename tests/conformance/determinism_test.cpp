// The bytes are the same for any number of threads, in every run, and with other encoders at work.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/stream_check.h"

namespace cu264::test {
namespace {

using Cell = std::tuple<Preset, int>;
class Determinism : public testing::TestWithParam<Cell> {
 protected:
  static std::vector<Picture> pictures() {
    std::vector<Picture> all;
    for (std::uint32_t seed = 0; seed < 9; ++seed) {
      all.push_back(make_picture(seed % 3 == 2 ? Content::graded_noise : Content::natural, 112, 80, seed));
    }
    return all;
  }
  static Config config(int threads) {
    const auto [preset, slices] = GetParam();
    Config config = make_config(24, preset, slices);
    config.threads = threads;
    return config;
  }
};

TEST_P(Determinism, ThreadsChangeNothing) {
  const std::vector<Picture> sources = pictures();
  const EncodedStream one = encode(config(1), sources);
  check_stream(config(1), one, sources);
  for (const int threads : {1, 2, 3, 7, 0}) {
    const EncodedStream other = encode(config(threads), sources);
    ASSERT_EQ(other.packets.size(), one.packets.size());
    for (std::size_t i = 0; i < one.packets.size(); ++i) {
      EXPECT_EQ(other.packets[i].data == one.packets[i].data, true) << threads << " threads, picture " << i;
      EXPECT_EQ(other.packets[i].reconstruction == one.packets[i].reconstruction, true)
          << threads << " threads, picture " << i;
    }
  }
}

TEST_P(Determinism, EncodersSideBySide) {
  const std::vector<Picture> sources = pictures();
  const std::vector<std::uint8_t> expected = encode(config(1), sources).bytes();
  std::vector<std::uint8_t> results[3];
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = encode(config(2), sources).bytes(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result == expected, true);
}

INSTANTIATE_TEST_SUITE_P(Presets, Determinism,
                         testing::Combine(testing::ValuesIn(kPresets), testing::Values(1, 2, 5)),
                         [](const testing::TestParamInfo<Cell>& cell) {
                           return std::string(name_of(std::get<0>(cell.param))) + "_" +
                                  std::to_string(std::get<1>(cell.param)) + "_slices";
                         });

// Calls of send() may outrun those of receive(): nothing is lost, and nothing comes that was not asked for.
TEST(Flow, PacketsComeInOrderHoweverTheyAreAskedFor) {
  const std::vector<Picture> sources(12, make_picture(Content::natural, 64, 64));
  Config config = make_config(30, Preset::fast);
  config.width = config.height = 64;
  config.threads = 2;
  const std::vector<std::uint8_t> expected = encode(config, sources).bytes();
  Encoder encoder(config);
  std::vector<std::uint8_t> bytes;
  const auto take = [&](const Packet& packet) {
    EXPECT_TRUE(packet.reconstruction.empty()) << "nobody asked for it";
    bytes.insert(bytes.end(), packet.data.begin(), packet.data.end());
  };
  for (const Picture& picture : sources) {
    const FrameBuffer buffer(picture, PixelFormat::i420);
    while (!encoder.send(buffer.view())) take(encoder.receive().value());
    if (auto early = encoder.receive()) take(*early);
  }
  encoder.flush();
  while (auto packet = encoder.receive()) take(*packet);
  EXPECT_FALSE(encoder.receive().has_value());
  EXPECT_EQ(bytes == expected, true);
}

TEST(Flow, NoPicturesNoPackets) {
  Config config = make_config(30, Preset::fast);
  config.width = config.height = 16;
  Encoder encoder(config);
  encoder.flush();
  EXPECT_FALSE(encoder.receive().has_value());
}

// Destroying an encoder that is still at work neither hangs nor crashes.
TEST(Flow, AnEncoderMayBeLeftInTheMiddle) {
  const Picture picture = make_picture(Content::natural, 256, 256);
  for (int sent = 0; sent < 4; ++sent) {
    Config config = make_config(20, Preset::best);
    config.width = config.height = 256;
    config.threads = 2;
    Encoder encoder(config);
    const FrameBuffer buffer(picture, PixelFormat::i420);
    for (int i = 0; i < sent; ++i) encoder.send(buffer.view());
  }
}

}  // namespace
}  // namespace cu264::test
