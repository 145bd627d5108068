// Memory that callers give back: packets take it, a limit holds, and no old byte gets into a packet.
#include "encoder/packet_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "cu264/encoder.h"
#include "support/encode.h"
#include "support/picture.h"

namespace cu264 {
namespace {

using encoder::PacketMemory;

TEST(PacketMemory, GivesWhatItWasGiven) {
  PacketMemory memory;
  std::vector<std::uint8_t> first = memory.take(1000);
  EXPECT_TRUE(first.empty());
  EXPECT_GE(first.capacity(), 1000u);
  first.assign(700, 7);
  const std::uint8_t* const where = first.data();
  memory.give(std::move(first));
  const std::vector<std::uint8_t> again = memory.take(1000);
  EXPECT_EQ(again.data(), where);
  EXPECT_TRUE(again.empty());
  EXPECT_NE(memory.take(1000).data(), where);
}

TEST(PacketMemory, GrowsWhatIsTooSmall) {
  PacketMemory memory;
  for (std::size_t bytes = 100; bytes < 1000000; bytes = bytes * 3 / 2) {
    std::vector<std::uint8_t> buffer = memory.take(bytes);
    ASSERT_TRUE(buffer.empty());
    ASSERT_GE(buffer.capacity(), bytes);
    memory.give(std::move(buffer));
  }
}

TEST(PacketMemory, KeepsNoMoreThanItsLimit) {
  constexpr std::size_t kSize = std::size_t{1} << 20, kKept = PacketMemory::kMostBytes / kSize;
  PacketMemory memory;
  std::vector<std::vector<std::uint8_t>> all(kKept + 10);
  std::set<const std::uint8_t*> places;
  for (std::vector<std::uint8_t>& buffer : all) {
    buffer.reserve(kSize);
    places.insert(buffer.data());
  }
  for (std::size_t i = 0; i < kKept; ++i) memory.give(std::move(all[i]));
  memory.give(std::move(all[kKept]));  // is freed
  std::vector<std::vector<std::uint8_t>> taken;
  for (std::size_t i = 0; i < kKept; ++i) taken.push_back(memory.take(kSize));
  for (const std::vector<std::uint8_t>& buffer : taken) EXPECT_EQ(places.count(buffer.data()), 1u);
  memory.give({});  // is nothing
  EXPECT_EQ(memory.take(0).capacity(), 0u);
}

// The buffers that are given back are full of other bytes, and larger and smaller than the packets.
TEST(PacketMemory, PacketsAreTheSameInIt) {
  Config config;
  config.width = 80, config.height = 48;
  config.preset = Preset::fast, config.backend = BackendChoice::cpu, config.threads = 2;
  for (const bool controlled : {false, true}) {
    if (controlled) config.bitrate = 300000, config.cbr = true, config.lookahead = 2;
    std::vector<std::vector<std::uint8_t>> expected;
    for (const bool recycles : {false, true}) {
      Encoder encoder(config);
      std::vector<std::vector<std::uint8_t>> found;
      const auto take = [&](Packet packet) {
        found.push_back(packet.data);
        if (!recycles) return;
        std::fill(packet.data.begin(), packet.data.end(), std::uint8_t{0xa5});
        if (found.size() % 3 == 0) packet.data.assign(5000 * (found.size() % 4), 0xa5);
        encoder.recycle(std::move(packet));
      };
      for (std::uint32_t i = 0; i < 24; ++i) {
        const auto content = i % 4 == 0 ? test::Content::noise : test::Content::natural;
        const test::Picture picture = test::make_picture(content, 80, 48, i);
        const test::FrameBuffer frame(picture, PixelFormat::i420);
        while (!encoder.send(frame.view())) {
          if (auto packet = encoder.receive()) take(std::move(*packet));
        }
      }
      encoder.flush();
      while (auto packet = encoder.receive()) take(std::move(*packet));
      EXPECT_EQ(found.size(), 24u);
      if (recycles) {
        EXPECT_TRUE(found == expected);
      }
      expected = std::move(found);
    }
  }
}

}  // namespace
}  // namespace cu264
