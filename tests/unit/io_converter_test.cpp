// Pictures of changing shapes are converted as if each were the first.
#include "io/converter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cu264::io {
namespace {

AvFrame picture(const PictureShape& shape) {
  AvFrame frame = make_frame();
  frame->format = shape.format, frame->width = shape.width, frame->height = shape.height;
  frame->color_range = shape.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  frame->colorspace = static_cast<AVColorSpace>(shape.matrix);
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  for (int plane = 0; plane < AV_NUM_DATA_POINTERS && frame->buf[plane]; ++plane) {
    for (std::size_t i = 0; i < frame->buf[plane]->size; ++i)
      frame->buf[plane]->data[i] = static_cast<std::uint8_t>(31 * i + i / 97);
  }
  return frame;
}

std::vector<std::uint8_t> samples(const AVFrame& frame) {
  std::vector<std::uint8_t> all;
  for (int plane = 0; plane < (frame.format == AV_PIX_FMT_GRAY8 ? 1 : 3); ++plane) {
    const int width = plane == 0 ? frame.width : (frame.width + 1) / 2;
    const int height = plane == 0 ? frame.height : (frame.height + 1) / 2;
    for (int y = 0; y < height; ++y) {
      const std::uint8_t* const row =
          frame.data[plane] + static_cast<std::ptrdiff_t>(y) * frame.linesize[plane];
      all.insert(all.end(), row, row + width);
    }
  }
  return all;
}

TEST(Converter, EveryPictureIsConvertedAsIfItWereTheFirst) {
  // Neighbours differ in one thing each.
  const std::vector<PictureShape> shapes{
      {320, 240, AV_PIX_FMT_RGB24, false, AVCOL_SPC_UNSPECIFIED},
      {160, 240, AV_PIX_FMT_RGB24, false, AVCOL_SPC_UNSPECIFIED},
      {640, 240, AV_PIX_FMT_RGB24, false, AVCOL_SPC_UNSPECIFIED},
      {640, 48, AV_PIX_FMT_RGB24, false, AVCOL_SPC_UNSPECIFIED},
      {640, 48, AV_PIX_FMT_YUV444P, false, AVCOL_SPC_UNSPECIFIED},
      {640, 48, AV_PIX_FMT_YUV444P, true, AVCOL_SPC_UNSPECIFIED},
      {640, 48, AV_PIX_FMT_YUV444P, true, AVCOL_SPC_BT709},
      {16, 48, AV_PIX_FMT_YUV444P, true, AVCOL_SPC_BT709},
      {1920, 48, AV_PIX_FMT_YUV444P, true, AVCOL_SPC_BT709},
      {1920, 48, AV_PIX_FMT_GRAY10, true, AVCOL_SPC_BT709},
      {33, 48, AV_PIX_FMT_GRAY10, true, AVCOL_SPC_BT709},
      {320, 240, AV_PIX_FMT_RGB24, false, AVCOL_SPC_UNSPECIFIED},
  };
  Converter converter("clip");
  for (const PictureShape& shape : shapes) {
    SCOPED_TRACE(text_of(shape));
    const AvFrame converted = converter.convert(picture(shape));
    const AvFrame alone = Converter("clip").convert(picture(shape));
    ASSERT_EQ(converted->width, shape.width);
    ASSERT_EQ(converted->height, shape.height);
    EXPECT_TRUE(samples(*converted) == samples(*alone));
  }
}

TEST(Scaler, RefusesAPictureOfAnotherShape) {
  const PictureShape shape{320, 240, AV_PIX_FMT_RGB24};
  PictureShape to = shape;
  to.format = AV_PIX_FMT_YUV420P;
  Scaler scaler("clip");
  EXPECT_EQ(scaler.scale(*picture(shape), shape, to)->format, AV_PIX_FMT_YUV420P);
  for (const PictureShape& other :
       {PictureShape{160, 240, AV_PIX_FMT_RGB24}, PictureShape{320, 120, AV_PIX_FMT_RGB24},
        PictureShape{320, 240, AV_PIX_FMT_GRAY8}})
    EXPECT_THROW(scaler.scale(*picture(other), shape, to), Error);
}

TEST(Scaler, KeepsTimeAndSideData) {
  const PictureShape shape{32, 32, AV_PIX_FMT_RGB24}, to{16, 48, AV_PIX_FMT_GRAY8};
  const AvFrame frame = picture(shape);
  frame->pts = 77;
  ASSERT_NE(av_frame_new_side_data(frame.get(), AV_FRAME_DATA_A53_CC, 3), nullptr);
  const AvFrame scaled = Scaler("clip").scale(*frame, shape, to);
  EXPECT_EQ(scaled->pts, 77);
  EXPECT_NE(av_frame_get_side_data(scaled.get(), AV_FRAME_DATA_A53_CC), nullptr);
}

}  // namespace
}  // namespace cu264::io
