// Packets own memory of their encoder's: later ones use it again, a limit holds, no old byte gets into a
// packet, and packets may live and die anywhere.
#include "encoder/packet_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "cu264/encoder.h"
#include "cu264/stream_group.h"
#include "support/encode.h"
#include "support/picture.h"

namespace cu264 {
namespace {

using namespace std::chrono_literals;
using encoder::PacketMemory;
using Bytes = std::vector<std::uint8_t>;

static_assert(std::convertible_to<const PacketBytes&, std::span<const std::uint8_t>>);
static_assert(!std::convertible_to<PacketBytes&, std::span<std::uint8_t>>);
static_assert(std::is_nothrow_move_constructible_v<PacketBytes> &&
              std::is_nothrow_move_assignable_v<PacketBytes>);

// Memory that the C library has just got back is where its next buffer of the size lies. Tests that find a
// buffer in its old place have this taken before.
Bytes taken_from_library(std::size_t bytes) {
  return Bytes(bytes);
}

std::size_t capacity_of(PacketBytes& bytes) {
  return bytes.vector().capacity();
}

const std::uint8_t* place_of(PacketBytes& bytes) {
  return bytes.vector().data();
}

TEST(PacketMemory, IsUsedAgain) {
  const auto memory = std::make_shared<PacketMemory>();
  const std::uint8_t* where = nullptr;
  {
    PacketBytes first = memory->take(1000);
    EXPECT_TRUE(first.empty());
    EXPECT_GE(capacity_of(first), 1000u);
    first.vector().assign(700, 7);
    where = first.data();
  }
  const Bytes filler = taken_from_library(1000);
  PacketBytes again = memory->take(1000), other = memory->take(1000);
  EXPECT_EQ(place_of(again), where);
  EXPECT_TRUE(again.empty());
  EXPECT_NE(place_of(other), where);
}

TEST(PacketMemory, GrowsWhatIsTooSmall) {
  const auto memory = std::make_shared<PacketMemory>();
  for (std::size_t bytes = 100; bytes < 1000000; bytes = bytes * 3 / 2) {
    PacketBytes buffer = memory->take(bytes);
    ASSERT_TRUE(buffer.empty());
    ASSERT_GE(capacity_of(buffer), bytes);
  }
}

// Streams of a group have packets of different sizes, and a caller may keep the small ones.
TEST(PacketMemory, SmallPacketsLeaveLargeBuffersAlone) {
  const auto memory = std::make_shared<PacketMemory>();
  const std::uint8_t* const large = [&] {
    PacketBytes packet = memory->take(100000);
    return place_of(packet);
  }();
  const Bytes filler = taken_from_library(100000);
  PacketBytes small = memory->take(1000);
  EXPECT_LT(capacity_of(small), 2000u);
  PacketBytes packet = memory->take(90000);
  EXPECT_EQ(place_of(packet), large);
}

TEST(PacketMemory, KeepsNoMoreThanItsLimit) {
  constexpr std::size_t kSize = std::size_t{1} << 20, kKept = PacketMemory::kMaxBytes / kSize;
  const auto memory = std::make_shared<PacketMemory>();
  {
    std::vector<PacketBytes> all;
    for (std::size_t i = 0; i < kKept + 10; ++i) all.push_back(memory->take(kSize));
  }
  std::vector<PacketBytes> all;
  std::size_t again = 0;
  for (std::size_t i = 0; i < kKept + 10; ++i) {
    all.push_back(memory->take(kSize - 1));  // a new buffer has no byte more
    again += capacity_of(all.back()) == kSize;
  }
  EXPECT_EQ(again, kKept);
}

// What is kept of larger packets than there are now makes room.
TEST(PacketMemory, FreesTheLargestAtItsLimit) {
  const auto memory = std::make_shared<PacketMemory>();
  { PacketBytes all = memory->take(PacketMemory::kMaxBytes); }
  const std::uint8_t* where = nullptr;
  {
    PacketBytes small = memory->take(1000);
    where = place_of(small);
  }
  const Bytes filler = taken_from_library(1000);
  PacketBytes small = memory->take(1000);
  EXPECT_EQ(place_of(small), where);
}

TEST(PacketBytes, MoveAndCopy) {
  const auto memory = std::make_shared<PacketMemory>();
  PacketBytes first = memory->take(100);
  first.vector().assign({1, 2, 3});
  const std::uint8_t* const where = first.data();

  PacketBytes copy = first;
  EXPECT_EQ(copy, first);
  EXPECT_NE(copy.data(), where);
  copy.vector()[0] = 9;
  EXPECT_EQ(first[0], 1);
  EXPECT_NE(copy, first);

  PacketBytes second = std::move(first);
  EXPECT_EQ(second.data(), where);
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): this is the promise
  EXPECT_EQ(first.size(), 0u);
  EXPECT_EQ(first.begin(), first.end());

  second = std::move(copy);  // gives back what it had
  const Bytes filler = taken_from_library(100);
  EXPECT_EQ(second, PacketBytes(Bytes{9, 2, 3}));
  EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move)
  PacketBytes third = memory->take(100);
  EXPECT_EQ(place_of(third), where);

  const std::span<const std::uint8_t> view = second;
  EXPECT_TRUE(view.data() == second.data() && view.size() == 3);
  EXPECT_EQ(Bytes(second.begin(), second.end()), (Bytes{9, 2, 3}));
}

TEST(PacketBytes, CopiesGiveNothingBack) {
  const auto memory = std::make_shared<PacketMemory>();
  PacketBytes own = memory->take(1000);
  own.vector().assign(1000, 7);
  const std::uint8_t* copied = nullptr;
  {
    const PacketBytes copy = own;
    copied = copy.data();
  }
  const Bytes filler = taken_from_library(1000);
  PacketBytes next = memory->take(1000);
  EXPECT_NE(place_of(next), copied);
}

TEST(PacketBytes, ReleaseTakesTheBytesWithoutACopy) {
  const auto memory = std::make_shared<PacketMemory>();
  PacketBytes own = memory->take(1000);
  own.vector().assign({4, 5});
  const std::uint8_t* const where = own.data();
  const Bytes released = std::move(own).release();
  EXPECT_EQ(released.data(), where);
  EXPECT_EQ(released, (Bytes{4, 5}));
  EXPECT_TRUE(own.empty());  // NOLINT(bugprone-use-after-move)
  own = {};
  PacketBytes next = memory->take(1000);
  EXPECT_NE(place_of(next), where);
}

// Nothing is kept for an encoder that is gone.
TEST(PacketBytes, OutliveTheirMemory) {
  auto memory = std::make_shared<PacketMemory>();
  const std::weak_ptr<PacketMemory> watched = memory;
  PacketBytes own = memory->take(1000);
  own.vector().assign(1000, 7);
  memory.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(own, PacketBytes(Bytes(1000, 7)));
  own = {};
}

Config config_of(int width, int height) {
  Config config;
  config.width = width, config.height = height;
  config.preset = Preset::fast, config.backend = BackendChoice::cpu, config.threads = 2;
  return config;
}

// Noise and plain pictures in turn, so that the sizes of packets differ.
test::FrameBuffer frame_of(std::uint32_t i, int width = 80, int height = 48) {
  const auto content = i % 4 == 0 ? test::Content::noise : test::Content::natural;
  return {test::make_picture(content, width, height, i), PixelFormat::i420};
}

// Encodes `pictures` pictures, and hands each packet to `take`.
template <typename Take>
void encode(Encoder& encoder, std::uint32_t pictures, const Take& take) {
  for (std::uint32_t i = 0; i < pictures; ++i) {
    const test::FrameBuffer frame = frame_of(i);
    while (!encoder.send(frame.view())) {
      if (auto packet = encoder.receive()) take(std::move(*packet));
    }
  }
  encoder.flush();
  while (auto packet = encoder.receive()) take(std::move(*packet));
}

std::vector<Bytes> packets_of(const Config& config, std::uint32_t pictures) {
  std::vector<Bytes> packets;
  Encoder encoder(config);
  encode(encoder, pictures, [&](Packet packet) { packets.push_back(std::move(packet.data).release()); });
  return packets;
}

// A new buffer has room for its packet, for messages, and an eighth. These are given more, and so show
// themselves.
void mark(Packet& packet) {
  packet.data.vector().reserve(3 * packet.data.size());
}
bool is_marked(Packet& packet) {
  return capacity_of(packet.data) > 2 * packet.data.size();
}
test::FrameBuffer large_frame(std::uint32_t i) {
  return {test::make_picture(test::Content::noise, 80, 48, i), PixelFormat::i420};
}

TEST(PacketMemory, AnEncoderUsesThePacketsOfItsClipBefore) {
  constexpr std::size_t kPictures = 12;
  Encoder encoder(config_of(80, 48));
  for (const bool second : {false, true}) {
    std::vector<Packet> packets;
    const auto take = [&] {
      std::optional<Packet> packet = encoder.receive();
      if (packet) packets.push_back(std::move(*packet));
      return packet.has_value();
    };
    for (std::uint32_t i = 0; i < kPictures; ++i) {
      const test::FrameBuffer frame = large_frame(i);
      while (!encoder.send(frame.view())) take();
    }
    encoder.flush();
    while (take()) continue;
    ASSERT_EQ(packets.size(), kPictures);
    for (Packet& packet : packets) {
      ASSERT_GT(packet.data.size(), 1000u);
      EXPECT_EQ(is_marked(packet), second) << packet.index;
      mark(packet);
    }
  }
}

TEST(PacketMemory, AGroupUsesThePacketsOfAllItsStreams) {
  StreamGroupConfig config;
  config.backend = BackendChoice::cpu, config.threads = 2;
  StreamGroup group(config);
  for (const bool second : {false, true}) {
    const StreamGroup::Stream stream = group.open(config_of(80, 48));
    ASSERT_TRUE(group.submit(stream, large_frame(0).view(), 60s));
    std::optional<Packet> packet = group.receive(stream, 60s);
    ASSERT_TRUE(packet);
    EXPECT_EQ(is_marked(*packet), second);
    mark(*packet);
    group.close(stream);
  }
}

// The buffers that come back are full of other bytes, and larger and smaller than the packets.
TEST(PacketMemory, PacketsAreTheSameInIt) {
  Config config = config_of(80, 48);
  for (const bool controlled : {false, true}) {
    if (controlled) config.bitrate = 300000, config.cbr = true, config.lookahead = 2;
    const std::vector<Bytes> expected = packets_of(config, 24);
    Encoder encoder(config);
    std::vector<Bytes> found;
    encode(encoder, 24, [&](Packet packet) {
      Bytes& bytes = packet.data.vector();
      found.push_back(bytes);
      std::fill(bytes.begin(), bytes.end(), std::uint8_t{0xa5});
      if (found.size() % 3 == 0) bytes.assign(5000 * (found.size() % 4), 0xa5);
    });
    EXPECT_EQ(found.size(), 24u);
    EXPECT_TRUE(found == expected);
  }
}

TEST(PacketMemory, PacketsOutliveTheirEncoder) {
  const std::vector<Bytes> expected = packets_of(config_of(80, 48), 6);
  std::vector<Packet> packets;
  {
    Encoder encoder(config_of(80, 48));
    encode(encoder, 6, [&](Packet packet) { packets.push_back(std::move(packet)); });
  }
  ASSERT_EQ(packets.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(packets[i].data.vector(), expected[i]);
}

TEST(PacketMemory, PacketsOutliveTheirStreamAndGroup) {
  const std::vector<Bytes> expected = packets_of(config_of(80, 48), 6);
  std::vector<Packet> packets;
  {
    StreamGroupConfig config;
    config.backend = BackendChoice::cpu, config.threads = 2;
    StreamGroup group(config);
    const StreamGroup::Stream stream = group.open(config_of(80, 48));
    for (std::uint32_t i = 0; i < 6; ++i) {
      ASSERT_TRUE(group.submit(stream, frame_of(i).view(), 60s));
      std::optional<Packet> packet = group.receive(stream, 60s);
      ASSERT_TRUE(packet);
      packets.push_back(std::move(*packet));
    }
    group.close(stream);
    EXPECT_EQ(packets.back().data.vector(), expected.back());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(packets[i].data.vector(), expected[i]);
}

TEST(PacketMemory, AnyThreadDestroysPackets) {
  constexpr std::uint32_t kPictures = 60;
  const std::vector<Bytes> expected = packets_of(config_of(80, 48), kPictures);
  std::mutex mutex;
  std::deque<Packet> waiting;
  bool done = false;
  std::vector<std::size_t> wrong(3, 0);
  const auto destroy = [&](std::size_t& differing) {
    for (bool last = false; !last;) {
      std::optional<Packet> packet;
      {
        const std::lock_guard lock(mutex);
        last = done && waiting.empty();
        if (!waiting.empty()) packet = std::move(waiting.front()), waiting.pop_front();
      }
      if (!packet) {
        std::this_thread::yield();
        continue;
      }
      Bytes& bytes = packet->data.vector();
      differing += bytes != expected[packet->index];
      std::fill(bytes.begin(), bytes.end(), std::uint8_t{0xa5});
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t& differing : wrong) threads.emplace_back(destroy, std::ref(differing));
  {
    Encoder encoder(config_of(80, 48));
    encode(encoder, kPictures, [&](Packet packet) {
      const std::lock_guard lock(mutex);
      waiting.push_back(std::move(packet));
    });
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(waiting.empty());
  EXPECT_EQ(wrong, (std::vector<std::size_t>(3, 0)));
}

}  // namespace
}  // namespace cu264
