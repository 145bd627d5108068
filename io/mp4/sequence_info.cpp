#include "io/mp4/sequence_info.h"

#include "common/bitstream/emulation_prevention.h"
#include "common/bitstream/rbsp_reader.h"

namespace cu264::mp4 {
namespace {

using bitstream::RbspReader;

// H.264 7.3.2.1.1.1: the values do not matter here.
void skip_scaling_list(RbspReader& bits, int size) {
  int last = 8, next = 8;
  for (int i = 0; i < size && !bits.failed(); ++i) {
    if (next != 0) next = (last + bits.se() + 256) % 256;
    if (next != 0) last = next;
  }
}

void read_chroma_format(RbspReader& bits, SequenceInfo& info) {
  info.chroma_format_idc = static_cast<int>(bits.ue());
  if (info.chroma_format_idc == 3) bits.flag();  // separate_colour_plane_flag
  info.bit_depth_luma = 8 + static_cast<int>(bits.ue());
  info.bit_depth_chroma = 8 + static_cast<int>(bits.ue());
  bits.flag();  // qpprime_y_zero_transform_bypass_flag
  if (!bits.flag()) return;
  const int lists = info.chroma_format_idc == 3 ? 12 : 8;
  for (int i = 0; i < lists; ++i) {
    if (bits.flag()) skip_scaling_list(bits, i < 6 ? 16 : 64);
  }
}

void skip_picture_order(RbspReader& bits) {
  const std::uint32_t type = bits.ue();
  if (type == 0) bits.ue();  // log2_max_pic_order_cnt_lsb_minus4
  if (type != 1) return;
  bits.flag(), bits.se(), bits.se();
  for (std::uint32_t left = bits.ue(); left > 0 && !bits.failed(); --left) bits.se();
}

void read_size(RbspReader& bits, SequenceInfo& info) {
  const std::uint64_t columns = bits.ue() + 1ull, map_rows = bits.ue() + 1ull;
  const bool frames = bits.flag() != 0;
  if (!frames) bits.flag();  // mb_adaptive_frame_field_flag
  bits.flag();               // direct_8x8_inference_flag
  std::uint64_t width = 16 * columns, height = 16 * map_rows * (frames ? 1 : 2);
  if (bits.flag()) {  // the units of equations 7-19 to 7-22
    const unsigned unit_x = info.chroma_format_idc == 1 || info.chroma_format_idc == 2 ? 2 : 1;
    const unsigned unit_y = (info.chroma_format_idc == 1 ? 2 : 1) * (frames ? 1 : 2);
    const std::uint64_t left = bits.ue(), right = bits.ue(), top = bits.ue(), bottom = bits.ue();
    width -= unit_x * (left + right), height -= unit_y * (top + bottom);
  }
  if (width > 0xffff || height > 0xffff) return bits.spoil();
  info.width = static_cast<int>(width), info.height = static_cast<int>(height);
}

// H.264 table E-1
Rational aspect_ratio(int idc) {
  constexpr Rational table[] = {{0, 1},   {1, 1},    {12, 11}, {10, 11}, {16, 11}, {40, 33},
                                {24, 11}, {20, 11},  {32, 11}, {80, 33}, {18, 11}, {15, 11},
                                {64, 33}, {160, 99}, {4, 3},   {3, 2},   {2, 1}};
  return idc < static_cast<int>(std::size(table)) ? table[idc] : table[0];
}

// H.264 E.1.1 up to the colour description
void read_vui(RbspReader& bits, SequenceInfo& info) {
  constexpr int kExtendedSar = 255;
  if (bits.flag()) {  // aspect_ratio_info_present_flag
    const int idc = static_cast<int>(bits.get(8));
    info.sample_aspect_ratio = aspect_ratio(idc);
    if (idc == kExtendedSar) {
      const int width = static_cast<int>(bits.get(16)), height = static_cast<int>(bits.get(16));
      if (width != 0 && height != 0) info.sample_aspect_ratio = {width, height};
    }
  }
  if (bits.flag()) bits.flag();  // overscan
  if (!bits.flag()) return;      // video_signal_type_present_flag
  info.has_colour = true;
  bits.get(3);  // video_format
  info.colour.full_range = bits.flag() != 0;
  if (!bits.flag()) return;  // colour_description_present_flag
  info.colour.primaries = static_cast<int>(bits.get(8));
  info.colour.transfer = static_cast<int>(bits.get(8));
  info.colour.matrix = static_cast<int>(bits.get(8));
}

}  // namespace

bool has_chroma_format(int profile_idc) {
  for (const int profile : {100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135}) {
    if (profile == profile_idc) return true;
  }
  return false;
}

SequenceInfo read_sequence_info(std::span<const std::uint8_t> unit) {
  bitstream::Bytes rbsp;
  bitstream::unescape(unit, rbsp);
  RbspReader bits(rbsp);
  SequenceInfo info;
  info.profile_idc = static_cast<int>(bits.get(8));
  bits.get(16);  // constraint flags, level_idc
  bits.ue();     // seq_parameter_set_id
  if (has_chroma_format(info.profile_idc)) read_chroma_format(bits, info);
  bits.ue();  // log2_max_frame_num_minus4
  skip_picture_order(bits);
  bits.ue();    // max_num_ref_frames
  bits.flag();  // gaps_in_frame_num_value_allowed_flag
  read_size(bits, info);
  if (bits.flag()) read_vui(bits, info);
  if (bits.failed() || info.width == 0 || info.height == 0 || info.bit_depth_luma > 14 ||
      info.bit_depth_chroma > 14 || info.chroma_format_idc > 3) {
    throw Error(ErrorCode::invalid_argument, "the SPS cannot be read", "pass Encoder::headers()");
  }
  return info;
}

}  // namespace cu264::mp4
