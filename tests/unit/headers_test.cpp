// Parameter sets and slice headers, read back by a parser of their syntax tables.
#include "encoder/headers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/slice_header.h"
#include "encoder/config.h"
#include "encoder/hrd.h"
#include "tests/unit/header_fields.h"

namespace {

using cu264::Config;
using cu264::core::PictureParams;
using cu264::core::slice_header;
using cu264::core::SliceHeaderBits;
using cu264::test::Fields;
using cu264::test::HeaderReader;
using cu264::test::sized;
using cu264::test::sps_of;

TEST(Headers, ChromaLocationIsWrittenWhereItIsKnown) {
  Config config = sized(64, 64);
  EXPECT_EQ(sps_of(config)["chroma_loc_info_present_flag"], 0);
  for (int location = 0; location <= cu264::kMaxChromaLocation; ++location) {
    config.chroma_location = location;
    Fields sps = sps_of(config);
    EXPECT_EQ(sps["chroma_loc_info_present_flag"], 1);
    EXPECT_EQ(sps["chroma_sample_loc_type_top_field"], location);
    EXPECT_EQ(sps["chroma_sample_loc_type_bottom_field"], location);
  }
}

TEST(Headers, SpsSaysConstrainedBaselineWithoutReordering) {
  const Fields f = sps_of(sized(1920, 1080));
  const std::pair<const char*, int> expected[] = {{"profile_idc", 66},
                                                  {"constraint_flags", 0xc0},
                                                  {"level_idc", 40},
                                                  {"log2_max_frame_num_minus4", 0},
                                                  {"pic_order_cnt_type", 2},
                                                  {"max_num_ref_frames", 1},
                                                  {"gaps_in_frame_num_value_allowed_flag", 0},
                                                  {"pic_width_in_mbs_minus1", 119},
                                                  {"pic_height_in_map_units_minus1", 67},
                                                  {"frame_mbs_only_flag", 1},
                                                  {"frame_crop_right_offset", 0},
                                                  {"frame_crop_bottom_offset", 4},
                                                  {"aspect_ratio_info_present_flag", 0},
                                                  {"video_signal_type_present_flag", 0},
                                                  {"num_units_in_tick", 1},
                                                  {"time_scale", 50},
                                                  {"fixed_frame_rate_flag", 1},
                                                  {"max_num_reorder_frames", 0},
                                                  {"max_dec_frame_buffering", 1}};
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(f.contains(name)) << name;
    EXPECT_EQ(f.at(name), value) << name;
  }
}

// By constraint_set3_flag and level_idc 11 up to Main, by level_idc 9 in High, where the flag says that all
// pictures are IDR pictures (7.4.2.1.1, A.3.2).
TEST(Headers, Level1bByProfile) {
  const auto expect = [](cu264::Profile profile, int level_idc, int written_level, int flags) {
    Config config = sized(176, 144);
    config.profile = profile;
    const Fields f = sps_of(config, level_idc);
    EXPECT_EQ(f.at("level_idc"), written_level);
    EXPECT_EQ(f.at("constraint_flags"), flags);
    EXPECT_EQ(f.at("max_dec_frame_buffering"), 1);
  };
  expect(cu264::Profile::baseline, 9, 11, 0xd0);
  expect(cu264::Profile::baseline, 11, 11, 0xc0);
  expect(cu264::Profile::main, 9, 11, 0x50);
  expect(cu264::Profile::main, 11, 11, 0x40);
  expect(cu264::Profile::high, 9, 9, 0x1c);
  expect(cu264::Profile::high, 11, 11, 0x1c);
}

TEST(Headers, SizeSurvivesCropping) {
  for (const int width : {1, 2, 15, 16, 17, 18, 34, 1919, 4104, 8192}) {
    for (const int height : {1, 2, 16, 33, 1079, 8191}) {
      const Fields f = sps_of(sized(width, height));
      const auto crop = [&](const char* name) { return f.contains(name) ? f.at(name) : 0; };
      EXPECT_EQ(16 * (f.at("pic_width_in_mbs_minus1") + 1) - 2 * crop("frame_crop_right_offset"),
                (width + 1) / 2 * 2);
      EXPECT_EQ(16 * (f.at("pic_height_in_map_units_minus1") + 1) - 2 * crop("frame_crop_bottom_offset"),
                (height + 1) / 2 * 2);
      EXPECT_EQ(crop("frame_crop_left_offset") + crop("frame_crop_top_offset"), 0);
    }
  }
}

TEST(Headers, VuiCarriesAspectRatioColourAndTiming) {
  Config config = sized(720, 576);
  config.sample_aspect_ratio = {32, 22};
  EXPECT_EQ(sps_of(config).at("aspect_ratio_idc"), 4);  // 16:11
  config.sample_aspect_ratio = {2, 1};
  EXPECT_EQ(sps_of(config).at("aspect_ratio_idc"), 16);
  config.sample_aspect_ratio = {1, 1};
  EXPECT_EQ(sps_of(config).at("aspect_ratio_idc"), 1);
  config.sample_aspect_ratio = {65535, 65534};
  config.colour = {1, 13, 5, true};
  config.frame_rate = {60000, 2002};
  config.fixed_frame_rate = false;
  const Fields f = sps_of(config);
  EXPECT_EQ(f.at("aspect_ratio_idc"), 255);
  EXPECT_EQ(f.at("sar_width"), 65535);
  EXPECT_EQ(f.at("sar_height"), 65534);
  EXPECT_EQ(f.at("video_format"), 5);
  EXPECT_EQ(f.at("video_full_range_flag"), 1);
  EXPECT_EQ(f.at("colour_primaries"), 1);
  EXPECT_EQ(f.at("transfer_characteristics"), 13);
  EXPECT_EQ(f.at("matrix_coefficients"), 5);
  EXPECT_EQ(f.at("num_units_in_tick"), 1001);
  EXPECT_EQ(f.at("time_scale"), 60000);
  EXPECT_EQ(f.at("fixed_frame_rate_flag"), 0);
}

TEST(Headers, RangeAloneNeedsNoColourDescription) {
  Config config = sized(16, 16);
  config.colour.full_range = true;
  const Fields f = sps_of(config);
  EXPECT_EQ(f.at("video_full_range_flag"), 1);
  EXPECT_EQ(f.at("colour_description_present_flag"), 0);
}

TEST(Headers, LargestTimeScaleFits) {
  Config config = sized(16, 16);
  config.frame_rate = {2147483647, 1};
  EXPECT_EQ(sps_of(config).at("time_scale"), 4294967294);
}

TEST(Headers, HrdParametersAreThoseOfTheBuffer) {
  Config config = sized(64, 64);
  EXPECT_EQ(sps_of(config)["nal_hrd_parameters_present_flag"], 0);
  const auto check = [&](std::int64_t bit_rate, std::int64_t cpb_bits, int cbr) {
    Fields f = sps_of(config);
    ASSERT_EQ(f["nal_hrd_parameters_present_flag"], 1);
    EXPECT_EQ((f["bit_rate_value_minus1"] + 1) << (6 + f["bit_rate_scale"]), bit_rate);
    EXPECT_EQ((f["cpb_size_value_minus1"] + 1) << (4 + f["cpb_size_scale"]), cpb_bits);
    EXPECT_EQ(f["cbr_flag"], cbr);
    EXPECT_EQ(f["low_delay_hrd_flag"], 0);
    EXPECT_EQ(f["max_dec_frame_buffering"], 1);  // what follows is read at the right place
    const auto hrd = cu264::encoder::hrd_params(config);
    ASSERT_TRUE(hrd);
    EXPECT_EQ(hrd->bit_rate, bit_rate);
    EXPECT_EQ(hrd->cpb_bits, cpb_bits);
    EXPECT_EQ(hrd->cbr, cbr != 0);
  };
  config.bitrate = 1000 * 1000;
  check(1000000, 1000000, 0);
  config.max_bitrate = 2000100, config.buffer_bits = 300;
  check(2000064, 288, 0);
  config.cbr = true;
  check(1000000, 288, 1);
  config = sized(64, 64), config.max_bitrate = 1;
  check(64, 16, 0);
  config.max_bitrate = config.buffer_bits = std::int64_t{1} << 50;
  check(cu264::encoder::kMaxHrdBitRate, cu264::encoder::kMaxCpbBits, 0);
}

// Pictures that count their durations do not leave a buffer at the frame rate.
TEST(Headers, ATimedBitrateHasNoBuffer) {
  Config config = sized(64, 64);
  config.bitrate = 1000 * 1000, config.timed_bitrate = true;
  EXPECT_EQ(sps_of(config)["nal_hrd_parameters_present_flag"], 0);
  EXPECT_NO_THROW(cu264::encoder::validate(config));
  for (const auto& change : std::vector<std::function<void(Config&)>>{
           [](Config& c) { c.max_bitrate = 2000 * 1000; }, [](Config& c) { c.buffer_bits = 1000 * 1000; },
           [](Config& c) { c.cbr = true; }, [](Config& c) { c.bitrate = 0; }}) {
    Config refused = config;
    change(refused);
    EXPECT_THROW(cu264::encoder::validate(refused), cu264::Error);
  }
}

TEST(Headers, MainSaysCabacUnlessItIsCavlc) {
  Config config = sized(1920, 1080);
  config.profile = cu264::Profile::main;
  Fields sps = sps_of(config);
  EXPECT_EQ(sps["profile_idc"], 77);
  EXPECT_EQ(sps["constraint_flags"], 0x40);
  EXPECT_EQ(sps["level_idc"], 40);
  const std::vector<std::uint8_t> cabac = cu264::encoder::pps_rbsp(config);
  config.cavlc = true;
  const std::vector<std::uint8_t> cavlc = cu264::encoder::pps_rbsp(config);
  EXPECT_EQ(cavlc, cu264::encoder::pps_rbsp(sized(1920, 1080)));
  EXPECT_EQ(cabac[0], cavlc[0] | 0x20);  // entropy_coding_mode_flag, after the two ids
  EXPECT_TRUE(std::equal(cabac.begin() + 1, cabac.end(), cavlc.begin() + 1, cavlc.end()));
}

TEST(Headers, HighSaysConstrainedHighAndIntra) {
  Config config = sized(1920, 1080);
  config.profile = cu264::Profile::high;
  Fields sps = sps_of(config);
  EXPECT_EQ(sps["profile_idc"], 100);
  EXPECT_EQ(sps["constraint_flags"], 0x1c);
  EXPECT_EQ(sps["chroma_format_idc"], 1);
  EXPECT_EQ(sps["bit_depth_luma_minus8"] + sps["bit_depth_chroma_minus8"], 0);
  EXPECT_EQ(sps["qpprime_y_zero_transform_bypass_flag"], 0);
  EXPECT_EQ(sps["pic_width_in_mbs_minus1"], 119);
  EXPECT_EQ(sps["frame_crop_bottom_offset"], 4);
  for (const bool cavlc : {false, true}) {
    config.cavlc = cavlc;
    HeaderReader r(cu264::encoder::pps_rbsp(config));
    EXPECT_EQ(r.ue() + r.ue(), 0u);           // ids
    EXPECT_EQ(r.u(1), cavlc ? 0u : 1u);       // entropy_coding_mode_flag
    EXPECT_EQ(r.u(1), 0u);                    // bottom_field_pic_order_in_frame_present_flag
    EXPECT_EQ(r.ue() + r.ue() + r.ue(), 0u);  // slice groups, reference pictures
    EXPECT_EQ(r.u(3), 0u);                    // weighted prediction
    EXPECT_EQ(r.se(), 0);                     // pic_init_qp_minus26
    EXPECT_EQ(r.se(), 0);
    EXPECT_EQ(r.se(), 0);   // chroma_qp_index_offset
    EXPECT_EQ(r.u(1), 1u);  // deblocking_filter_control_present_flag
    EXPECT_EQ(r.u(2), 0u);  // constrained_intra_pred_flag, redundant_pic_cnt_present_flag
    EXPECT_EQ(r.u(1), 1u);  // transform_8x8_mode_flag
    EXPECT_EQ(r.u(1), 0u);  // pic_scaling_matrix_present_flag
    EXPECT_EQ(r.se(), 0);   // second_chroma_qp_index_offset
    EXPECT_TRUE(r.at_trailing_bits());
  }
}

// What is chosen is what the headers say, as if it had been asked for.
TEST(Headers, AnAutomaticProfileIsNotTold) {
  Config automatic = sized(64, 64), high = automatic;
  automatic.profile = cu264::Profile::automatic, high.profile = cu264::Profile::high;
  const auto headers = [](const Config& config) { return cu264::encoder::stream_headers(config, 10, true); };
  EXPECT_EQ(headers(automatic), headers(high));
  automatic.watermark = cu264::EncoderWatermark{cu264::ProtectionKey::random(), {1}};
  EXPECT_NE(headers(automatic), headers(high));
  high.cavlc = true;
  EXPECT_EQ(headers(automatic), headers(high));
}

TEST(Headers, PpsIsCavlcWithFilterControl) {
  HeaderReader r(cu264::encoder::pps_rbsp(sized(64, 64)));
  EXPECT_EQ(r.ue(), 0u);  // pic_parameter_set_id
  EXPECT_EQ(r.ue(), 0u);  // seq_parameter_set_id
  EXPECT_EQ(r.u(1), 0u);  // entropy_coding_mode_flag
  EXPECT_EQ(r.u(1), 0u);
  EXPECT_EQ(r.ue(), 0u);  // num_slice_groups_minus1
  EXPECT_EQ(r.ue(), 0u);
  EXPECT_EQ(r.ue(), 0u);
  EXPECT_EQ(r.u(3), 0u);  // weighted prediction
  EXPECT_EQ(r.se(), 0);   // pic_init_qp_minus26
  EXPECT_EQ(r.se(), 0);
  EXPECT_EQ(r.se(), 0);   // chroma_qp_index_offset
  EXPECT_EQ(r.u(1), 1u);  // deblocking_filter_control_present_flag
  EXPECT_EQ(r.u(1), 0u);  // constrained_intra_pred_flag
  EXPECT_EQ(r.u(1), 0u);  // redundant_pic_cnt_present_flag
  EXPECT_TRUE(r.at_trailing_bits());
}

std::vector<bool> bits_of(const SliceHeaderBits& header) {
  std::vector<bool> bits;
  for (int i = header.length - 1; i >= 0; --i) bits.push_back(i < 64 && ((header.bits >> i) & 1) != 0);
  return bits;
}

TEST(Headers, SliceHeaderReadsBack) {
  for (const int first_mb : {0, 1, 119, 8159, 65534, 131070, 131071, 261632}) {
    for (const int idr_pic_id : {0, 1}) {
      for (int qp = 0; qp <= 51; ++qp) {
        for (const bool deblock : {false, true}) {
          PictureParams picture;
          picture.qp = static_cast<std::uint8_t>(qp);
          picture.idr_pic_id = static_cast<std::uint8_t>(idr_pic_id), picture.deblock = deblock;
          const SliceHeaderBits header = slice_header(first_mb, picture);
          ASSERT_LE(header.length, 68);
          HeaderReader r(bits_of(header));
          ASSERT_EQ(r.ue(), static_cast<std::uint64_t>(first_mb)) << "qp " << qp;
          EXPECT_EQ(r.ue(), 2u);  // slice_type
          EXPECT_EQ(r.ue(), 0u);  // pic_parameter_set_id
          EXPECT_EQ(r.u(4), 0u);  // frame_num
          EXPECT_EQ(r.ue(), static_cast<std::uint64_t>(idr_pic_id));
          EXPECT_EQ(r.u(2), 0u);  // dec_ref_pic_marking
          EXPECT_EQ(26 + r.se(), qp);
          EXPECT_EQ(r.ue(), deblock ? 0u : 1u);  // disable_deblocking_filter_idc
          if (deblock) {
            EXPECT_EQ(r.se(), -1);
            EXPECT_EQ(r.se(), -2);
          }
          ASSERT_TRUE(r.at_end());
        }
      }
    }
  }
}

}  // namespace
