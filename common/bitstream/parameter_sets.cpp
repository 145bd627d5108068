#include "common/bitstream/parameter_sets.h"

#include <string>

#include "common/bitstream/emulation_prevention.h"
#include "cu264/status.h"

namespace cu264::bitstream {
namespace {

constexpr int kMaxMacroblocks = 139264;  // MaxFS of level 6.2 (table A-1)

[[noreturn]] void refuse(const std::string& found) {
  throw Error(ErrorCode::bad_input, "the stream has " + found,
              "only progressive all-intra streams in 4:2:0 or monochrome can be worked on");
}

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::bad_input, what + " is damaged", "the stream must be whole");
}

// A difference of quantisation parameters, which must lie within the range of any bit depth.
int small(std::int32_t value, const char* where) {
  if (value < -128 || value > 128) damaged(where);
  return value;
}

bool has_chroma_format(int profile_idc) {  // 7.3.2.1.1
  switch (profile_idc) {
    case 100:
    case 110:
    case 122:
    case 244:
    case 44:
    case 83:
    case 86:
    case 118:
    case 128:
    case 138:
    case 139:
    case 134:
    case 135:
      return true;
    default:
      return false;
  }
}

void skip_scaling_list(RbspReader& bits, int size) {  // 7.3.2.1.1.1
  int last = 8, next = 8;
  for (int j = 0; j < size; ++j) {
    if (next != 0)
      next =
          static_cast<int>((static_cast<std::uint32_t>(last) + static_cast<std::uint32_t>(bits.se())) & 255);
    if (next != 0) last = next;
  }
}

void skip_scaling_matrix(RbspReader& bits, int lists) {
  for (int i = 0; i < lists; ++i) {
    if (bits.flag() != 0) skip_scaling_list(bits, i < 6 ? 16 : 64);
  }
}

void read_high_fields(RbspReader& bits, Sps& sps) {
  const std::uint32_t chroma_format_idc = bits.ue();
  if (chroma_format_idc > 3) damaged("a sequence parameter set");
  if (chroma_format_idc == 2) refuse("4:2:2 chroma");
  if (chroma_format_idc == 3) refuse("4:4:4 chroma");
  sps.chroma_format_idc = static_cast<int>(chroma_format_idc);
  const std::uint32_t luma = bits.ue(), chroma = bits.ue();
  if (luma > 6 || chroma > 6) damaged("a sequence parameter set");
  sps.bit_depth_luma = 8 + static_cast<int>(luma), sps.bit_depth_chroma = 8 + static_cast<int>(chroma);
  bits.flag();  // qpprime_y_zero_transform_bypass_flag
  if (bits.flag() != 0) skip_scaling_matrix(bits, 8);
}

void read_order_count(RbspReader& bits, Sps& sps) {
  const std::uint32_t type = bits.ue();
  if (type > 2) damaged("a sequence parameter set");
  sps.pic_order_cnt_type = static_cast<int>(type);
  if (type == 0) {
    const std::uint32_t log2 = bits.ue();
    if (log2 > 12) damaged("a sequence parameter set");
    sps.log2_max_pic_order_cnt_lsb = 4 + static_cast<int>(log2);
  } else if (type == 1) {
    sps.delta_pic_order_always_zero = bits.flag() != 0;
    bits.se(), bits.se();
    const std::uint32_t cycle = bits.ue();
    if (cycle > 255) damaged("a sequence parameter set");
    for (std::uint32_t i = 0; i < cycle; ++i) bits.se();
  }
}

Sps read_sps(RbspReader& bits, int& id) {
  Sps sps;
  sps.profile_idc = static_cast<int>(bits.get(8));
  bits.skip(16);  // constraint flags, level_idc
  const std::uint32_t sps_id = bits.ue();
  if (sps_id > 31) damaged("a sequence parameter set");
  id = static_cast<int>(sps_id);
  if (has_chroma_format(sps.profile_idc)) read_high_fields(bits, sps);
  const std::uint32_t log2 = bits.ue();
  if (log2 > 12) damaged("a sequence parameter set");
  sps.log2_max_frame_num = 4 + static_cast<int>(log2);
  read_order_count(bits, sps);
  bits.ue();    // max_num_ref_frames
  bits.flag();  // gaps_in_frame_num_value_allowed_flag
  const std::uint64_t width = std::uint64_t{bits.ue()} + 1, height = std::uint64_t{bits.ue()} + 1;
  const bool frame_mbs_only = bits.flag() != 0;
  if (bits.failed()) damaged("a sequence parameter set");
  if (!frame_mbs_only) refuse("interlaced coding (frame_mbs_only_flag is 0)");
  if (width > kMaxMacroblocks || height > kMaxMacroblocks || width * height > kMaxMacroblocks) {
    refuse("pictures of more than " + std::to_string(kMaxMacroblocks) + " macroblocks");
  }
  sps.mb_width = static_cast<int>(width), sps.mb_height = static_cast<int>(height);
  return sps;
}

// `stop` is the position of the RBSP's stop bit.
Pps read_pps(RbspReader& bits, std::uint64_t stop, int& id) {
  Pps pps;
  const std::uint32_t pps_id = bits.ue(), sps_id = bits.ue();
  if (pps_id > 255 || sps_id > 31) damaged("a picture parameter set");
  id = static_cast<int>(pps_id), pps.sps_id = static_cast<int>(sps_id);
  pps.cabac = bits.flag() != 0;
  pps.bottom_field_pic_order_in_frame_present = bits.flag() != 0;
  if (bits.ue() != 0) refuse("slice groups (flexible macroblock ordering)");
  bits.ue(), bits.ue();  // default numbers of reference pictures
  bits.skip(3);          // weighted prediction
  pps.pic_init_qp = 26 + small(bits.se(), "a picture parameter set");
  bits.se(), bits.se();  // pic_init_qs, chroma_qp_index_offset
  pps.deblocking_filter_control_present = bits.flag() != 0;
  bits.flag();  // constrained_intra_pred_flag: all neighbours are intra
  pps.redundant_pic_cnt_present = bits.flag() != 0;
  if (bits.position() < stop) pps.transform_8x8_mode = bits.flag() != 0;
  if (bits.failed()) damaged("a picture parameter set");
  return pps;
}

void refuse_slice_type(std::uint32_t slice_type) {
  static constexpr const char* names[5] = {"P", "B", "I", "SP", "SI"};
  if (slice_type > 9) damaged("a slice header");
  if (slice_type % 5 != 2)
    refuse(std::string("inter pictures (a slice of type ") + names[slice_type % 5] + ")");
}

void skip_reference_marking(RbspReader& bits, bool idr) {  // 7.3.3.3
  if (idr) return bits.skip(2);
  if (bits.flag() == 0) return;
  for (int i = 0; i < 66; ++i) {
    const std::uint32_t operation = bits.ue();
    if (operation == 0) return;
    if (operation > 6) break;
    if (operation != 5) bits.ue();
    if (operation == 3) bits.ue();
  }
  damaged("a slice header");
}

}  // namespace

void ParameterSets::read(const NalUnit& nal) {
  if (nal.type() != kNalSps && nal.type() != kNalPps) return;
  unescape(nal.unit, rbsp_);
  RbspReader bits(rbsp_);
  int id = 0;
  if (nal.type() == kNalSps) {
    const Sps sps = read_sps(bits, id);
    sps_[static_cast<std::size_t>(id)] = sps;
  } else {
    const Pps pps = read_pps(bits, stop_bit_position(without_padding(rbsp_)), id);
    pps_[static_cast<std::size_t>(id)] = pps;
    have_cabac_ = have_cabac_ || pps.cabac;
  }
}

SliceHeader ParameterSets::slice_header(RbspReader& bits, const NalUnit& nal, Active& active) const {
  SliceHeader header;
  const std::uint32_t first_mb = bits.ue();
  const std::uint32_t slice_type = bits.ue();
  const std::uint32_t pps_id = bits.ue();
  if (bits.failed() || pps_id > 255) damaged("a slice header");
  refuse_slice_type(slice_type);
  if (!pps_[pps_id] || !sps_[static_cast<std::size_t>(pps_[pps_id]->sps_id)]) {
    throw Error(ErrorCode::bad_input, "a slice comes before its parameter sets", "the stream must be whole");
  }
  active.pps = *pps_[pps_id];
  active.sps = *sps_[static_cast<std::size_t>(active.pps.sps_id)];
  const Sps& sps = active.sps;
  const bool idr = nal.type() == kNalSliceIdr;
  if (first_mb >= static_cast<std::uint32_t>(sps.macroblocks())) damaged("a slice header");
  header.first_mb = static_cast<int>(first_mb);
  PictureIdentity& identity = header.identity;
  identity.pps_id = pps_id;
  identity.reference = nal.ref_idc() != 0, identity.idr = idr;
  identity.frame_num = bits.get(sps.log2_max_frame_num);
  if (idr) identity.idr_pic_id = bits.ue();
  std::int32_t* const differences = identity.order_differences;
  if (sps.pic_order_cnt_type == 0) {
    identity.pic_order_cnt_lsb = bits.get(sps.log2_max_pic_order_cnt_lsb);
    if (active.pps.bottom_field_pic_order_in_frame_present) differences[0] = bits.se();
  } else if (sps.pic_order_cnt_type == 1 && !sps.delta_pic_order_always_zero) {
    differences[0] = bits.se();
    if (active.pps.bottom_field_pic_order_in_frame_present) differences[1] = bits.se();
  }
  if (active.pps.redundant_pic_cnt_present && bits.ue() != 0) refuse("redundant pictures");
  if (nal.ref_idc() != 0) skip_reference_marking(bits, idr);
  header.qp = active.pps.pic_init_qp + small(bits.se(), "a slice header");
  if (active.pps.deblocking_filter_control_present && bits.ue() != 1) bits.se(), bits.se();
  if (bits.failed()) damaged("a slice header");
  return header;
}

}  // namespace cu264::bitstream
