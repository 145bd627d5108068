#include "encoder/headers.h"

#include <optional>
#include <string>

#include "common/bitstream/nal_unit.h"
#include "core/bit_ops.h"
#include "core/motion_limits.h"
#include "core/slice_header.h"
#include "cu264/version.h"
#include "encoder/config.h"
#include "encoder/hrd.h"
#include "encoder/options/option_row.h"
#include "encoder/rbsp_writer.h"
#include "encoder/scaling_matrix.h"

namespace cu264::encoder {
namespace {

constexpr int kProfileBaseline = 66;
constexpr int kProfileMain = 77;
constexpr int kProfileHigh = 100;
constexpr int kUnspecified = 2;  // in the code points of H.273
constexpr int kVideoFormatUnspecified = 5;
constexpr int kExtendedSar = 255;

// aspect_ratio_idc (H.264 table E-1)
int aspect_ratio_idc(Rational sar) {
  static constexpr Rational table[] = {{1, 1},    {12, 11}, {10, 11}, {16, 11}, {40, 33}, {24, 11},
                                       {20, 11},  {32, 11}, {80, 33}, {18, 11}, {15, 11}, {64, 33},
                                       {160, 99}, {4, 3},   {3, 2},   {2, 1}};
  int idc = 1;
  for (const Rational& entry : table) {
    if (entry.num == sar.num && entry.den == sar.den) return idc;
    ++idc;
  }
  return kExtendedSar;
}

void write_video_signal_type(RbspWriter& w, const Colour& colour) {
  const bool described =
      colour.primaries != kUnspecified || colour.transfer != kUnspecified || colour.matrix != kUnspecified;
  const bool present = described || colour.full_range;
  w.flag(present);  // video_signal_type_present_flag
  if (!present) return;
  w.u(3, kVideoFormatUnspecified);
  w.flag(colour.full_range);
  w.flag(described);  // colour_description_present_flag
  if (!described) return;
  w.u(8, static_cast<std::uint32_t>(colour.primaries));
  w.u(8, static_cast<std::uint32_t>(colour.transfer));
  w.u(8, static_cast<std::uint32_t>(colour.matrix));
}

std::uint32_t log2_of(int power) {
  return static_cast<std::uint32_t>(core::highest_bit(static_cast<std::uint32_t>(power)));
}

// H.264 E.1.1
void write_vui(RbspWriter& w, const Config& config) {
  const Rational sar = reduced(config.sample_aspect_ratio);
  w.flag(sar.num != 0);  // aspect_ratio_info_present_flag
  if (sar.num != 0) {
    const int idc = aspect_ratio_idc(sar);
    w.u(8, static_cast<std::uint32_t>(idc));
    if (idc == kExtendedSar) {
      w.u(16, static_cast<std::uint32_t>(sar.num));
      w.u(16, static_cast<std::uint32_t>(sar.den));
    }
  }
  w.flag(false);  // overscan_info_present_flag
  write_video_signal_type(w, coded_colour(config));
  const int chroma_location = converts_rgb(config) ? kChromaOfRgb : config.chroma_location;
  w.flag(chroma_location >= 0);  // chroma_loc_info_present_flag
  if (chroma_location >= 0) {
    w.ue(static_cast<std::uint32_t>(chroma_location));  // chroma_sample_loc_type_top_field
    w.ue(static_cast<std::uint32_t>(chroma_location));  // chroma_sample_loc_type_bottom_field
  }

  // A tick is the duration of one field, and a frame lasts two (H.264 E.2.1).
  const Rational rate = reduced(config.frame_rate);
  w.flag(true);                                       // timing_info_present_flag
  w.u(32, static_cast<std::uint32_t>(rate.den));      // num_units_in_tick
  w.u(32, static_cast<std::uint32_t>(rate.num) * 2);  // time_scale
  w.flag(config.fixed_frame_rate);                    // fixed_frame_rate_flag

  const std::optional<HrdParams> hrd = hrd_params(config);
  w.flag(hrd.has_value());  // nal_hrd_parameters_present_flag
  if (hrd) write_hrd_parameters(w, *hrd);
  w.flag(false);           // vcl_hrd_parameters_present_flag
  if (hrd) w.flag(false);  // low_delay_hrd_flag
  w.flag(false);           // pic_struct_present_flag

  // Tells that a picture may be shown as soon as it is decoded.
  w.flag(true);                        // bitstream_restriction_flag
  const bool inter = config.gop != 1;  // there are motion vectors
  const int vertical = 4 * core::vertical_range(macroblocks(config.width) * macroblocks(config.height));
  w.flag(inter);                                          // motion_vectors_over_pic_boundaries_flag
  w.ue(0);                                                // max_bytes_per_pic_denom: no limit
  w.ue(0);                                                // max_bits_per_mb_denom: no limit
  w.ue(inter ? log2_of(4 * core::kHorizontalRange) : 0);  // log2_max_mv_length_horizontal
  w.ue(inter ? log2_of(vertical) : 0);                    // log2_max_mv_length_vertical
  w.ue(0);                                                // max_num_reorder_frames
  w.ue(1);  // max_dec_frame_buffering: not below max_num_ref_frames
}

}  // namespace

std::vector<std::uint8_t> sps_rbsp(const Config& config, int level_idc) {
  const bool level_1b = level_idc == 9;
  const int mb_width = macroblocks(config.width);
  const int mb_height = macroblocks(config.height);
  // The crop rectangle counts in units of two samples (H.264 7.4.2.1.1).
  const int crop_right = (mb_width * 16 - coded_side(config.width)) / 2;
  const int crop_bottom = (mb_height * 16 - coded_side(config.height)) / 2;

  RbspWriter w;
  const Profile profile = coded_profile(config);
  const bool baseline = profile == Profile::baseline, high = profile == Profile::high;
  const bool flag_of_1b = level_1b && !high;   // tells level 1b from 1.1; High has level_idc 9 (H.264 A.3.1)
  const bool intra = high && config.gop == 1;  // with profile 100: also High 10 Intra, all pictures being IDR
  w.u(8, baseline ? kProfileBaseline : high ? kProfileHigh : kProfileMain);
  w.flag(baseline);             // constraint_set0_flag
  w.flag(!high);                // constraint_set1_flag: with profile 66, Constrained Baseline (H.264 A.2.1.1)
  w.flag(false);                // constraint_set2_flag
  w.flag(flag_of_1b || intra);  // constraint_set3_flag (H.264 7.4.2.1.1)
  w.flag(high);                 // constraint_set4_flag and
  w.flag(high);                 // constraint_set5_flag: with profile 100, Constrained High (H.264 A.2.4.2)
  w.u(2, 0);                    // reserved_zero_2bits
  w.u(8, static_cast<std::uint32_t>(flag_of_1b ? 11 : level_idc));
  w.ue(0);  // seq_parameter_set_id
  if (high) {
    w.ue(1);        // chroma_format_idc: 4:2:0
    w.ue(0);        // bit_depth_luma_minus8
    w.ue(0);        // bit_depth_chroma_minus8
    w.flag(false);  // qpprime_y_zero_transform_bypass_flag
    write_scaling_matrix(w, config.scaling_lists);
  }
  w.ue(core::kLog2MaxFrameNum - 4);
  w.ue(2);        // pic_order_cnt_type: output order is decoding order
  w.ue(1);        // max_num_ref_frames: 0 would be valid, but some decoders do not accept it
  w.flag(false);  // gaps_in_frame_num_value_allowed_flag
  w.ue(static_cast<std::uint32_t>(mb_width - 1));
  w.ue(static_cast<std::uint32_t>(mb_height - 1));
  w.flag(true);  // frame_mbs_only_flag
  w.flag(true);  // direct_8x8_inference_flag
  const bool cropped = crop_right > 0 || crop_bottom > 0;
  w.flag(cropped);  // frame_cropping_flag
  if (cropped) {
    w.ue(0);  // frame_crop_left_offset
    w.ue(static_cast<std::uint32_t>(crop_right));
    w.ue(0);  // frame_crop_top_offset
    w.ue(static_cast<std::uint32_t>(crop_bottom));
  }
  w.flag(true);  // vui_parameters_present_flag
  write_vui(w, config);
  return w.finish();
}

std::vector<std::uint8_t> pps_rbsp(const Config& config) {
  const bool cabac = uses_cabac(config);
  RbspWriter w;
  w.ue(0);        // pic_parameter_set_id
  w.ue(0);        // seq_parameter_set_id
  w.flag(cabac);  // entropy_coding_mode_flag
  w.flag(false);  // bottom_field_pic_order_in_frame_present_flag
  w.ue(0);        // num_slice_groups_minus1
  w.ue(0);        // num_ref_idx_l0_default_active_minus1
  w.ue(0);        // num_ref_idx_l1_default_active_minus1
  w.flag(false);  // weighted_pred_flag
  w.u(2, 0);      // weighted_bipred_idc
  w.se(core::kPicInitQp - 26);
  w.se(0);        // pic_init_qs_minus26
  w.se(0);        // chroma_qp_index_offset
  w.flag(true);   // deblocking_filter_control_present_flag
  w.flag(false);  // constrained_intra_pred_flag
  w.flag(false);  // redundant_pic_cnt_present_flag
  if (uses_transform_8x8(config)) {
    w.flag(true);   // transform_8x8_mode_flag
    w.flag(false);  // pic_scaling_matrix_present_flag
    w.se(0);        // second_chroma_qp_index_offset
  }
  return w.finish();
}

std::vector<std::uint8_t> sei_rbsp(const Config& config) {
  // Drawn at random for this project (RFC 4122, version 4): 01882048-920f-4301-b697-3a154fd28bfc
  static constexpr std::uint8_t uuid[16] = {0x01, 0x88, 0x20, 0x48, 0x92, 0x0f, 0x43, 0x01,
                                            0xb6, 0x97, 0x3a, 0x15, 0x4f, 0xd2, 0x8b, 0xfc};
  // Backend and threads are not named: the bytes must not depend on them, and this text is part of the bytes.
  const std::string text = std::string("cu264 ") + version() + options_in_stream(config);

  RbspWriter w;
  w.u(8, 5);  // payload_type: user_data_unregistered
  std::size_t payload_size = sizeof(uuid) + text.size();
  for (; payload_size >= 255; payload_size -= 255) w.u(8, 255);
  w.u(8, static_cast<std::uint32_t>(payload_size));
  for (const std::uint8_t byte : uuid) w.u(8, byte);
  for (const char c : text) w.u(8, static_cast<std::uint8_t>(c));
  return w.finish();
}

std::vector<std::uint8_t> stream_headers(const Config& config, int level_idc, bool with_sei) {
  // H.264 B.1.2 wants the long start code before parameter sets and at the head of an access unit.
  std::vector<std::uint8_t> out;
  bitstream::append_nal(out, kNalRefIdc, bitstream::kNalSps, sps_rbsp(config, level_idc), true);
  bitstream::append_nal(out, kNalRefIdc, bitstream::kNalPps, pps_rbsp(config), true);
  if (with_sei) bitstream::append_nal(out, 0, bitstream::kNalSei, sei_rbsp(config), false);
  return out;
}

}  // namespace cu264::encoder
