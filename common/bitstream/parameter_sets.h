// Sequence and picture parameter sets and slice headers of all-intra streams of any profile up to High (H.264
// 7.3.2, 7.3.3), as far as it takes to find the macroblocks of a slice. An Error(bad_input) refuses streams
// that the library cannot parse (inter pictures, fields, slice groups ..) and names what was found.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/bitstream/rbsp_reader.h"

namespace cu264::bitstream {

struct Sps {
  int profile_idc = 0;
  int chroma_format_idc = 1;  // 0 (monochrome) or 1 (4:2:0)
  int bit_depth_luma = 8, bit_depth_chroma = 8;
  int log2_max_frame_num = 4;
  int pic_order_cnt_type = 0;
  int log2_max_pic_order_cnt_lsb = 4;
  bool delta_pic_order_always_zero = false;
  int mb_width = 0, mb_height = 0;

  int macroblocks() const { return mb_width * mb_height; }
};

struct Pps {
  int sps_id = 0;
  bool cabac = false;
  bool bottom_field_pic_order_in_frame_present = false;
  bool deblocking_filter_control_present = false;
  bool redundant_pic_cnt_present = false;
  bool transform_8x8_mode = false;
  int pic_init_qp = 26;
};

// The fields that tell the slices of one picture from those of the next (7.4.1.2.4).
struct PictureIdentity {
  std::uint32_t pps_id = 0, frame_num = 0;
  bool reference = false, idr = false;
  std::uint32_t idr_pic_id = 0;
  std::uint32_t pic_order_cnt_lsb = 0;
  std::int32_t order_differences[2] = {};
  bool operator==(const PictureIdentity&) const = default;
};

struct SliceHeader {
  int first_mb = 0;
  int qp = 26;
  PictureIdentity identity;
};

class ParameterSets {
 public:
  // Stores the parameter set in a unit; units of other types are ignored.
  void read(const NalUnit& nal);
  // Says whether any picture parameter set so far was one of CABAC.
  bool have_cabac() const { return have_cabac_; }

  struct Active {
    Sps sps;
    Pps pps;
  };
  // Reads the header of a slice and leaves the reader at slice_data().
  SliceHeader slice_header(RbspReader& bits, const NalUnit& nal, Active& active) const;

 private:
  std::array<std::optional<Sps>, 32> sps_;
  std::array<std::optional<Pps>, 256> pps_;
  bool have_cabac_ = false;
  Bytes rbsp_;
};

}  // namespace cu264::bitstream
