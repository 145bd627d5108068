// The levels of well-known formats, and the exact limit of every row of table A-1.
#include "encoder/level.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using cu264::Profile;
using cu264::Rational;
using cu264::encoder::choose_level;
using cu264::encoder::stream_level;

int level_of(int width, int height, Rational rate) {
  return choose_level((width + 15) / 16, (height + 15) / 16, rate).level_idc;
}

TEST(Level, KnownFormats) {
  EXPECT_EQ(level_of(176, 144, {15, 1}), 10);
  EXPECT_EQ(level_of(176, 144, {30, 1}), 11);
  EXPECT_EQ(level_of(352, 288, {15, 1}), 12);
  EXPECT_EQ(level_of(352, 288, {30, 1}), 13);
  EXPECT_EQ(level_of(352, 576, {25, 1}), 21);
  EXPECT_EQ(level_of(720, 576, {25, 1}), 30);
  EXPECT_EQ(level_of(720, 480, {30000, 1001}), 30);
  EXPECT_EQ(level_of(1280, 720, {30, 1}), 31);
  EXPECT_EQ(level_of(1280, 720, {60, 1}), 32);
  EXPECT_EQ(level_of(1920, 1080, {30, 1}), 40);
  EXPECT_EQ(level_of(1920, 1080, {60000, 1001}), 42);
  EXPECT_EQ(level_of(2560, 1440, {30, 1}), 50);
  EXPECT_EQ(level_of(3840, 2160, {30, 1}), 51);
  EXPECT_EQ(level_of(3840, 2160, {60, 1}), 52);
  EXPECT_EQ(level_of(7680, 4320, {30, 1}), 60);
  EXPECT_EQ(level_of(7680, 4320, {60, 1}), 61);
  EXPECT_EQ(level_of(7680, 4320, {120, 1}), 62);
}

// {level_idc, MaxMBPS, MaxFS} of the rows that differ in them from the row above.
struct Row {
  int level_idc, max_mbps, max_fs;
};
constexpr Row kRows[] = {{10, 1485, 99},        {11, 3000, 396},       {12, 6000, 396},
                         {13, 11880, 396},      {21, 19800, 792},      {22, 20250, 1620},
                         {30, 40500, 1620},     {31, 108000, 3600},    {32, 216000, 5120},
                         {40, 245760, 8192},    {42, 522240, 8704},    {50, 589824, 22080},
                         {51, 983040, 36864},   {52, 2073600, 36864},  {60, 4177920, 139264},
                         {61, 8355840, 139264}, {62, 16711680, 139264}};

// One macroblock at exactly MaxMBPS pictures a second still fits; any more needs the next row.
TEST(Level, MacroblockRateBorders) {
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    EXPECT_EQ(choose_level(1, 1, {kRows[i].max_mbps, 1}).level_idc, kRows[i].level_idc);
    const auto above = choose_level(1, 1, {kRows[i].max_mbps + 1, 1});
    EXPECT_EQ(above.level_idc, i + 1 < std::size(kRows) ? kRows[i + 1].level_idc : 62);
    EXPECT_EQ(above.holds, i + 1 < std::size(kRows)) << "above level " << kRows[i].level_idc;
  }
}

// Profiles above Baseline limit the slices a second: each takes SliceRate macroblocks of MaxMBPS.
TEST(Level, SliceRateAboveBaseline) {
  const auto level_of_slices = [](int slices, Profile profile = Profile::main) {
    return choose_level(40, 30, {90, 1}, 0, 0, slices, profile).level_idc;
  };
  EXPECT_EQ(level_of_slices(30, Profile::baseline), 31);
  EXPECT_EQ(level_of_slices(21, Profile::high), 32);
  EXPECT_EQ(level_of_slices(20), 31);
  EXPECT_EQ(level_of_slices(21), 32);
  EXPECT_EQ(choose_level(4, 4, {1485, 16}, 0, 0, 4, Profile::main).level_idc, 10)
      << "low levels have no limit";

  cu264::Config config;
  config.profile = Profile::baseline;
  config.width = 640, config.height = 480, config.frame_rate = {90, 1}, config.slices = 30;
  EXPECT_EQ(stream_level(config).level_idc, 31);
  config.profile = Profile::main;
  EXPECT_EQ(stream_level(config).level_idc, 32);
  config.profile = Profile::automatic;
  EXPECT_EQ(stream_level(config).level_idc, 32);
  config.level_idc = 31;
  EXPECT_THROW(stream_level(config), cu264::Error);
}

TEST(Level, FrameSizeBorders) {
  const Rational slow{1, 100};
  EXPECT_EQ(choose_level(11, 9, slow).level_idc, 10);   // 99
  EXPECT_EQ(choose_level(10, 10, slow).level_idc, 11);  // 100
  EXPECT_EQ(choose_level(22, 18, slow).level_idc, 11);  // 396
  EXPECT_EQ(choose_level(23, 18, slow).level_idc, 21);  // 414
  EXPECT_EQ(choose_level(40, 40, slow).level_idc, 22);  // 1600
  EXPECT_EQ(choose_level(41, 40, slow).level_idc, 31);  // 1640
  EXPECT_EQ(choose_level(64, 80, slow).level_idc, 32);  // 5120
  EXPECT_EQ(choose_level(128, 64, slow).level_idc, 40);
  EXPECT_EQ(choose_level(128, 65, slow).level_idc, 42);
  EXPECT_EQ(choose_level(128, 128, slow).level_idc, 50);
  EXPECT_EQ(choose_level(192, 192, slow).level_idc, 51);
  EXPECT_EQ(choose_level(193, 192, slow).level_idc, 60);
}

// A side is at most Sqrt(MaxFS * 8) macroblocks (A.3.1 f, g).
TEST(Level, SideBorders) {
  const Rational slow{1, 100};
  EXPECT_EQ(choose_level(28, 1, slow).level_idc, 10);  // 28^2 = 784 <= 792
  EXPECT_EQ(choose_level(29, 1, slow).level_idc, 11);
  EXPECT_EQ(choose_level(1, 29, slow).level_idc, 11);
  EXPECT_EQ(choose_level(256, 2, slow).level_idc, 40);  // 256^2 = 65536 = 8 * 8192
  EXPECT_EQ(choose_level(257, 2, slow).level_idc, 42);
}

TEST(Level, BitRateCountsOnlyIfKnown) {
  const Rational rate{15, 1};
  EXPECT_EQ(choose_level(11, 9, rate, 64000).level_idc, 10);
  EXPECT_EQ(choose_level(11, 9, rate, 64001).level_idc, 9);  // 1b
  EXPECT_EQ(choose_level(11, 9, rate, 128001).level_idc, 11);
  EXPECT_EQ(choose_level(11, 9, rate, 2000000).level_idc, 20);
  EXPECT_EQ(choose_level(11, 9, rate, 20000001).level_idc, 41);
  EXPECT_FALSE(choose_level(11, 9, rate, 800000001).holds);
}

// A unit of MaxBR and MaxCPB is 1250 bits of slices in High, and 1000 below (table A-2).
TEST(Level, HighHasAQuarterMoreBits) {
  const Rational rate{15, 1};
  const auto level = [&](std::int64_t bits, std::int64_t buffer, Profile profile) {
    return choose_level(11, 9, rate, bits, buffer, 1, profile).level_idc;
  };
  EXPECT_EQ(level(64000, 175000, Profile::main), 10);
  EXPECT_EQ(level(64001, 0, Profile::main), 9);
  EXPECT_EQ(level(80000, 218750, Profile::high), 10);
  EXPECT_EQ(level(80001, 0, Profile::high), 9);
  EXPECT_EQ(level(0, 218751, Profile::high), 9);
  EXPECT_EQ(level(160000, 437500, Profile::high), 9);
  EXPECT_EQ(level(160001, 0, Profile::high), 11);
  EXPECT_EQ(level(25'000'000, 31'250'000, Profile::high), 40);
  EXPECT_EQ(level(25'000'001, 0, Profile::high), 41);
  EXPECT_EQ(level(1'000'000'000, 0, Profile::high), 62);
  EXPECT_FALSE(choose_level(11, 9, rate, 1'000'000'001, 0, 1, Profile::high).holds);
}

// The buffer of a stream counts all NAL units: 1500 bits for a unit in High, and 1200 below.
TEST(Level, BuffersOfAllNalUnits) {
  const auto level = [](Profile profile, std::int64_t rate, std::int64_t buffer) {
    cu264::Config config;
    config.width = 1280, config.height = 720, config.profile = profile;
    config.bitrate = rate, config.buffer_bits = buffer;
    return stream_level(config);
  };
  EXPECT_EQ(level(Profile::main, 16'800'000, 16'800'000).level_idc, 31);
  EXPECT_EQ(level(Profile::main, 16'800'064, 16'800'000).level_idc, 32);
  EXPECT_EQ(level(Profile::main, 16'800'000, 16'800'016).level_idc, 32);
  EXPECT_EQ(level(Profile::high, 21'000'000, 21'000'000).level_idc, 31);
  EXPECT_EQ(level(Profile::high, 21'000'064, 21'000'000).level_idc, 32);
  EXPECT_EQ(level(Profile::high, 21'000'000, 21'000'016).level_idc, 32);
  EXPECT_EQ(level(Profile::main, 16'800'000, 16'800'000).bit_rate, 14'000'000);
  EXPECT_EQ(level(Profile::automatic, 21'000'000, 21'000'000).bit_rate, 17'500'000);
}

TEST(Level, BeyondTheTable) {
  const auto choice = choose_level(512, 512, {25, 1});
  EXPECT_EQ(choice.level_idc, 62);
  EXPECT_FALSE(choice.holds);
}

TEST(Level, AskedFor) {
  cu264::Config config;
  config.profile = Profile::baseline;
  config.width = 1280, config.height = 720, config.frame_rate = {30, 1};
  EXPECT_EQ(stream_level(config).level_idc, 31);
  for (const int level_idc : {31, 32, 40, 62}) {
    config.level_idc = level_idc;
    EXPECT_EQ(stream_level(config).level_idc, level_idc);
    EXPECT_TRUE(stream_level(config).holds);
  }
  config.level_idc = 40;
  EXPECT_EQ(stream_level(config).bit_rate, 20'000'000);
  for (const int level_idc : {9, 10, 30}) {
    config.level_idc = level_idc;
    try {
      stream_level(config);
      ADD_FAILURE() << level_idc;
    } catch (const cu264::Error& error) {
      EXPECT_EQ(error.code(), cu264::ErrorCode::invalid_argument);
      EXPECT_NE(
          std::string(error.what()).find("1280x720 at 30 pictures a second (the lowest that does is 3.1)"),
          std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
