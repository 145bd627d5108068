// Reads parameter sets and slice headers, as far as an all-intra Baseline, Main or High stream has them
// (H.264 7.3.2, 7.3.3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tests/support/bit_cursor.h"

namespace cu264::test {

struct Hrd {
  std::int64_t bit_rate = 0, cpb_bits = 0;
  bool cbr = false;
  int initial_delay_length = 24, removal_delay_length = 24, output_delay_length = 24;
};

struct Vui {
  bool present = false;
  int sar_num = 0, sar_den = 1;
  bool video_signal_type = false;
  bool full_range = false;
  int primaries = 2, transfer = 2, matrix = 2;
  bool timing = false;
  std::uint32_t num_units_in_tick = 0, time_scale = 0;
  bool fixed_frame_rate = false;
  std::optional<Hrd> nal_hrd;
  bool bitstream_restriction = false;
  int max_num_reorder_frames = -1, max_dec_frame_buffering = -1;
};

struct Sps {
  int profile_idc = 0;
  int constraint_flags = 0;  // constraint_set0_flag is bit 7
  int level_idc = 0;
  int log2_max_frame_num = 4;
  int pic_order_cnt_type = 0;
  int max_num_ref_frames = 0;
  int mb_width = 0, mb_height = 0;
  // The scaling lists of intra blocks in raster order, with all rules of 7.4.2.1.1.1 applied: Y, Cb and Cr.
  bool scaling_matrix = false;
  std::array<std::array<int, 16>, 3> lists4x4;
  std::array<int, 64> list8x8;
  int crop_left = 0, crop_right = 0, crop_top = 0, crop_bottom = 0;  // in luma samples
  Vui vui;

  int width() const { return mb_width * 16 - crop_left - crop_right; }
  int height() const { return mb_height * 16 - crop_top - crop_bottom; }
};

struct Pps {
  bool entropy_coding_mode = false;
  int pic_init_qp = 26;
  int chroma_qp_index_offset = 0;
  bool deblocking_filter_control = false;
  bool constrained_intra_pred = false;
  bool transform_8x8_mode = false;
};

struct SliceHeader {
  int first_mb_in_slice = 0;
  int slice_type = 0;
  int frame_num = 0;
  int idr_pic_id = 0;
  int qp = 0;  // SliceQP_Y
  int disable_deblocking_filter_idc = 0;
  int alpha_c0_offset_div2 = 0, beta_offset_div2 = 0;
};

// These functions throw StreamError, also for legal syntax that no stream of this encoder should have.
Sps parse_sps(const NalUnit& nal);
Pps parse_pps(const NalUnit& nal);
// Leaves the cursor at slice_data().
SliceHeader parse_slice_header(BitCursor& bits, const NalUnit& nal, const Sps& sps, const Pps& pps);

}  // namespace cu264::test
