// Waiting for packets: with a timeout, and through a descriptor.
#include <gtest/gtest.h>
#include <poll.h>
#include <tbb/global_control.h>

#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "cu264/encoder.h"
#include "encoder/notifier.h"
#include "support/encode.h"
#include "support/picture.h"

namespace cu264::test {
namespace {

using namespace std::chrono_literals;

Config config_of(int threads) {
  Config config;
  config.width = config.height = 64;
  config.preset = Preset::fast;
  config.backend = BackendChoice::cpu;
  config.threads = threads;
  return config;
}

bool readable(int descriptor, int milliseconds) {
  pollfd entry{descriptor, POLLIN, 0};
  return poll(&entry, 1, milliseconds) == 1;
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(Waiting, PacketsComeWithoutFlush) {
  const FrameBuffer frame(make_picture(Content::natural, 64, 64), PixelFormat::i420);
  for (const int threads : {1, 2, 3}) {
    Encoder encoder(config_of(threads));
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(encoder.send(frame.view(i)));
      const std::optional<Packet> packet = encoder.receive(60s);
      ASSERT_TRUE(packet) << threads << " threads";
      EXPECT_EQ(packet->pts, i);
    }
  }
}

// oneTBB's workers may be busy elsewhere, or may miss that a task has come.
TEST(Waiting, PacketsComeWhereNoWorkerIsFree) {
  const tbb::global_control no_workers(tbb::global_control::max_allowed_parallelism, 1);
  const FrameBuffer frame(make_picture(Content::natural, 64, 64), PixelFormat::i420);
  Encoder encoder(config_of(2));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(encoder.send(frame.view(i)));
    ASSERT_TRUE(encoder.receive(60s)) << "picture " << i;
  }
}

TEST(Waiting, ReturnsAtOnceIfNothingCanCome) {
  Encoder encoder(config_of(2));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(encoder.receive(60s));
  encoder.flush();
  EXPECT_FALSE(encoder.receive(std::chrono::nanoseconds::max()));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST(Waiting, FlushedPacketsComeOneByOne) {
  const FrameBuffer frame(make_picture(Content::natural, 64, 64), PixelFormat::i420);
  Encoder encoder(config_of(3));
  int sent = 0, received = 0;
  while (encoder.send(frame.view(sent))) ++sent;
  encoder.flush();
  while (const auto packet = encoder.receive(60s)) EXPECT_EQ(packet->pts, received++);
  EXPECT_EQ(received, sent);
}

TEST(Waiting, TheDescriptorIsReadableWhenAPacketIs) {
  const FrameBuffer frame(make_picture(Content::natural, 64, 64), PixelFormat::i420);
  for (const int threads : {1, 2}) {
    Encoder encoder(config_of(threads));
    const int descriptor = encoder.ready_descriptor();
    EXPECT_FALSE(encoder.receive(0s));
    EXPECT_FALSE(readable(descriptor, 0));
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(encoder.send(frame.view(i)));
      std::optional<Packet> packet;
      while (!packet) {
        ASSERT_TRUE(readable(descriptor, 60000)) << threads << " threads";
        packet = encoder.receive(0s);
      }
      EXPECT_EQ(packet->pts, i);
      EXPECT_FALSE(encoder.receive(0s));
    }
    EXPECT_FALSE(readable(descriptor, 0));
  }
}

TEST(Waiting, SleepsWithoutUsingTheProcessor) {
  encoder::Notifier notifier;
  const double before = processor_seconds();
  const std::uint64_t seen = notifier.begin_check();
  EXPECT_FALSE(notifier.wait(seen, encoder::Notifier::deadline_in(300ms)));
  EXPECT_LT(processor_seconds() - before, 0.006);  // 2 % of the time
  std::thread other([&] { notifier.signal(); });
  EXPECT_TRUE(notifier.wait(seen, encoder::Notifier::deadline_in(60s)));
  other.join();
}

}  // namespace
}  // namespace cu264::test
