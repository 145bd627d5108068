// Groups of streams through the C API.
#include <gtest/gtest.h>

#include <map>

#include "support/encode.h"
#include "tests/capi/c_objects.h"

namespace cu264::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::int64_t kMinute = 60'000'000'000;

CGroup make_group(std::vector<cu264_setting> settings) {
  settings.push_back({"backend", "cpu"});
  settings.push_back({"threads", "2"});
  cu264_group* group = nullptr;
  EXPECT_EQ(cu264_group_create(settings.data(), settings.size(), &group), CU264_OK) << cu264_last_error();
  return CGroup(group);
}

cu264_frame gray_frame(const Bytes& samples, int width, int height) {
  cu264_frame frame{};
  frame.struct_size = sizeof frame, frame.format = CU264_FORMAT_GRAY8;
  frame.width = width, frame.height = height;
  frame.plane[0] = samples.data(), frame.pitch[0] = width;
  return frame;
}

TEST(CGroups, StreamsHaveTheBytesOfAnEncoder) {
  constexpr int kStreams = 3, kPictures = 4, kWidth = 64, kHeight = 48;
  Bytes samples(kWidth * kHeight);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::uint8_t>(i % 61 * 4);
  const cu264_frame frame = gray_frame(samples, kWidth, kHeight);
  const CGroup group = make_group({{"queue", "8"}, {"longest-wait", "0"}, {"batches-in-flight", "1"}});

  std::map<std::uint32_t, std::vector<Bytes>> received, expected;
  std::vector<std::uint32_t> streams;
  for (int i = 0; i < kStreams; ++i) {
    const CConfig config({{"size", "64x48"}, {"qp", std::to_string(24 + i)}, {"backend", "cpu"}});
    std::uint32_t stream = 0;
    ASSERT_EQ(cu264_group_open(group.get(), config.get(), &stream), CU264_OK) << cu264_last_error();
    streams.push_back(stream);
    const CEncoder encoder = open_c_encoder(config);
    cu264_info *own = nullptr, *alone = nullptr;
    ASSERT_EQ(cu264_group_info(group.get(), stream, &own), CU264_OK);
    ASSERT_EQ(cu264_encoder_info(encoder.get(), &alone), CU264_OK);
    EXPECT_EQ(Bytes(own->headers, own->headers + own->headers_size),
              Bytes(alone->headers, alone->headers + alone->headers_size));
    cu264_info_release(own), cu264_info_release(alone);
    for (int n = 0; n < kPictures; ++n) {
      while (cu264_encoder_send(encoder.get(), &frame) == CU264_AGAIN) {
        const CPacket packet = receive_c_packet(encoder);
        expected[stream].emplace_back(packet->data, packet->data + packet->size);
      }
    }
    ASSERT_EQ(cu264_encoder_flush(encoder.get()), CU264_OK);
    while (const CPacket packet = receive_c_packet(encoder))
      expected[stream].emplace_back(packet->data, packet->data + packet->size);
  }
  int descriptor = -1;
  EXPECT_EQ(cu264_group_ready_descriptor(group.get(), &descriptor), CU264_OK);
  EXPECT_GE(descriptor, 0);
  for (int n = 0; n < kPictures; ++n) {
    for (const std::uint32_t stream : streams)
      ASSERT_EQ(cu264_group_submit(group.get(), stream, &frame, -1), CU264_OK) << cu264_last_error();
  }
  cu264_packet* packet = nullptr;
  ASSERT_EQ(cu264_group_receive(group.get(), streams[0], -1, &packet), CU264_OK);
  received[streams[0]].emplace_back(packet->data, packet->data + packet->size);
  cu264_packet_release(packet);
  for (int n = 1; n < kStreams * kPictures; ++n) {
    std::uint32_t stream = 0;
    ASSERT_EQ(cu264_group_receive_any(group.get(), kMinute, &stream, &packet), CU264_OK);
    received[stream].emplace_back(packet->data, packet->data + packet->size);
    cu264_packet_release(packet);
  }
  EXPECT_EQ(received, expected);
  for (const std::uint32_t stream : streams) {
    EXPECT_EQ(cu264_group_receive(group.get(), stream, 0, &packet), CU264_AGAIN);
    EXPECT_EQ(cu264_group_flush(group.get(), stream), CU264_OK);
    EXPECT_EQ(cu264_group_close(group.get(), stream), CU264_OK);
    EXPECT_EQ(cu264_group_close(group.get(), stream), CU264_INVALID_ARGUMENT);
  }
}

TEST(CGroups, AnErrorSaysWhoseItIs) {
  const CGroup group = make_group({});
  const CConfig config({{"size", "64x64"}, {"max-frame-bytes", "40"}});
  std::uint32_t stream = 0, whose = 0;
  ASSERT_EQ(cu264_group_open(group.get(), config.get(), &stream), CU264_OK) << cu264_last_error();
  Bytes noise(64 * 64);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<std::uint8_t>(i * i * 37 >> 3);
  const cu264_frame frame = gray_frame(noise, 64, 64);
  ASSERT_EQ(cu264_group_submit(group.get(), stream, &frame, -1), CU264_OK) << cu264_last_error();
  cu264_packet* packet = nullptr;
  EXPECT_EQ(cu264_group_receive_any(group.get(), kMinute, &whose, &packet), CU264_ENCODE_FAILURE);
  EXPECT_EQ(whose, stream);
  EXPECT_EQ(packet, nullptr);
  EXPECT_EQ(cu264_group_receive_any(group.get(), 0, &whose, &packet), CU264_AGAIN);
  EXPECT_EQ(whose, CU264_NO_STREAM);
}

// What a group refuses, and what the text says of it.
class CGroupErrors : public testing::Test {
 protected:
  static void expect(cu264_status status, const char* words) {
    EXPECT_EQ(status, CU264_INVALID_ARGUMENT) << words;
    EXPECT_NE(std::string(cu264_last_error()).find(words), std::string::npos) << cu264_last_error();
  }

  static void expect_refused(const cu264_setting& setting, const char* words) {
    cu264_group* group = nullptr;
    expect(cu264_group_create(&setting, 1, &group), words);
    EXPECT_EQ(group, nullptr);
  }
};

TEST_F(CGroupErrors, Settings) {
  expect_refused({"queue", "0"}, "bad queue \"0\" (use a whole number from 1 to 1024)");
  expect_refused({"queue", "1025"}, "bad queue");
  expect_refused({"queue", "4x"}, "bad queue \"4x\"");
  expect_refused({"batches-in-flight", "9"}, "from 1 to 8");
  expect_refused({"longest-wait", "-1"}, "bad longest-wait");
  expect_refused({"longest-wait", nullptr}, "longest-wait is null");
  expect_refused({"backend", "gpu"}, "bad backend");
  expect_refused({"threads", nullptr}, "needs a value");
  expect_refused({"qp", "24"}, "\"qp\" is no setting of a group (use one of backend");
  expect_refused({nullptr, "1"}, "is null");
  cu264_group* group = nullptr;
  expect(cu264_group_create(nullptr, 1, &group), "settings is null");
  expect(cu264_group_create(nullptr, 0, nullptr), "group is null");
}

TEST_F(CGroupErrors, NullsAndUnknownStreams) {
  const CGroup group = make_group({});
  const CConfig config{{"size", "16x16"}};
  const Bytes samples(256);
  const cu264_frame frame = gray_frame(samples, 16, 16);
  std::uint32_t stream = 0;
  cu264_packet* packet = nullptr;
  cu264_info* info = nullptr;
  int descriptor = 0;
  expect(cu264_group_open(nullptr, config.get(), &stream), "group is null");
  EXPECT_EQ(stream, CU264_NO_STREAM);
  expect(cu264_group_open(group.get(), nullptr, &stream), "config is null");
  expect(cu264_group_open(group.get(), config.get(), nullptr), "stream is null");
  expect(cu264_group_info(nullptr, 0, &info), "group is null");
  expect(cu264_group_info(group.get(), 0, nullptr), "info is null");
  expect(cu264_group_submit(nullptr, 0, &frame, 0), "group is null");
  expect(cu264_group_submit(group.get(), 0, nullptr, 0), "cu264_frame is null");
  expect(cu264_group_receive(nullptr, 0, 0, &packet), "group is null");
  expect(cu264_group_receive(group.get(), 0, 0, nullptr), "packet is null");
  expect(cu264_group_receive_any(nullptr, 0, &stream, &packet), "group is null");
  expect(cu264_group_receive_any(group.get(), 0, nullptr, &packet), "stream is null");
  expect(cu264_group_receive_any(group.get(), 0, &stream, nullptr), "packet is null");
  expect(cu264_group_ready_descriptor(nullptr, &descriptor), "group is null");
  expect(cu264_group_ready_descriptor(group.get(), nullptr), "descriptor is null");
  expect(cu264_group_flush(nullptr, 0), "group is null");
  expect(cu264_group_close(nullptr, 0), "group is null");
  expect(cu264_group_info(group.get(), 7, &info), "7");
  expect(cu264_group_submit(group.get(), 7, &frame, 0), "7");
  expect(cu264_group_receive(group.get(), 7, 0, &packet), "7");
  expect(cu264_group_flush(group.get(), 7), "7");
  expect(cu264_group_close(group.get(), 7), "7");
  cu264_group_destroy(nullptr);
}

}  // namespace
}  // namespace cu264::test
