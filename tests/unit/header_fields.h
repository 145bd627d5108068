// A parser of parameter sets by their syntax tables (H.264 7.3.2), and the configurations that their tests
// begin with.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "encoder/headers.h"

namespace cu264::test {

class HeaderReader {
 public:
  explicit HeaderReader(std::vector<bool> bits) : bits_(std::move(bits)) {}
  explicit HeaderReader(const std::vector<std::uint8_t>& bytes) {
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

inline void parse_vui(HeaderReader& r, Fields& f) {
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
  if (u("nal_hrd_parameters_present_flag", 1)) {
    ASSERT_EQ(ue("cpb_cnt_minus1"), 0);
    u("bit_rate_scale", 4);
    u("cpb_size_scale", 4);
    ue("bit_rate_value_minus1");
    ue("cpb_size_value_minus1");
    u("cbr_flag", 1);
    for (const char* name : {"initial_cpb_removal_delay_length_minus1", "cpb_removal_delay_length_minus1",
                             "dpb_output_delay_length_minus1", "time_offset_length"}) {
      u(name, 5);
    }
  }
  ASSERT_EQ(u("vcl_hrd_parameters_present_flag", 1), 0);
  if (f["nal_hrd_parameters_present_flag"]) u("low_delay_hrd_flag", 1);
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

inline Fields parse_sps(const std::vector<std::uint8_t>& rbsp) {
  HeaderReader r(rbsp);
  Fields f;
  const auto u = [&](const char* name, int n) { return f[name] = static_cast<std::int64_t>(r.u(n)); };
  const auto ue = [&](const char* name) { return f[name] = static_cast<std::int64_t>(r.ue()); };
  u("profile_idc", 8);
  u("constraint_flags", 8);
  u("level_idc", 8);
  ue("seq_parameter_set_id");
  if (f["profile_idc"] == 100) {
    ue("chroma_format_idc");
    ue("bit_depth_luma_minus8");
    ue("bit_depth_chroma_minus8");
    u("qpprime_y_zero_transform_bypass_flag", 1);
    EXPECT_EQ(u("seq_scaling_matrix_present_flag", 1), 0);
  }
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

inline Config sized(int width, int height) {
  Config config;
  config.profile = cu264::Profile::baseline;
  config.width = width, config.height = height;
  return config;
}

inline Fields sps_of(const Config& config, int level_idc = 40) {
  return parse_sps(cu264::encoder::sps_rbsp(config, level_idc));
}

}  // namespace cu264::test
