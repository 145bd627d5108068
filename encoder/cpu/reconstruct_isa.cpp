// The search of an I picture's rows, and the passes over a P picture, compiled once for each instruction set
// and rate model (encoder/cpu/isa.h).

#include <cstddef>

#include "core/mb_qp_delta.h"
#include "encoder/cpu/macroblock_search_inl.h"
#include "encoder/cpu/p_rows_inl.h"
#include "encoder/cpu/qp_settings_inl.h"
#include "encoder/cpu/reconstruct_isa.h"
#include "encoder/row_progress.h"

namespace cu264::encoder::CU264_ISA {

void reconstruct_rows(CpuPicture& picture, int first_row, int end_row, int qp, Preset preset,
                      RowProgress* progress) {
  MacroblockContext mb;
  mb.search = search_params(preset, picture.transform_8x8_mode);
  mb.rate.transform_8x8_mode = picture.transform_8x8_mode;
  mb.mark_parity = picture.mark_parity;
  mb.weighted = picture.scaling_lists != ScalingLists{};
  set_qp(mb, picture.scaling_lists, qp, core::kIPictures);
  const std::int8_t* const offsets = picture.qp_offsets.empty() ? nullptr : picture.qp_offsets.data();

  for (int mb_y = first_row; mb_y < end_row; ++mb_y) {
    const bool above = row_above_in_slice(picture, mb_y);
    for (int mb_x = 0; mb_x < picture.mb_width; ++mb_x) {
      if (progress != nullptr && above) progress->wait_above(mb_y, mb_x + 2);
      const core::MacroblockRecord* const here =
          picture.macroblocks.data() + static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
      set_place(mb, picture, mb_x, above);
      mb.left_mb = mb.left ? here - 1 : nullptr;
      mb.above_mb = mb.above ? here - picture.mb_width : nullptr;
      int mb_qp = qp;
      if (offsets != nullptr) {
        mb_qp = core::macroblock_qp(qp, offsets[here - picture.macroblocks.data()]);
        set_qp(mb, picture.scaling_lists, mb_qp, core::kIPictures);
      }
      if (!picture.marks.empty()) mb.marks = picture.marks[here - picture.macroblocks.data()];
      reconstruct_macroblock(mb, picture, mb_x, mb_y, mb_qp);
      if (progress != nullptr) progress->set_done(mb_y, mb_x + 1);
    }
  }
}

}  // namespace cu264::encoder::CU264_ISA
