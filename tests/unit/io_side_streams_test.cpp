// Packets of other streams go out with their pictures, in their order, in little time and memory.
#include "io/side_streams.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace cu264::io {
namespace {

constexpr AVRational kMilliseconds{1, 1000};

class Input {
 public:
  explicit Input(int streams) : context_(avformat_alloc_context()) {
    for (int i = 0; i < streams; ++i) {
      AVStream* const stream = avformat_new_stream(context_, nullptr);
      stream->time_base = kMilliseconds;
      stream->codecpar->codec_type = AVMEDIA_TYPE_AUDIO;
      streams_.push_back(stream);
    }
  }
  ~Input() { avformat_free_context(context_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  const std::vector<const AVStream*>& streams() const { return streams_; }

 private:
  AVFormatContext* context_;
  std::vector<const AVStream*> streams_;
};

AvPacket packet(int stream, std::int64_t time, int bytes = 1) {
  AvPacket made = make_packet();
  EXPECT_EQ(av_new_packet(made.get(), bytes), 0);
  made->stream_index = stream, made->pts = made->dts = time;
  return made;
}

// The streams and times of packets.
using Seen = std::vector<std::pair<int, std::int64_t>>;
Seen seen(const std::vector<AvPacket>& packets) {
  Seen all;
  for (const AvPacket& one : packets) all.emplace_back(one->stream_index, one->pts);
  return all;
}

TEST(SideStreams, HandsOutWhatBeginsBefore) {
  const Input input(2);
  SideStreams side(input.streams());
  for (const auto& [stream, time] :
       Seen{{1, 0}, {0, 0}, {1, 30}, {0, 50}, {1, 10}, {1, AV_NOPTS_VALUE}, {0, 20}})
    side.add(packet(stream, time));
  std::vector<AvPacket> out;
  side.take_before(20, kMilliseconds, out);
  EXPECT_EQ(seen(out), (Seen{{1, 0}, {0, 0}}));  // 30 and 50 hold back what follows in their streams
  out.clear();
  side.take_before(40, kMilliseconds, out);
  EXPECT_EQ(seen(out), (Seen{{1, 30}, {1, 10}, {1, AV_NOPTS_VALUE}}));
  out.clear();
  side.take_all(out);
  EXPECT_EQ(seen(out), (Seen{{0, 50}, {0, 20}}));
  EXPECT_TRUE(side.all_reached(30, kMilliseconds));
  EXPECT_FALSE(side.all_reached(31, kMilliseconds));
  EXPECT_TRUE(side.losses().empty());
}

TEST(SideStreams, ForgetsStreamsThatAreNotKept) {
  const Input input(2);
  SideStreams side(input.streams());
  side.add(packet(0, 0)), side.add(packet(1, 1));
  side.keep({input.streams()[1]});
  EXPECT_FALSE(side.has(0));
  std::vector<AvPacket> out;
  side.take_all(out);
  EXPECT_EQ(seen(out), (Seen{{1, 1}}));
}

// The pictures come in their thousands, and hardly anything may be done for each packet that waits.
TEST(SideStreams, ManyPacketsThatWaitCostNoTime) {
  const Input input(2);
  SideStreams side(input.streams());
  constexpr int kPackets = 200000, kPictures = 20000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kPackets; ++i) side.add(packet(0, 10000000 + i));
  std::size_t taken = 0;
  std::vector<AvPacket> out;
  for (int i = 0; i < kPictures; ++i) {
    side.add(packet(1, 40 * i));
    side.take_before(40 * (i + 1), kMilliseconds, out);
    taken += out.size();
    out.clear();
  }
  EXPECT_EQ(taken, static_cast<std::size_t>(kPictures));
  // One look at each for each picture would be 4e9 looks.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
}

TEST(SideStreams, WhatWaitsHasABound) {
  const Input input(2);
  SideStreams side(input.streams(), std::size_t{1} << 20);
  side.add(packet(1, 5));
  for (int i = 0; i < 100; ++i) side.add(packet(0, 1000 + i, 100000));
  side.add(packet(1, 6));
  std::vector<AvPacket> out;
  side.take_all(out);
  ASSERT_EQ(out.size(), 12u);  // ten of 100000 bytes, the first ones, and those of the other stream
  EXPECT_EQ(seen(out).front(), (std::pair<int, std::int64_t>{1, 5}));
  EXPECT_EQ(seen(out)[10], (std::pair<int, std::int64_t>{0, 1009}));
  EXPECT_EQ(seen(out).back(), (std::pair<int, std::int64_t>{1, 6}));
  ASSERT_EQ(side.losses().size(), 1u);
  EXPECT_EQ(side.losses()[0].rfind("90 packets of stream 0 dropped", 0), 0u) << side.losses()[0];
  // What was taken makes room.
  out.clear();
  for (int i = 0; i < 10; ++i) side.add(packet(0, 2000 + i, 100000));
  side.take_all(out);
  EXPECT_EQ(out.size(), 10u);
}

}  // namespace
}  // namespace cu264::io
