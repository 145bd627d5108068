// Scaling lists from text, and their syntax in the SPS as the tests' own parser reads it.
#include "cu264/scaling_lists.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "cu264/encoder.h"
#include "encoder/headers.h"
#include "encoder/rbsp_writer.h"
#include "encoder/scaling_matrix.h"
#include "tests/support/stream_headers.h"

namespace cu264 {
namespace {

std::string numbers(int count, int first, int step = 0) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(first + step * i) + (i % 4 == 3 ? ",\n" : ", ");
  return text;
}

std::string error_of(const std::string& text) {
  try {
    parse_scaling_lists(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(ScalingListText, ReadsTheListsOfTheJm) {
  const ScalingLists lists =
      parse_scaling_lists("# a comment with INTRA4X4_LUMA = 1\r\n\nINTRA4X4_LUMA   =\n" + numbers(16, 1, 1) +
                          "INTRA4X4_CHROMAU = " + numbers(16, 20) + "INTRA4X4_CHROMAV=" + numbers(16, 30) +
                          "\nINTER4X4_LUMA = " + numbers(16, 40) + "INTRA8X8_LUMA = # here too\n" +
                          numbers(64, 100, 2) + "INTER8X8_LUMA =" + numbers(64, 50));
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(lists.luma4x4[i], i + 1);
    EXPECT_EQ(lists.cb4x4[i], 20);
    EXPECT_EQ(lists.cr4x4[i], 30);
  }
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(lists.luma8x8[i], 100 + 2 * i);
}

TEST(ScalingListText, OneListForBothPlanesAndFlatOnesElsewhere) {
  const ScalingLists lists = parse_scaling_lists("INTRA4X4_CHROMA = " + numbers(16, 255));
  ScalingLists expected;
  expected.cb4x4.fill(255), expected.cr4x4.fill(255);
  EXPECT_EQ(lists, expected);
}

TEST(ScalingListText, ErrorsNameTheLine) {
  const std::string good = "INTRA4X4_LUMA =\n" + numbers(16, 9);
  const std::pair<std::string, const char*> cases[] = {
      {"", "there is no list"},
      {" \n# nothing\n", "line 3: there is no list"},
      {"INTRA4X4 = 1", "line 1: \"INTRA4X4\" is no list"},
      {good + "17", "line 6: \"17\" is one number too many"},
      {good + good, "line 6: INTRA4X4_LUMA is there again"},
      {"INTRA4X4_LUMA 1", "no = follows"},
      {"INTRA4X4_LUMA", "no = follows"},
      {"INTRA4X4_LUMA = 1,2,3", "has only 3 of 16 numbers"},
      {"\nINTRA4X4_LUMA = 1,2,3\nINTRA8X8_LUMA = 1", "line 2: INTRA4X4_LUMA has only 3 of 16 numbers"},
      {"INTRA4X4_LUMA = 0", "\"0\" is no weight"},
      {"INTRA4X4_LUMA = 256", "\"256\" is no weight"},
      {"INTRA4X4_LUMA = 99999999999999999999", "is no weight"},
      {"INTRA4X4_LUMA = -1", "\"-\" is no weight"},
      {"INTRA4X4_LUMA = 1x", "\"1x\" is no weight"},
      {"INTRA4X4_LUMA = 1;2", "\";\" is no weight"},
      {std::string("INTRA4X4_LUMA = \0", 17), "an unprintable character"},
      {std::string(100, 'A'), "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA...\" is no list"},
      {std::string(kMaxScalingListText + 1, ' '), "more than 64 KiB"}};
  for (const auto& [text, said] : cases)
    EXPECT_NE(error_of(text).find(said), std::string::npos) << error_of(text);
  EXPECT_EQ(error_of(good), "");
}

TEST(ScalingListText, ConfigTakesNamesAndTexts) {
  Config config;
  config.set("cqm", "jvt");
  EXPECT_EQ(config.scaling_lists, jvt_scaling_lists());
  config.set("cqm", "INTRA4X4_LUMA = " + numbers(16, 5));
  EXPECT_EQ(config.scaling_lists.luma4x4[7], 5);
  config.set("cqm", "flat");
  EXPECT_EQ(config.scaling_lists, ScalingLists{});
  EXPECT_THROW(config.set("cqm", "JVT"), Error);
}

test::Sps coded(const ScalingLists& lists, std::size_t* bytes = nullptr) {
  Config config;
  config.width = config.height = 64;
  config.profile = Profile::high, config.scaling_lists = lists;
  test::NalUnit nal;
  nal.nal_ref_idc = 3;
  nal.rbsp = encoder::sps_rbsp(config, 10);
  if (bytes != nullptr) *bytes = nal.rbsp.size();
  return test::parse_sps(nal);
}

void expect_coded(const ScalingLists& lists) {
  const test::Sps sps = coded(lists);
  for (std::size_t i = 0; i < 16; ++i) {
    ASSERT_EQ(sps.lists4x4[0][i], lists.luma4x4[i]);
    ASSERT_EQ(sps.lists4x4[1][i], lists.cb4x4[i]);
    ASSERT_EQ(sps.lists4x4[2][i], lists.cr4x4[i]);
  }
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(sps.list8x8[i], lists.luma8x8[i]);
}

std::size_t coded_bits(const ScalingLists& lists) {
  encoder::RbspWriter w;
  encoder::write_scaling_matrix(w, lists);
  return 8 * w.finish().size();
}

// Equal tails of every length and of weights whose deltas wrap, all fall-back rules, and random lists.
TEST(ScalingMatrix, TheDecodersListsAreThose) {
  EXPECT_FALSE(coded(ScalingLists{}).scaling_matrix);
  const ScalingLists jvt = jvt_scaling_lists();
  expect_coded(jvt);
  for (const int weight : {1, 7, 8, 16, 127, 128, 129, 136, 137, 255}) {
    for (std::size_t tail = 0; tail <= 16; ++tail) {
      ScalingLists lists;
      for (std::size_t i = 0; i < 16; ++i) lists.luma4x4[i] = static_cast<std::uint8_t>(i % 2 == 0 ? 255 : 1);
      // In the order of the scan, the end of the raster order comes last, too, from its last four on.
      for (std::size_t i = 16 - tail; i < 16; ++i) lists.luma4x4[i] = static_cast<std::uint8_t>(weight);
      lists.luma8x8.fill(static_cast<std::uint8_t>(weight));
      expect_coded(lists);
    }
  }
  for (int which = 0; which < 64; ++which) {  // each plane: the default, flat, or that of the plane before
    ScalingLists lists;
    lists.luma4x4 = which % 2 != 0 ? jvt.luma4x4 : lists.luma4x4;
    lists.cb4x4 = which / 2 % 3 == 0 ? jvt.cb4x4 : which / 2 % 3 == 1 ? lists.cb4x4 : lists.luma4x4;
    lists.cr4x4 = which / 6 % 3 == 0 ? jvt.cr4x4 : which / 6 % 3 == 1 ? lists.cr4x4 : lists.cb4x4;
    lists.luma8x8 = which / 18 % 2 != 0 ? jvt.luma8x8 : lists.luma8x8;
    expect_coded(lists);
  }
  std::mt19937 random(4);
  for (int n = 0; n < 300; ++n) {
    ScalingLists lists;
    const auto fill = [&](auto& list) {
      for (std::uint8_t& weight : list)
        weight = static_cast<std::uint8_t>(1 + random() % (n % 2 == 0 ? 255 : 3));
    };
    fill(lists.luma4x4), fill(lists.cb4x4), fill(lists.cr4x4), fill(lists.luma8x8);
    expect_coded(lists);
  }
}

TEST(ScalingMatrix, IsWrittenInFewBits) {
  EXPECT_EQ(coded_bits(ScalingLists{}), 8u);
  EXPECT_EQ(coded_bits(jvt_scaling_lists()), 16u) << "flags alone: nine bits and the stop bit";
  ScalingLists lists = jvt_scaling_lists();
  lists.cb4x4.fill(16), lists.cr4x4 = jvt_scaling_lists().cr4x4;
  EXPECT_LE(coded_bits(lists), 56u) << "one weight, the end of the list, and a default";
}

TEST(ScalingMatrix, OnlyHighHasLists) {
  Config config;
  config.width = config.height = 64;
  config.backend = BackendChoice::cpu;
  config.set("cqm", "jvt");
  for (const Profile profile : {Profile::baseline, Profile::main}) {
    config.profile = profile;
    try {
      Encoder encoder(config);
      ADD_FAILURE() << "was opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("only the profile high"), std::string::npos);
    }
  }
  config.profile = Profile::high;
  config.scaling_lists.luma8x8[63] = 0;
  EXPECT_THROW(Encoder{config}, Error);
  config.scaling_lists.luma8x8[63] = 1;
  EXPECT_NO_THROW(Encoder{config});
}

}  // namespace
}  // namespace cu264
