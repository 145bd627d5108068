// Code points that a file may hold and no enumerator stands for.
#include <gtest/gtest.h>

#include <cstring>

#include "io/picture_tags.h"

namespace cu264::io {
namespace {

template <class Tag>
void put(Tag& tag, int value) {
  std::memcpy(&tag, &value, sizeof value);
}

TEST(PictureTags, UndefinedCodePointsBecomeUnspecified) {
  for (const int value : {33, -1, 1 << 20, 256}) {
    AvFrame frame = make_frame();
    put(frame->color_range, value), put(frame->color_primaries, value), put(frame->color_trc, value);
    put(frame->colorspace, value), put(frame->chroma_location, value);
    keep_defined_tags(*frame);
    EXPECT_EQ(frame->color_range, AVCOL_RANGE_UNSPECIFIED);
    EXPECT_EQ(frame->color_trc, AVCOL_TRC_UNSPECIFIED);
    EXPECT_EQ(frame->color_primaries, AVCOL_PRI_UNSPECIFIED);
    EXPECT_EQ(frame->colorspace, AVCOL_SPC_UNSPECIFIED);
    EXPECT_EQ(frame->chroma_location, AVCHROMA_LOC_UNSPECIFIED);
  }
}

TEST(PictureTags, DefinedCodePointsStay) {
  AvFrame frame = make_frame();
  frame->color_range = AVCOL_RANGE_JPEG, frame->color_primaries = AVCOL_PRI_BT2020;
  frame->color_trc = AVCOL_TRC_SMPTE2084, frame->colorspace = AVCOL_SPC_BT2020_NCL;
  frame->chroma_location = AVCHROMA_LOC_TOPLEFT;
  keep_defined_tags(*frame);
  EXPECT_EQ(frame->color_range, AVCOL_RANGE_JPEG);
  EXPECT_EQ(frame->color_primaries, AVCOL_PRI_BT2020);
  EXPECT_EQ(frame->color_trc, AVCOL_TRC_SMPTE2084);
  EXPECT_EQ(frame->colorspace, AVCOL_SPC_BT2020_NCL);
  EXPECT_EQ(frame->chroma_location, AVCHROMA_LOC_TOPLEFT);
}

}  // namespace
}  // namespace cu264::io
