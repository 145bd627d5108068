// The output's time begins at 0 and goes on where the input's clock jumps.
#include "io/timeline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace cu264::io {
namespace {

constexpr std::int64_t kSecond = 90000;

class Input {
 public:
  Input() : context_(avformat_alloc_context()) {
    for (const AVMediaType type : {AVMEDIA_TYPE_VIDEO, AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_SUBTITLE}) {
      AVStream* const stream = avformat_new_stream(context_, nullptr);
      stream->time_base = {1, kSecond};
      stream->codecpar->codec_type = type;
    }
  }
  ~Input() { avformat_free_context(context_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Returns the packet's output time.
  std::int64_t pass(Timeline& timeline, int stream, std::int64_t time) const {
    const AvPacket packet = make_packet();
    packet->stream_index = stream;
    packet->dts = time, packet->pts = time + kSecond / 10;
    packet->duration = kSecond / 25;
    timeline.apply(*packet, *context_->streams[stream]);
    EXPECT_EQ(packet->pts - packet->dts, kSecond / 10);
    return packet->dts;
  }

  void apply(Timeline& timeline, AVPacket& packet) const {
    timeline.apply(packet, *context_->streams[packet.stream_index]);
  }

 private:
  AVFormatContext* context_;
};

TEST(Timeline, BeginsAtZero) {
  const Input input;
  Timeline timeline(36000LL * AV_TIME_BASE, false);
  EXPECT_EQ(input.pass(timeline, 0, 36000 * kSecond), 0);
  EXPECT_EQ(input.pass(timeline, 1, 36001 * kSecond), kSecond);
  EXPECT_EQ(input.pass(timeline, 2, 36002 * kSecond), 2 * kSecond);
}

TEST(Timeline, GoesOnWhereTheClockJumps) {
  const Input input;
  Timeline timeline(0, true);
  EXPECT_EQ(input.pass(timeline, 0, 0), 0);
  EXPECT_EQ(input.pass(timeline, 1, 0), 0);
  EXPECT_EQ(input.pass(timeline, 0, 100 * kSecond), kSecond / 25);  // forth
  EXPECT_EQ(input.pass(timeline, 1, 100 * kSecond), kSecond / 25);
  EXPECT_EQ(input.pass(timeline, 0, 3 * kSecond), 2 * kSecond / 25);  // back
  EXPECT_EQ(timeline.jumps_closed(), 2);
}

TEST(Timeline, StreamsThatJumpLaterFollow) {
  const Input input;
  Timeline timeline(0, true);
  input.pass(timeline, 0, 50 * kSecond), input.pass(timeline, 1, 50 * kSecond);
  EXPECT_EQ(input.pass(timeline, 0, 0), 50 * kSecond + kSecond / 25);
  EXPECT_EQ(input.pass(timeline, 1, 50 * kSecond + kSecond / 25), 50 * kSecond + kSecond / 25);
  EXPECT_EQ(input.pass(timeline, 1, 0), 50 * kSecond + 2 * kSecond / 25);
  // The longer stream of the first recording decides where the second one begins.
  EXPECT_EQ(input.pass(timeline, 0, kSecond / 25), 50 * kSecond + 3 * kSecond / 25);
}

TEST(Timeline, GapsAreKept) {
  const Input input;
  Timeline timeline(0, true);
  EXPECT_EQ(input.pass(timeline, 0, 0), 0);
  EXPECT_EQ(input.pass(timeline, 0, 9 * kSecond), 9 * kSecond);
  EXPECT_EQ(input.pass(timeline, 2, 90 * kSecond), 90 * kSecond);  // subtitles may be silent for long
  EXPECT_EQ(timeline.jumps_closed(), 0);
}

TEST(Timeline, OtherContainersMayJump) {
  const Input input;
  Timeline timeline(0, false);
  input.pass(timeline, 0, 0);
  EXPECT_EQ(input.pass(timeline, 0, 100 * kSecond), 100 * kSecond);
}

TEST(Timeline, PacketsWithoutTimesStaySo) {
  const Input input;
  Timeline timeline(AV_TIME_BASE, true);
  const AvPacket packet = make_packet();
  AVFormatContext* context = avformat_alloc_context();
  AVStream* stream = avformat_new_stream(context, nullptr);
  stream->time_base = {1, 1000};
  timeline.apply(*packet, *stream);
  EXPECT_EQ(packet->pts, AV_NOPTS_VALUE);
  EXPECT_EQ(packet->dts, AV_NOPTS_VALUE);
  avformat_free_context(context);
}

// Sums of such times would overflow, which is undefined; the sanitizers' run sees it.
TEST(Timeline, TimesThatNoClockShowsAreMissing) {
  constexpr std::int64_t kMax = INT64_MAX;
  for (const bool jumps : {false, true}) {
    for (const std::int64_t begin : {std::int64_t{0}, kMax, -kMax, kLatestTime / 2, -kLatestTime / 2}) {
      const Input input;
      Timeline timeline(begin, jumps);
      input.pass(timeline, 0, 0);
      std::int64_t impossible = 0;
      for (const std::int64_t time :
           {kMax, -kMax, kMax - kSecond, std::int64_t{1} << 62, -(std::int64_t{1} << 61) - 1}) {
        const AvPacket packet = make_packet();
        packet->stream_index = 1;
        packet->pts = packet->dts = time, packet->duration = kMax;
        input.apply(timeline, *packet);
        EXPECT_EQ(packet->pts, AV_NOPTS_VALUE);
        EXPECT_EQ(packet->dts, AV_NOPTS_VALUE);
        EXPECT_EQ(packet->duration, 0);
        EXPECT_EQ(timeline.impossible(), ++impossible);
      }
      input.pass(timeline, 1, kSecond);
    }
  }
}

}  // namespace
}  // namespace cu264::io
