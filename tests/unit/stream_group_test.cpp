// Streams that share batches, on the CPU backend: each has the bytes of an encoder of its own, whatever the
// others do. tests/parity runs the same on a device.
#include <gtest/gtest.h>

#include "tests/support/stream_group_checks.h"

namespace cu264::test {
namespace {

StreamGroupConfig on_cpu(int threads = 2) {
  StreamGroupConfig config;
  config.backend = BackendChoice::cpu;
  config.threads = threads;
  return config;
}

TEST(StreamGroups, StreamsAreCodedAsAlone) {
  for (const int threads : {1, 3}) expect_streams_as_alone(on_cpu(threads), 5);
}

TEST(StreamGroups, ManyThreadsUseThem) {
  expect_threads_as_alone(on_cpu(), 6);
}

TEST(StreamGroups, ClipsFollowOneAnother) {
  expect_clips_as_alone(on_cpu());
}

TEST(StreamGroups, AFloodingStreamDelaysNoOther) {
  expect_fairness(on_cpu(1));
}

TEST(StreamGroups, BadFramesHarmOneStreamOnly) {
  expect_bad_frames_refused(on_cpu());
}

TEST(StreamGroups, MayEndAtAnyTime) {
  for (int i = 0; i < 20; ++i) tear_down_under_load(on_cpu(), i);
}

TEST(StreamGroups, OpenRefuses) {
  const auto code_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode{};
  };
  StreamGroupConfig wrong = on_cpu();
  wrong.queue = 0;
  EXPECT_EQ(code_of([&] { StreamGroup group(wrong); }), ErrorCode::invalid_argument);
  wrong = on_cpu(), wrong.batches_in_flight = 9;
  EXPECT_EQ(code_of([&] { StreamGroup group(wrong); }), ErrorCode::invalid_argument);
  StreamGroup group(on_cpu());
  Config config;
  EXPECT_EQ(code_of([&] { group.open(config); }), ErrorCode::invalid_argument);  // it has no size
  config.width = config.height = 32, config.device_output = true;
  EXPECT_EQ(code_of([&] { group.open(config); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { group.info(7); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace cu264::test
