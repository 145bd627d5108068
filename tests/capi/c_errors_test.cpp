// Frames that cannot be encoded, and structs of other versions of the header.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <thread>

#include "tests/capi/c_objects.h"

namespace cu264::test {
namespace {

// An encoder of gray pictures, and a frame that it takes.
struct Stand {
  explicit Stand(const char* format = nullptr)
      : config({{"size", "32x16"}, {"backend", "cpu"}, {"threads", "1"}, {"qp", "30"}}),
        samples(1024 * 4, 90) {
    if (format != nullptr) {
      EXPECT_EQ(cu264_config_set(config.get(), "input-format", format), CU264_OK);
    }
    encoder = open_c_encoder(config);
    frame.struct_size = sizeof frame;
    frame.format = CU264_FORMAT_GRAY8;
    frame.width = 32, frame.height = 16;
    frame.plane[0] = samples.data(), frame.pitch[0] = 32;
  }

  // The error that the frame is refused with.
  std::string refusal(cu264_status status) {
    EXPECT_EQ(cu264_encoder_send(encoder.get(), &frame), status) << cu264_last_error();
    return cu264_last_error();
  }

  CConfig config;
  std::vector<std::uint8_t> samples;
  CEncoder encoder;
  cu264_frame frame{};
};

TEST(CErrors, FramesAreChecked) {
  {
    Stand stand;
    stand.frame.format = 14;
    EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("format is 14"), std::string::npos);
    stand.frame.format = -1;
    EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("format is -1"), std::string::npos);
  }
  {
    Stand stand;
    stand.frame.memory = 3;
    EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("memory is 3"), std::string::npos);
    stand.frame.memory = CU264_MEMORY_DEVICE;
    EXPECT_NE(stand.refusal(CU264_UNSUPPORTED).find("cpu backend"), std::string::npos);
  }
  {
    Stand stand;
    stand.frame.float_range = 2;
    EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("float_range"), std::string::npos);
  }
  {
    Stand stand;
    stand.frame.has_qp = 1, stand.frame.qp = 52;
    EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("QP 52"), std::string::npos);
  }
  {
    Stand stand;
    stand.frame.width = 31;
    EXPECT_NE(stand.refusal(CU264_BAD_INPUT).find("31x16"), std::string::npos);
  }
  {
    Stand stand;
    stand.frame.plane[0] = nullptr;
    EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("no samples"), std::string::npos);
  }
  {
    Stand stand;
    stand.frame.pitch[0] = 31;
    EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("pitch 31"), std::string::npos);
  }
  {
    Stand stand;
    stand.frame.added_bytes = -1;
    EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("added bytes"), std::string::npos);
  }
  {
    Stand stand("rgb24");
    EXPECT_NE(stand.refusal(CU264_BAD_INPUT).find("takes rgb24"), std::string::npos);
  }
}

TEST(CErrors, ACallerOfAnOlderVersionHasShorterFrames) {
  Stand stand;
  // The bytes that follow the struct of an older caller are anything.
  stand.frame.pts = -1, stand.frame.user_data = &stand, stand.frame.has_qp = 1, stand.frame.qp = 99;
  stand.frame.added_bytes = -1, stand.frame.float_range = 77;
  const auto coded_with = [&](std::size_t struct_size) {
    stand.frame.struct_size = struct_size;
    EXPECT_EQ(cu264_encoder_send(stand.encoder.get(), &stand.frame), CU264_OK) << cu264_last_error();
    EXPECT_EQ(cu264_encoder_drain(stand.encoder.get()), CU264_OK);
    return receive_c_packet(stand.encoder);
  };
  const CPacket first = coded_with(offsetof(cu264_frame, pts));
  const CPacket second = coded_with(offsetof(cu264_frame, added_bytes));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->pts, 0);
  EXPECT_EQ(first->user_data, nullptr);
  EXPECT_EQ(first->qp, 30);
  EXPECT_EQ(second->pts, -1);
  EXPECT_EQ(second->user_data, &stand);
}

TEST(CErrors, AStructThatIsTooShortIsRefused) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, offsetof(cu264_frame, pts) - 1}) {
    Stand stand;
    stand.frame.struct_size = size;
    EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("sizeof(cu264_frame)"), std::string::npos) << size;
  }
}

TEST(CErrors, ACallerOfANewerVersionMayNotUseWhatIsUnknown) {
  struct Newer {
    cu264_frame frame;
    std::uint64_t more;
  };
  Stand stand;
  Newer newer{stand.frame, 0};
  newer.frame.struct_size = sizeof newer;
  EXPECT_EQ(cu264_encoder_send(stand.encoder.get(), &newer.frame), CU264_OK) << cu264_last_error();
  newer.more = std::uint64_t{1} << 63;
  EXPECT_EQ(cu264_encoder_send(stand.encoder.get(), &newer.frame), CU264_UNSUPPORTED);
  EXPECT_NE(std::string(cu264_last_error()).find("does not know"), std::string::npos);
  stand.frame.struct_size = SIZE_MAX;  // nobody's
  EXPECT_NE(stand.refusal(CU264_INVALID_ARGUMENT).find("struct_size"), std::string::npos);
}

TEST(CErrors, EachThreadHasItsOwnText) {
  cu264_config_set(nullptr, "qp", "1");
  const std::string own = cu264_last_error();
  std::string of_another = "not asked";
  std::thread([&] { of_another = cu264_last_error(); }).join();
  EXPECT_EQ(of_another, "");
  EXPECT_EQ(cu264_last_error(), own);
}

TEST(CErrors, ALongTextIsCutOff) {
  const CConfig config({});
  EXPECT_EQ(cu264_config_set(config.get(), std::string(10000, 'x').c_str(), "1"), CU264_INVALID_ARGUMENT);
  EXPECT_GT(std::strlen(cu264_last_error()), 1000U);
  EXPECT_LT(std::strlen(cu264_last_error()), 4096U);
}

TEST(CErrors, PicturesThatNoQpMakesSmallEnough) {
  CConfig config({{"size", "64x64"}, {"backend", "cpu"}, {"max-frame-bytes", "40"}});
  CEncoder encoder = open_c_encoder(config);
  std::vector<std::uint8_t> noise(64 * 64);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<std::uint8_t>(i * i * 37 >> 3);
  cu264_frame frame{};
  frame.struct_size = sizeof frame, frame.format = CU264_FORMAT_GRAY8, frame.width = frame.height = 64;
  frame.plane[0] = noise.data(), frame.pitch[0] = 64;
  ASSERT_EQ(cu264_encoder_send(encoder.get(), &frame), CU264_OK);
  ASSERT_EQ(cu264_encoder_flush(encoder.get()), CU264_OK);
  cu264_packet* packet = nullptr;
  EXPECT_EQ(cu264_encoder_receive(encoder.get(), &packet), CU264_ENCODE_FAILURE);
  EXPECT_EQ(packet, nullptr);
  EXPECT_STRNE(cu264_last_error(), "");
}

}  // namespace
}  // namespace cu264::test
