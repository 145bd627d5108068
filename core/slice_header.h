// The slice header (H.264 7.3.3) as a function of the picture's parameters, and the values of the parameter
// sets that it depends on.
#pragma once

#include <cstdint>

#include "core/bits.h"
#include "core/hd.h"
#include "core/picture_params.h"

namespace cu264::core {

inline constexpr int kLog2MaxFrameNum = 4;
inline constexpr int kPicInitQp = 26;

// Offsets of the loop filter's thresholds, below the standard's default of 0: intra pictures are filtered at
// every edge with the strongest setting, which removes detail without an offset. Beta tells a blocking edge
// from detail.
inline constexpr int kSliceAlphaC0OffsetDiv2 = -1;
inline constexpr int kSliceBetaOffsetDiv2 = -2;

// Inter pictures are filtered where their residual or motion calls for it, so they have the default.
inline constexpr int kPSliceAlphaC0OffsetDiv2 = 0;
inline constexpr int kPSliceBetaOffsetDiv2 = 0;

// A slice header up to and including its last syntax element, right-aligned: at most 69 bits.
// first_mb_in_slice comes first, and a header of more than 64 bits begins with at least 16 zeros, so that the
// bits beyond the 64 are zeros.
struct SliceHeaderBits {
  std::uint64_t bits = 0;
  std::int32_t length = 0;

  CU264_HD_MEMBER void put(std::uint32_t value, int count) {
    bits = bits << count | value;
    length += count;
  }
};

CU264_HD SliceHeaderBits slice_header(int first_mb_in_slice, const PictureParams& picture) {
  // slice_type I. The value 7, by which all slices of the picture are I slices, would take four bits more.
  constexpr std::uint32_t kSliceTypeI = 2;
  SliceHeaderBits header;
  put_ue(header, static_cast<std::uint32_t>(first_mb_in_slice));
  put_ue(header, kSliceTypeI);
  put_ue(header, 0);                // pic_parameter_set_id
  header.put(0, kLog2MaxFrameNum);  // frame_num
  put_ue(header, picture.idr_pic_id);
  header.put(0, 1);                                           // no_output_of_prior_pics_flag
  header.put(0, 1);                                           // long_term_reference_flag
  put_se(header, static_cast<int>(picture.qp) - kPicInitQp);  // slice_qp_delta
  put_ue(header, picture.deblock ? 0 : 1);                    // disable_deblocking_filter_idc
  if (picture.deblock) {
    put_se(header, kSliceAlphaC0OffsetDiv2);
    put_se(header, kSliceBetaOffsetDiv2);
  }
  return header;
}

// The header of a slice of a P picture. The reference picture list is the initial one, of one picture.
CU264_HD SliceHeaderBits p_slice_header(int first_mb_in_slice, const PictureParams& picture, bool cabac) {
  constexpr std::uint32_t kSliceTypeP = 0;
  SliceHeaderBits header;
  put_ue(header, static_cast<std::uint32_t>(first_mb_in_slice));
  put_ue(header, kSliceTypeP);
  put_ue(header, 0);  // pic_parameter_set_id
  header.put(picture.frame_num, kLog2MaxFrameNum);
  header.put(0, 1);  // num_ref_idx_active_override_flag
  header.put(0, 1);  // ref_pic_list_modification_flag_l0
  header.put(0, 1);  // adaptive_ref_pic_marking_mode_flag
  if (cabac) put_ue(header, picture.cabac_init_idc);
  put_se(header, static_cast<int>(picture.qp) - kPicInitQp);  // slice_qp_delta
  put_ue(header, picture.deblock ? 0 : 1);                    // disable_deblocking_filter_idc
  if (picture.deblock) {
    put_se(header, kPSliceAlphaC0OffsetDiv2);
    put_se(header, kPSliceBetaOffsetDiv2);
  }
  return header;
}

}  // namespace cu264::core
