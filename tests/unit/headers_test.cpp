// Parameter sets, slice headers and the SEI message, read back by a parser of their syntax tables.
#include "encoder/headers.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/slice_header.h"
#include "cu264/version.h"

namespace {

using cu264::Config;
using cu264::core::PictureParams;
using cu264::core::slice_header;
using cu264::core::SliceHeaderBits;

class Reader {
 public:
  explicit Reader(std::vector<bool> bits) : bits_(std::move(bits)) {}
  explicit Reader(const std::vector<std::uint8_t>& bytes) {
    for (const auto byte : bytes) {
      for (int b = 7; b >= 0; --b) bits_.push_back(((byte >> b) & 1) != 0);
    }
  }

  std::uint64_t u(int n) {
    std::uint64_t v = 0;
    for (int i = 0; i < n; ++i) v = 2 * v + (at_ < bits_.size() ? bits_[at_] : 0), ++at_;
    return v;
  }
  std::uint64_t ue() {
    int zeros = 0;
    while (at_ < bits_.size() && !bits_[at_]) ++zeros, ++at_;
    ++at_;
    return (std::uint64_t{1} << zeros) - 1 + u(zeros);
  }
  std::int64_t se() {
    const auto k = static_cast<std::int64_t>(ue());
    return k % 2 != 0 ? (k + 1) / 2 : -k / 2;
  }
  // True if exactly rbsp_trailing_bits() is left.
  bool at_trailing_bits() {
    if (u(1) != 1) return false;
    while (at_ % 8 != 0) {
      if (u(1) != 0) return false;
    }
    return at_ == bits_.size();
  }
  bool at_end() const { return at_ == bits_.size(); }

 private:
  std::vector<bool> bits_;
  std::size_t at_ = 0;
};

using Fields = std::map<std::string, std::int64_t>;

void parse_vui(Reader& r, Fields& f) {
  const auto u = [&](const char* name, int n) { return f[name] = static_cast<std::int64_t>(r.u(n)); };
  const auto ue = [&](const char* name) { return f[name] = static_cast<std::int64_t>(r.ue()); };
  if (u("aspect_ratio_info_present_flag", 1) && u("aspect_ratio_idc", 8) == 255) {
    u("sar_width", 16);
    u("sar_height", 16);
  }
  if (u("overscan_info_present_flag", 1)) u("overscan_appropriate_flag", 1);
  if (u("video_signal_type_present_flag", 1)) {
    u("video_format", 3);
    u("video_full_range_flag", 1);
    if (u("colour_description_present_flag", 1)) {
      u("colour_primaries", 8);
      u("transfer_characteristics", 8);
      u("matrix_coefficients", 8);
    }
  }
  if (u("chroma_loc_info_present_flag", 1)) {
    ue("chroma_sample_loc_type_top_field");
    ue("chroma_sample_loc_type_bottom_field");
  }
  if (u("timing_info_present_flag", 1)) {
    u("num_units_in_tick", 32);
    u("time_scale", 32);
    u("fixed_frame_rate_flag", 1);
  }
  ASSERT_EQ(u("nal_hrd_parameters_present_flag", 1), 0);
  ASSERT_EQ(u("vcl_hrd_parameters_present_flag", 1), 0);
  u("pic_struct_present_flag", 1);
  if (u("bitstream_restriction_flag", 1)) {
    u("motion_vectors_over_pic_boundaries_flag", 1);
    for (const char* name :
         {"max_bytes_per_pic_denom", "max_bits_per_mb_denom", "log2_max_mv_length_horizontal",
          "log2_max_mv_length_vertical", "max_num_reorder_frames", "max_dec_frame_buffering"}) {
      ue(name);
    }
  }
}

Fields parse_sps(const std::vector<std::uint8_t>& rbsp) {
  Reader r(rbsp);
  Fields f;
  const auto u = [&](const char* name, int n) { return f[name] = static_cast<std::int64_t>(r.u(n)); };
  const auto ue = [&](const char* name) { return f[name] = static_cast<std::int64_t>(r.ue()); };
  u("profile_idc", 8);
  u("constraint_flags", 8);
  u("level_idc", 8);
  ue("seq_parameter_set_id");
  ue("log2_max_frame_num_minus4");
  ue("pic_order_cnt_type");
  ue("max_num_ref_frames");
  u("gaps_in_frame_num_value_allowed_flag", 1);
  ue("pic_width_in_mbs_minus1");
  ue("pic_height_in_map_units_minus1");
  u("frame_mbs_only_flag", 1);
  u("direct_8x8_inference_flag", 1);
  if (u("frame_cropping_flag", 1)) {
    ue("frame_crop_left_offset");
    ue("frame_crop_right_offset");
    ue("frame_crop_top_offset");
    ue("frame_crop_bottom_offset");
  }
  if (u("vui_parameters_present_flag", 1)) parse_vui(r, f);
  EXPECT_TRUE(r.at_trailing_bits());
  return f;
}

Config sized(int width, int height) {
  Config config;
  config.width = width, config.height = height;
  return config;
}

Fields sps_of(const Config& config, int level_idc = 40) {
  return parse_sps(cu264::encoder::sps_rbsp(config, level_idc));
}

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

TEST(Headers, Level1bIsToldByAConstraintFlag) {
  const Fields f = sps_of(sized(176, 144), 9);
  EXPECT_EQ(f.at("level_idc"), 11);
  EXPECT_EQ(f.at("constraint_flags"), 0xd0);
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

TEST(Headers, PpsIsCavlcWithFilterControl) {
  Reader r(cu264::encoder::pps_rbsp());
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
          Reader r(bits_of(header));
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

std::string sei_text(const Config& config) {
  const auto sei = cu264::encoder::sei_rbsp(config);
  Reader r(sei);
  EXPECT_EQ(r.u(8), 5u);  // user_data_unregistered
  std::uint64_t size = 0;
  std::uint64_t byte = 255;
  while (byte == 255) size += byte = r.u(8);
  for (int i = 0; i < 16; ++i) r.u(8);  // uuid_iso_iec_11578
  std::string text;
  for (std::uint64_t i = 16; i < size; ++i) text += static_cast<char>(r.u(8));
  EXPECT_TRUE(r.at_trailing_bits());
  return text;
}

TEST(Headers, SeiNamesEncoderAndSettings) {
  Config config = sized(64, 64);
  config.qp = 33, config.slices = 3, config.deblock = false, config.preset = cu264::Preset::fast;
  EXPECT_EQ(sei_text(config), std::string("cu264 ") + cu264::version() +
                                  " profile=baseline preset=fast qp=33 slices=3 deblock=off");
}

// The headers have the same bytes for any backend and number of threads.
TEST(Headers, SeiHoldsNothingThatLeavesTheBytesAlone) {
  Config one = sized(64, 64);
  Config other = one;
  other.threads = 9;
  other.backend = cu264::BackendChoice::cpu;
  other.reconstruction = true;
  EXPECT_EQ(sei_text(one), sei_text(other));
}

}  // namespace
