// Macroblock headers and slice headers of P slices agree with the standard's tables, written out here in the
// direction of a decoder.

#include "core/p_syntax.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "bit_string.h"
#include "core/slice_header.h"

namespace {

using namespace cu264::core;
using namespace cu264::test;

// coded_block_pattern by codeNum, Inter (table 9-4, ChromaArrayType 1 or 2).
constexpr int kInterPatternOfCodeNum[48] = {0,  16, 1,  2,  4,  8,  32, 3,  5,  10, 12, 15, 47, 7,  11, 13,
                                            14, 6,  9,  31, 35, 37, 42, 44, 33, 34, 36, 40, 39, 43, 45, 46,
                                            17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41};

TEST(PSyntax, CodedBlockPatternIsTable94) {
  for (int code_num = 0; code_num < 48; ++code_num)
    EXPECT_EQ(inter_pattern_code_num(kInterPatternOfCodeNum[code_num]), code_num);
}

TEST(PSyntax, MbTypeIsTable713) {
  MacroblockRecord mb;
  const auto type_of = [&](MacroblockKind kind) {
    mb.kind = kind;
    return p_mb_type(mb);
  };
  EXPECT_EQ(type_of(MacroblockKind::p16x16), 0);
  EXPECT_EQ(type_of(MacroblockKind::p16x8), 1);
  EXPECT_EQ(type_of(MacroblockKind::p8x16), 2);
  EXPECT_EQ(type_of(MacroblockKind::p8x8), 3);
  EXPECT_EQ(type_of(MacroblockKind::intra4x4), 5);
  EXPECT_EQ(type_of(MacroblockKind::intra16x16), 6);
  EXPECT_EQ(type_of(MacroblockKind::pcm), 30);
}

// The header of an inter macroblock as 7.3.5 and 7.3.5.1 have it.
TEST(PSyntax, HeadersHoldTheVectorsAndWhatFollows) {
  std::mt19937 random(1);
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  constexpr int kPartitionsOfType[4] = {1, 2, 2, 4}, kStep[4] = {4, 2, 1, 1};
  for (int i = 0; i < 500; ++i) {
    const int type = draw(4);
    MacroblockRecord mb;
    mb.kind = static_cast<MacroblockKind>(static_cast<int>(MacroblockKind::p16x16) + type);
    mb.coded_block_pattern = static_cast<std::uint8_t>(draw(48));
    mb.transform_8x8_mode = draw(2) != 0;
    mb.inter_transform_8x8 = draw(2) != 0;
    mb.mb_qp_delta = static_cast<std::int8_t>(draw(52) - 26);
    MotionRecord motion;
    for (MotionVector& mvd : motion.mvd) mvd = motion_vector(draw(9000) - 4500, draw(400) - 200);
    std::string expected = ue_text(static_cast<std::uint64_t>(type));
    for (int sub = 0; type == 3 && sub < 4; ++sub) expected += ue_text(0);
    for (int part = 0; part < kPartitionsOfType[type]; ++part) {
      const MotionVector mvd = motion.mvd[part * kStep[type]];
      expected += se_text(mvd.x) + se_text(mvd.y);
    }
    expected += ue_text(static_cast<std::uint64_t>(inter_pattern_code_num(mb.coded_block_pattern)));
    if (mb.transform_8x8_mode && mb.coded_block_pattern % 16 != 0)
      expected += mb.inter_transform_8x8 ? "1" : "0";
    if (mb.coded_block_pattern != 0) expected += se_text(mb.mb_qp_delta);
    StringSink sink;
    put_p_macroblock_header(sink, mb, motion, nullptr, nullptr);
    EXPECT_EQ(sink.bits, expected);
  }
}

TEST(PSyntax, IMacroblocksDifferInTheirTypeAlone) {
  MacroblockRecord mb;
  mb.kind = MacroblockKind::intra16x16;
  mb.coded_block_pattern = 32, mb.intra16x16_pred_mode = 2, mb.mb_qp_delta = -3;
  StringSink in_i, in_p;
  put_macroblock_header(in_i, mb, nullptr, nullptr);
  put_p_macroblock_header(in_p, mb, {}, nullptr, nullptr);
  const std::string type = ue_text(1 + 2 + 8), p_type = ue_text(5 + 1 + 2 + 8);
  ASSERT_EQ(in_i.bits.rfind(type, 0), 0u);
  EXPECT_EQ(in_p.bits, p_type + in_i.bits.substr(type.size()));
}

// 7.3.3 with the parameter sets that the encoder writes.
TEST(PSyntax, SliceHeadersHoldFrameNumAndQp) {
  PictureParams picture;
  picture.key = false;
  for (const bool cabac : {false, true}) {
    for (int frame_num = 1; frame_num < 16; ++frame_num) {
      picture.frame_num = static_cast<std::uint8_t>(frame_num);
      picture.qp = static_cast<std::uint8_t>(3 * frame_num);
      picture.cabac_init_idc = static_cast<std::uint8_t>(frame_num % 3);
      picture.deblock = frame_num % 2 != 0;
      const SliceHeaderBits header = p_slice_header(40 * frame_num, picture, cabac);
      const std::string expected =
          ue_text(static_cast<std::uint64_t>(40 * frame_num)) + ue_text(0) + ue_text(0) +
          binary(static_cast<std::uint64_t>(frame_num), 4) + "000" +
          (cabac ? ue_text(picture.cabac_init_idc) : "") + se_text(picture.qp - 26) +
          ue_text(picture.deblock ? 0 : 1) +
          (picture.deblock ? se_text(kPSliceAlphaC0OffsetDiv2) + se_text(kPSliceBetaOffsetDiv2) : "");
      EXPECT_EQ(binary(header.bits, header.length), expected);
    }
  }
}

}  // namespace
