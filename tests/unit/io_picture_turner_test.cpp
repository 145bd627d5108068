// Pictures are turned as libavutil's matrices ask.
#include "io/picture_turner.h"

#include <gtest/gtest.h>

extern "C" {
#include <libavutil/display.h>
}

#include <array>
#include <cstdint>
#include <vector>

namespace cu264::io {
namespace {

constexpr int kWidth = 6, kHeight = 4;

AvFrame picture(AVPixelFormat format) {
  AvFrame frame = make_frame();
  frame->format = format, frame->width = kWidth, frame->height = kHeight;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  for (int plane = 0; plane < 3 && frame->data[plane]; ++plane) {
    const int rows = plane == 0 ? kHeight : kHeight / 2;
    const int bytes = plane == 0 || format == AV_PIX_FMT_NV12 ? kWidth : kWidth / 2;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < bytes; ++x)
        frame->data[plane][y * frame->linesize[plane] + x] =
            static_cast<std::uint8_t>(100 * plane + 10 * y + x);
    }
  }
  return frame;
}

DisplayMatrix matrix(double counterclockwise, bool mirrored) {
  DisplayMatrix matrix{};
  av_display_rotation_set(matrix.data(), -counterclockwise);
  av_display_matrix_flip(matrix.data(), mirrored ? 1 : 0, 0);
  return matrix;
}

std::vector<int> row(const AVFrame& frame, int plane, int y, int bytes) {
  const std::uint8_t* const begin = frame.data[plane] + y * frame.linesize[plane];
  return {begin, begin + bytes};
}

TEST(PictureTurner, QuarterTurns) {
  // av_display_rotation_set counts clockwise.
  DisplayMatrix clockwise{};
  av_display_rotation_set(clockwise.data(), 90);
  const AvFrame right = PictureTurner(clockwise).turn(picture(AV_PIX_FMT_YUV420P));
  EXPECT_EQ(right->width, kHeight);
  EXPECT_EQ(right->height, kWidth);
  EXPECT_EQ(row(*right, 0, 0, 4), (std::vector<int>{30, 20, 10, 0}));
  EXPECT_EQ(row(*right, 0, 5, 4), (std::vector<int>{35, 25, 15, 5}));
  EXPECT_EQ(row(*right, 1, 0, 2), (std::vector<int>{110, 100}));
  EXPECT_EQ(row(*right, 2, 2, 2), (std::vector<int>{212, 202}));
  const AvFrame left = PictureTurner(matrix(90, false)).turn(picture(AV_PIX_FMT_GRAY8));
  EXPECT_EQ(row(*left, 0, 0, 4), (std::vector<int>{5, 15, 25, 35}));
}

TEST(PictureTurner, HalfTurnAndMirror) {
  const AvFrame half = PictureTurner(matrix(180, false)).turn(picture(AV_PIX_FMT_NV12));
  EXPECT_EQ(row(*half, 0, 0, 6), (std::vector<int>{35, 34, 33, 32, 31, 30}));
  EXPECT_EQ(row(*half, 1, 0, 6), (std::vector<int>{114, 115, 112, 113, 110, 111}));  // pairs stay pairs
  const AvFrame mirrored = PictureTurner(matrix(0, true)).turn(picture(AV_PIX_FMT_YUV420P));
  EXPECT_EQ(row(*mirrored, 0, 1, 6), (std::vector<int>{15, 14, 13, 12, 11, 10}));
}

TEST(PictureTurner, OnlyRightAngles) {
  EXPECT_TRUE(PictureTurner::can_turn(matrix(270, true)));
  EXPECT_FALSE(PictureTurner::can_turn(matrix(30, false)));
  EXPECT_FALSE(PictureTurner::can_turn(DisplayMatrix{}));
  EXPECT_TRUE(PictureTurner(matrix(90, false)).swaps_sides());
  EXPECT_FALSE(PictureTurner(matrix(180, false)).swaps_sides());
}

}  // namespace
}  // namespace cu264::io
