#include "tests/support/stream_group_checks.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "protect/fixed_nonce.h"
#include "support/encode.h"
#include "support/picture.h"

namespace cu264::test {
namespace {

using namespace std::chrono_literals;
constexpr auto kLong = 120s;  // for what must come

struct Source {
  Config config;
  PixelFormat format = PixelFormat::i420;
  std::vector<Picture> pictures;
};

Source source(int width, int height, int pictures, std::uint32_t seed) {
  Source source;
  source.config = baseline_config();
  source.config.width = width, source.config.height = height;
  source.config.preset = Preset::fast;
  for (int i = 0; i < pictures; ++i) {
    source.pictures.push_back(
        make_picture(Content::natural, width, height, seed + static_cast<std::uint32_t>(i / 2)));
  }
  return source;
}

ProtectionKey key() {
  return ProtectionKey(std::array<std::uint8_t, 32>{2, 6, 4});
}

// The first five share batches.
std::vector<Source> sources(int pictures) {
  std::vector<Source> all;
  for (std::uint32_t i = 0; i < 5; ++i) all.push_back(source(48, 48, pictures, 10 * i));
  all[1].config.qp = 40;
  all[2].config.headers = HeaderPlacement::every_packet, all[2].config.deblock = false;
  all[3].config.frame_rate = {60, 1}, all[3].format = PixelFormat::nv12;
  all[4].config.colour = {9, 16, 9, false};
  all.push_back(source(66, 34, pictures, 50));
  all.back().config.preset = Preset::balanced, all.back().config.slices = 2;
  for (std::uint32_t i = 0; i < 2; ++i) {
    all.push_back(source(48, 48, pictures, 60 + 10 * i));
    all.back().config.set("aq", "variance");
  }
  all.push_back(source(96, 96, pictures, 80));  // large enough for the payload
  all.back().config.watermark = EncoderWatermark{key(), {0xc5}, WatermarkScheme::t1_sign, 65536};
  all.push_back(source(48, 48, pictures, 90));
  all.back().config.encryption = EncoderEncryption{key(), encryption_strength(3)};
  return all;
}

Frame frame_of(const FrameBuffer& buffer, std::size_t index) {
  return buffer.view(static_cast<std::int64_t>(index) * 10 + 3);  // as encode() does
}

std::vector<Packet> alone(Source source) {
  source.config.backend = BackendChoice::cpu;
  const protect::FixedNonce nonce(7);
  std::vector<Packet> packets;
  Encoder encoder(source.config);
  for (std::size_t i = 0; i < source.pictures.size(); ++i) {
    const FrameBuffer buffer(source.pictures[i], source.format);
    while (!encoder.send(frame_of(buffer, i))) packets.push_back(encoder.receive().value());
  }
  encoder.flush();
  while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
  return packets;
}

void expect_same(const std::vector<Packet>& expected, const std::vector<Packet>& found) {
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(expected[i].data == found[i].data) << "picture " << i;
    EXPECT_EQ(expected[i].index, found[i].index);
    EXPECT_EQ(expected[i].pts, found[i].pts);
  }
}

StreamGroup::Stream open(StreamGroup& group, const Config& config) {
  const protect::FixedNonce nonce(7);
  return group.open(config);
}

std::vector<Packet> receive_all(StreamGroup& group, StreamGroup::Stream stream) {
  std::vector<Packet> packets;
  while (auto packet = group.receive(stream, kLong)) packets.push_back(std::move(*packet));
  return packets;
}

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode{};
}

}  // namespace

void expect_streams_as_alone(const StreamGroupConfig& config, int pictures) {
  const std::vector<Source> all = sources(pictures);
  StreamGroup group(config);
  std::vector<StreamGroup::Stream> streams;
  std::map<StreamGroup::Stream, std::vector<Packet>> packets;
  for (const Source& source : all) streams.push_back(open(group, source.config));
  const auto receive = [&](std::chrono::nanoseconds timeout) {
    auto result = group.receive_any(timeout);
    if (!result) return false;
    EXPECT_FALSE(result->error) << result->error->what();
    packets[result->stream].push_back(result->packet);  // a copy, so that its memory is used again
    return true;
  };
  const int descriptor = group.ready_descriptor();
  for (std::size_t i = 0; i < static_cast<std::size_t>(pictures); ++i) {
    for (std::size_t s = 0; s < all.size(); ++s) {
      const FrameBuffer buffer(all[s].pictures[i], all[s].format);
      while (!group.submit(streams[s], frame_of(buffer, i))) {
        pollfd entry{descriptor, POLLIN, 0};
        ASSERT_EQ(poll(&entry, 1, 120000), 1);
        while (receive(0s)) continue;
      }
    }
  }
  for (const StreamGroup::Stream stream : streams) group.flush(stream);
  std::size_t received = 0;
  for (const auto& [stream, own] : packets) received += own.size();
  for (; received < all.size() * static_cast<std::size_t>(pictures); ++received) ASSERT_TRUE(receive(kLong));
  for (std::size_t s = 0; s < all.size(); ++s) {
    SCOPED_TRACE("stream " + std::to_string(s));
    expect_same(alone(all[s]), packets[streams[s]]);
    EXPECT_FALSE(group.receive(streams[s], kLong));  // nothing is on its way, so it returns at once
    group.close(streams[s]);
  }
}

void expect_threads_as_alone(const StreamGroupConfig& config, int pictures) {
  const std::vector<Source> all = sources(pictures);
  StreamGroup group(config);
  std::vector<std::vector<Packet>> packets(all.size());
  std::vector<std::thread> threads;
  for (std::size_t s = 0; s < all.size(); ++s) {
    threads.emplace_back([&, s] {
      const StreamGroup::Stream stream = open(group, all[s].config);
      std::thread sender([&] {
        for (std::size_t i = 0; i < all[s].pictures.size(); ++i) {
          const FrameBuffer buffer(all[s].pictures[i], all[s].format);
          EXPECT_TRUE(group.submit(stream, frame_of(buffer, i), kLong));
        }
        group.flush(stream);
      });
      while (packets[s].size() < all[s].pictures.size()) {
        if (auto packet = group.receive(stream, 1ms)) packets[s].push_back(std::move(*packet));
      }
      sender.join();
      group.close(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t s = 0; s < all.size(); ++s) {
    SCOPED_TRACE("stream " + std::to_string(s));
    // The bytes do not depend on whether the end of the clip is known when the last packet is made.
    expect_same(alone(all[s]), packets[s]);
  }
}

void expect_clips_as_alone(const StreamGroupConfig& config) {
  StreamGroup group(config);
  Source first = source(48, 48, 3, 1), beside = source(48, 48, 9, 2);
  first.config.set("aq", "variance");
  beside.config.set("aq", "variance");
  first.config.encryption = EncoderEncryption{key(), encryption_strength(3)};
  const StreamGroup::Stream clips = open(group, first.config), other = open(group, beside.config);
  std::vector<Packet> others;
  for (std::size_t clip = 0; clip < 3; ++clip) {
    for (std::size_t i = 0; i < 3; ++i) {
      const protect::FixedNonce nonce(7);
      const FrameBuffer buffer(first.pictures[i], first.format);
      const FrameBuffer next(beside.pictures[3 * clip + i], beside.format);
      ASSERT_TRUE(group.submit(clips, frame_of(buffer, i), kLong));
      ASSERT_TRUE(group.submit(other, frame_of(next, 3 * clip + i), kLong));
    }
    group.flush(clips);
    SCOPED_TRACE("clip " + std::to_string(clip));
    expect_same(alone(first), receive_all(group, clips));
    for (Packet& packet : receive_all(group, other)) others.push_back(std::move(packet));
  }
  expect_same(alone(beside), others);
}

void expect_fairness(const StreamGroupConfig& config) {
  StreamGroupConfig own = config;
  own.queue = 64;
  StreamGroup group(own);
  const Source flood = source(64, 64, 1, 1), calm = source(64, 64, 1, 2);
  const StreamGroup::Stream flooding = group.open(flood.config), other = group.open(calm.config);
  const FrameBuffer of_flood(flood.pictures[0], flood.format), of_calm(calm.pictures[0], calm.format);
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(group.submit(flooding, of_flood.view(i)));
  EXPECT_FALSE(group.submit(flooding, of_flood.view()));  // its queue is full
  ASSERT_TRUE(group.submit(other, of_calm.view()));
  bool waits = true;
  // Packets that are ready by now may have been encoded before the other stream's picture came.
  while (waits) {
    const auto result = group.receive_any(std::chrono::nanoseconds(0));
    if (!result) break;
    waits = result->stream == flooding;
  }
  std::size_t before = 0;
  while (waits) {
    const auto result = group.receive_any(kLong);
    ASSERT_TRUE(result);
    waits = result->stream == flooding;
    before += waits ? 1u : 0u;
  }
  // At most what was with the backend already came first, and one picture of each turn.
  EXPECT_LT(before, 40u);
}

void expect_bad_frames_refused(const StreamGroupConfig& config) {
  StreamGroup group(config);
  const Source good = source(48, 48, 2, 1);
  const StreamGroup::Stream a = group.open(good.config), b = group.open(good.config);
  const FrameBuffer buffer(good.pictures[0], good.format);
  Frame bad = buffer.view();
  bad.width = 32;
  ASSERT_TRUE(group.submit(a, buffer.view(1)));
  EXPECT_EQ(code_of([&] { group.submit(b, bad); }), ErrorCode::bad_input);
  bad = buffer.view(), bad.plane[1] = nullptr;
  EXPECT_EQ(code_of([&] { group.submit(b, bad); }), ErrorCode::invalid_argument);
  bad = buffer.view(), bad.memory = MemoryKind::device;  // it lies on the host
  EXPECT_NE(code_of([&] { group.submit(b, bad); }), ErrorCode{});
  ASSERT_TRUE(group.submit(b, buffer.view(2)));
  EXPECT_EQ(group.receive(a, kLong).value().pts, 1);
  EXPECT_EQ(group.receive(b, kLong).value().pts, 2);
  group.close(b);
  EXPECT_EQ(code_of([&] { group.submit(b, buffer.view()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { group.receive(b); }), ErrorCode::invalid_argument);
  ASSERT_TRUE(group.submit(a, buffer.view(3)));
  EXPECT_EQ(group.receive(a, kLong).value().pts, 3);
}

void tear_down_under_load(const StreamGroupConfig& config, int seed) {
  auto group = std::make_unique<StreamGroup>(config);
  const Source small = source(48, 48, 1, 1), large = source(96, 64, 1, 2);
  const FrameBuffer of_small(small.pictures[0], small.format), of_large(large.pictures[0], large.format);
  std::vector<StreamGroup::Stream> streams;
  for (int s = 0; s < 6; ++s) streams.push_back(group->open(s % 3 == 0 ? large.config : small.config));
  int taken = 0;
  for (int i = 0; i < 3 + seed % 5; ++i) {
    for (std::size_t s = 0; s < streams.size(); ++s) {
      group->submit(streams[s], s % 3 == 0 ? of_large.view(i) : of_small.view(i));
    }
    if (seed % 2 == 1 && group->receive_any(kLong)) ++taken;
  }
  if (seed % 3 == 0) {
    group->close(streams[0]);
    group->close(streams[3]);  // the last one of its size
  }
  if (seed % 3 == 1) {
    // A thread is still receiving while its stream ends.
    std::thread waiter([&] {
      try {
        while (group->receive(streams[1], kLong)) continue;
      } catch (const Error&) {  // the stream was closed
      }
    });
    group->close(streams[1]);
    waiter.join();
  }
  group.reset();
}

}  // namespace cu264::test
