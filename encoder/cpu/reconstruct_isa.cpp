// The search of one slice, compiled once for each instruction set and rate model (encoder/cpu/isa.h).

#include <cstddef>

#include "core/mb_qp_delta.h"
#include "encoder/cpu/macroblock_search_inl.h"
#include "encoder/cpu/reconstruct_isa.h"

namespace cu264::encoder::CU264_ISA {

static void set_quantisers(MacroblockContext& mb, const ScalingLists& lists, int qp) {
  const auto weights = [&](const auto& list) { return mb.weighted ? list.data() : nullptr; };
  const int chroma_qp = core::chroma_qp(qp);
  PlaneQuantiser(&chroma)[2] = mb.chroma_quantisers;
  set_quantiser(mb.luma_quantiser, qp, core::kDeadZoneLuma, weights(lists.luma4x4));
  set_quantiser(chroma[0], chroma_qp, core::kDeadZoneChroma, weights(lists.cb4x4));
  if (!mb.weighted || lists.cr4x4 == lists.cb4x4) {
    chroma[1] = chroma[0];
  } else {
    set_quantiser(chroma[1], chroma_qp, core::kDeadZoneChroma, weights(lists.cr4x4));
  }
  if (!mb.rate.transform_8x8_mode) return;
  set_quantiser8x8(mb.luma_quantiser8x8, qp, core::kDeadZoneLuma8x8, weights(lists.luma8x8));
}

static void set_qp(MacroblockContext& mb, const ScalingLists& lists, int qp) {
#if defined(CU264_COUNTS_CABAC)
  mb.rate.costs = &cabac_costs(qp);
#endif
  mb.satd_lambda = core::satd_lambda<SearchRate>(qp);
  mb.chroma_satd_lambda = core::chroma_satd_lambda(qp);
  mb.rd_lambda = core::rd_lambda(qp);
  mb.chroma_error_weight = core::chroma_error_weight(qp);
  set_quantisers(mb, lists, qp);
}

void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset) {
  MacroblockContext mb;
  mb.search = search_params(preset, picture.transform_8x8_mode);
  mb.rate.transform_8x8_mode = picture.transform_8x8_mode;
  mb.mark_parity = picture.mark_parity;
  mb.weighted = picture.scaling_lists != ScalingLists{};
  set_qp(mb, picture.scaling_lists, qp);
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
        set_qp(mb, picture.scaling_lists, mb_qp);
      }
      if (!picture.marks.empty()) mb.marks = picture.marks[here - picture.macroblocks.data()];
      reconstruct_macroblock(mb, picture, mb_x, mb_y, mb_qp);
    }
  }
}

}  // namespace cu264::encoder::CU264_ISA
