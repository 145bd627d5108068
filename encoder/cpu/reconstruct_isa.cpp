// The search of one slice, compiled once for each instruction set and rate model (encoder/cpu/isa.h).

#include <cstddef>

#include "core/mb_qp_delta.h"
#include "encoder/cpu/macroblock_search_inl.h"
#include "encoder/cpu/p_rows_inl.h"
#include "encoder/cpu/qp_settings_inl.h"
#include "encoder/cpu/reconstruct_isa.h"

namespace cu264::encoder::CU264_ISA {

void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset) {
  MacroblockContext mb;
  mb.search = search_params(preset, picture.transform_8x8_mode);
  mb.rate.transform_8x8_mode = picture.transform_8x8_mode;
  mb.mark_parity = picture.mark_parity;
  mb.weighted = picture.scaling_lists != ScalingLists{};
  set_qp(mb, picture.scaling_lists, qp, core::kIPictures);
  const std::int8_t* const offsets = picture.qp_offsets.empty() ? nullptr : picture.qp_offsets.data();

  const int first_row = core::slice_first_row(slice, picture.slices, picture.mb_height);
  const int end_row = core::slice_first_row(slice + 1, picture.slices, picture.mb_height);
  for (int mb_y = first_row; mb_y < end_row; ++mb_y) {
    for (int mb_x = 0; mb_x < picture.mb_width; ++mb_x) {
      const core::MacroblockRecord* const here =
          picture.macroblocks.data() + static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
      mb.left = mb_x > 0;
      mb.above = mb_y > first_row;
      mb.corner = mb.left && mb.above;
      mb.above_right = mb.above && mb_x + 1 < picture.mb_width;
      mb.left_mb = mb.left ? here - 1 : nullptr;
      mb.above_mb = mb.above ? here - picture.mb_width : nullptr;
      int mb_qp = qp;
      if (offsets != nullptr) {
        mb_qp = core::macroblock_qp(qp, offsets[here - picture.macroblocks.data()]);
        set_qp(mb, picture.scaling_lists, mb_qp, core::kIPictures);
      }
      if (!picture.marks.empty()) mb.marks = picture.marks[here - picture.macroblocks.data()];
      reconstruct_macroblock(mb, picture, mb_x, mb_y, mb_qp);
    }
  }
}

}  // namespace cu264::encoder::CU264_ISA
