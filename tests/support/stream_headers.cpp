#include "tests/support/stream_headers.h"

namespace cu264::test {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw StreamError(what);
}

int small(std::uint32_t value, std::uint32_t limit, const char* what) {
  require(value <= limit, what);
  return static_cast<int>(value);
}

// H.264 table E-1
void parse_aspect_ratio(BitCursor& bits, Vui& vui) {
  static constexpr int ratios[17][2] = {{0, 1},   {1, 1},    {12, 11}, {10, 11}, {16, 11}, {40, 33},
                                        {24, 11}, {20, 11},  {32, 11}, {80, 33}, {18, 11}, {15, 11},
                                        {64, 33}, {160, 99}, {4, 3},   {3, 2},   {2, 1}};
  const std::uint32_t aspect_ratio_idc = bits.u(8);
  if (aspect_ratio_idc == 255) {  // Extended_SAR
    vui.sar_num = static_cast<int>(bits.u(16)), vui.sar_den = static_cast<int>(bits.u(16));
  } else {
    require(aspect_ratio_idc < 17, "reserved aspect_ratio_idc");
    vui.sar_num = ratios[aspect_ratio_idc][0], vui.sar_den = ratios[aspect_ratio_idc][1];
  }
}

void parse_video_signal_type(BitCursor& bits, Vui& vui) {
  vui.video_signal_type = true;
  bits.u(3);  // video_format
  vui.full_range = bits.flag();
  if (!bits.flag()) return;
  vui.primaries = static_cast<int>(bits.u(8));
  vui.transfer = static_cast<int>(bits.u(8));
  vui.matrix = static_cast<int>(bits.u(8));
}

// H.264 E.1.2, for one buffer
Hrd parse_hrd(BitCursor& bits) {
  require(bits.ue() == 0, "cpb_cnt_minus1");
  const std::uint32_t rate_scale = bits.u(4), size_scale = bits.u(4);
  Hrd hrd;
  hrd.bit_rate = (std::int64_t{bits.ue()} + 1) << (6 + rate_scale);
  hrd.cpb_bits = (std::int64_t{bits.ue()} + 1) << (4 + size_scale);
  hrd.cbr = bits.flag();
  hrd.initial_delay_length = static_cast<int>(bits.u(5)) + 1;
  hrd.removal_delay_length = static_cast<int>(bits.u(5)) + 1;
  hrd.output_delay_length = static_cast<int>(bits.u(5)) + 1;
  bits.u(5);  // time_offset_length
  return hrd;
}

// H.264 E.1.1
Vui parse_vui(BitCursor& bits) {
  Vui vui;
  vui.present = true;
  if (bits.flag()) parse_aspect_ratio(bits, vui);
  if (bits.flag()) bits.flag();  // overscan
  if (bits.flag()) parse_video_signal_type(bits, vui);
  if (bits.flag()) bits.ue(), bits.ue();  // chroma_loc_info
  if (bits.flag()) {
    vui.timing = true;
    vui.num_units_in_tick = bits.u(32), vui.time_scale = bits.u(32);
    vui.fixed_frame_rate = bits.flag();
    require(vui.num_units_in_tick > 0 && vui.time_scale > 0, "timing of zero");
  }
  if (bits.flag()) vui.nal_hrd = parse_hrd(bits);
  require(!bits.flag(), "VCL HRD parameters");
  if (vui.nal_hrd) require(!bits.flag(), "low_delay_hrd_flag");
  bits.flag();  // pic_struct_present_flag
  if (bits.flag()) {
    vui.bitstream_restriction = true;
    bits.flag();  // motion_vectors_over_pic_boundaries_flag
    require(bits.ue() <= 16, "max_bytes_per_pic_denom");
    require(bits.ue() <= 16, "max_bits_per_mb_denom");
    require(bits.ue() <= 16, "log2_max_mv_length_horizontal");
    require(bits.ue() <= 16, "log2_max_mv_length_vertical");
    vui.max_num_reorder_frames = small(bits.ue(), 16, "max_num_reorder_frames");
    vui.max_dec_frame_buffering = small(bits.ue(), 16, "max_dec_frame_buffering");
    require(vui.max_num_reorder_frames <= vui.max_dec_frame_buffering, "more reordering than buffering");
  }
  return vui;
}

// H.264 tables 7-3 and 7-4: the defaults of intra blocks.
constexpr int kDefault4x4[16] = {6, 13, 13, 20, 20, 20, 28, 28, 28, 28, 32, 32, 32, 37, 37, 42};
constexpr int kDefault8x8[64] = {6,  10, 10, 13, 11, 13, 16, 16, 16, 16, 18, 18, 18, 18, 18, 23,
                                 23, 23, 23, 23, 23, 25, 25, 25, 25, 25, 25, 25, 27, 27, 27, 27,
                                 27, 27, 27, 27, 29, 29, 29, 29, 29, 29, 29, 31, 31, 31, 31, 31,
                                 31, 33, 33, 33, 33, 33, 36, 36, 36, 36, 38, 38, 38, 40, 40, 42};

// A list by the walk of the zigzag scan along the diagonals.
template <std::size_t count>
std::array<int, count> in_raster(const int (&list)[count]) {
  constexpr int side = count == 16 ? 4 : 8;
  std::array<int, count> raster{};
  int x = 0, y = 0;
  for (const int value : list) {
    raster[static_cast<std::size_t>(side * y + x)] = value;
    const bool up = (x + y) % 2 == 0;
    if (up && x == side - 1)
      ++y;
    else if (up && y == 0)
      ++x;
    else if (up)
      ++x, --y;
    else if (y == side - 1)
      ++x;
    else if (x == 0)
      ++y;
    else
      --x, ++y;
  }
  return raster;
}

// seq_scaling_list_present_flag and scaling_list() (7.3.2.1.1.1).
template <std::size_t count>
std::array<int, count> parse_list(BitCursor& bits, const std::array<int, count>& fall_back,
                                  const int (&standard)[count]) {
  if (!bits.flag()) return fall_back;
  int list[count];
  int last = 8, next = 8;
  for (std::size_t j = 0; j < count; ++j) {
    if (next != 0) {
      const int delta = bits.se();
      require(delta >= -128 && delta <= 127, "delta_scale");
      next = (last + delta + 256) % 256;
      if (j == 0 && next == 0) return in_raster(standard);
    }
    list[j] = next == 0 ? last : next;
    last = list[j];
  }
  return in_raster(list);
}

void parse_scaling_matrix(BitCursor& bits, Sps& sps) {
  for (auto& list : sps.lists4x4) list.fill(16);
  sps.list8x8.fill(16);
  sps.scaling_matrix = bits.flag();
  if (!sps.scaling_matrix) return;
  sps.lists4x4[0] = parse_list(bits, in_raster(kDefault4x4), kDefault4x4);
  sps.lists4x4[1] = parse_list(bits, sps.lists4x4[0], kDefault4x4);
  sps.lists4x4[2] = parse_list(bits, sps.lists4x4[1], kDefault4x4);
  for (int i = 0; i < 3; ++i) require(!bits.flag(), "a list of inter blocks");
  sps.list8x8 = parse_list(bits, in_raster(kDefault8x8), kDefault8x8);
  require(!bits.flag(), "a list of inter blocks");
}

}  // namespace

Sps parse_sps(const NalUnit& nal) {
  require(nal.nal_ref_idc != 0, "an SPS with nal_ref_idc 0");
  BitCursor bits(nal.rbsp);
  Sps sps;
  sps.profile_idc = static_cast<int>(bits.u(8));
  sps.constraint_flags = static_cast<int>(bits.u(8));
  sps.level_idc = static_cast<int>(bits.u(8));
  const bool high = sps.profile_idc == 100;
  require(sps.profile_idc == 66 || sps.profile_idc == 77 || high, "profile_idc is not 66, 77 or 100");
  require((sps.constraint_flags & 3) == 0, "reserved_zero_2bits");
  require(bits.ue() == 0, "seq_parameter_set_id");
  if (high) {
    require(bits.ue() == 1, "chroma_format_idc is not 4:2:0");
    require(bits.ue() == 0 && bits.ue() == 0, "more than 8 bits");
    require(!bits.flag(), "qpprime_y_zero_transform_bypass_flag");
    parse_scaling_matrix(bits, sps);
  }
  sps.log2_max_frame_num = small(bits.ue(), 12, "log2_max_frame_num_minus4") + 4;
  sps.pic_order_cnt_type = small(bits.ue(), 2, "pic_order_cnt_type");
  require(sps.pic_order_cnt_type == 2, "pic_order_cnt_type is not 2");
  sps.max_num_ref_frames = small(bits.ue(), 16, "max_num_ref_frames");
  bits.flag();  // gaps_in_frame_num_value_allowed_flag
  sps.mb_width = small(bits.ue(), 1023, "pic_width_in_mbs_minus1") + 1;
  sps.mb_height = small(bits.ue(), 1023, "pic_height_in_map_units_minus1") + 1;
  require(bits.flag(), "frame_mbs_only_flag is 0");
  bits.flag();  // direct_8x8_inference_flag
  if (bits.flag()) {
    int* const crops[] = {&sps.crop_left, &sps.crop_right, &sps.crop_top, &sps.crop_bottom};
    for (int* crop : crops) *crop = 2 * small(bits.ue(), 1 << 13, "frame cropping");
    require(sps.width() > 0 && sps.height() > 0, "everything is cropped");
  }
  if (bits.flag()) sps.vui = parse_vui(bits);
  bits.expect_end();
  return sps;
}

Pps parse_pps(const NalUnit& nal) {
  require(nal.nal_ref_idc != 0, "a PPS with nal_ref_idc 0");
  BitCursor bits(nal.rbsp);
  Pps pps;
  require(bits.ue() == 0, "pic_parameter_set_id");
  require(bits.ue() == 0, "seq_parameter_set_id");
  pps.entropy_coding_mode = bits.flag();
  require(!bits.flag(), "bottom_field_pic_order_in_frame_present_flag");
  require(bits.ue() == 0, "slice groups");
  bits.ue(), bits.ue();  // num_ref_idx_default_active_minus1
  require(!bits.flag() && bits.u(2) == 0, "weighted prediction");
  pps.pic_init_qp = 26 + bits.se();
  bits.se();  // pic_init_qs_minus26
  pps.chroma_qp_index_offset = bits.se();
  pps.deblocking_filter_control = bits.flag();
  pps.constrained_intra_pred = bits.flag();
  require(!bits.flag(), "redundant_pic_cnt_present_flag");
  if (bits.more_data()) {
    pps.transform_8x8_mode = bits.flag();
    require(!bits.flag(), "pic_scaling_matrix_present_flag");
    require(bits.se() == pps.chroma_qp_index_offset, "second_chroma_qp_index_offset");
  }
  bits.expect_end();
  return pps;
}

SliceHeader parse_slice_header(BitCursor& bits, const NalUnit& nal, const Sps& sps, const Pps& pps) {
  require(nal.nal_unit_type == kNalSliceIdr && nal.nal_ref_idc != 0, "not a slice of an IDR picture");
  SliceHeader header;
  const auto mbs = static_cast<std::uint32_t>(sps.mb_width * sps.mb_height);
  header.first_mb_in_slice = small(bits.ue(), mbs - 1, "first_mb_in_slice");
  header.slice_type = small(bits.ue(), 9, "slice_type");
  require(header.slice_type % 5 == 2, "not an I slice");
  require(bits.ue() == 0, "pic_parameter_set_id");
  header.frame_num = static_cast<int>(bits.u(sps.log2_max_frame_num));
  require(header.frame_num == 0, "frame_num of an IDR picture");
  header.idr_pic_id = small(bits.ue(), 65535, "idr_pic_id");
  bits.flag();  // no_output_of_prior_pics_flag
  require(!bits.flag(), "long_term_reference_flag");
  header.qp = pps.pic_init_qp + bits.se();
  require(header.qp >= 0 && header.qp <= 51, "SliceQP_Y");
  if (pps.deblocking_filter_control) {
    header.disable_deblocking_filter_idc = small(bits.ue(), 2, "disable_deblocking_filter_idc");
    if (header.disable_deblocking_filter_idc != 1) {
      header.alpha_c0_offset_div2 = bits.se(), header.beta_offset_div2 = bits.se();
    }
  }
  return header;
}

}  // namespace cu264::test
