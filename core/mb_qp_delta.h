// The QP of each macroblock, and how the bitstream codes it: as differences along the slice (H.264 7.4.5).
// While macroblocks are searched, MacroblockRecord::qp is the QP that each was given. set_mb_qp_delta() then
// replaces it by the QP that a decoder derives: a macroblock without mb_qp_delta, for example I_PCM, keeps
// the QP of the macroblock before it. The loop filter works with that QP (but with 0 for I_PCM: 8.7.2.2).
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/mb_syntax.h"
#include "core/picture_params.h"

namespace cu264::core {

inline constexpr int kQps = 52;  // number of values of QP_Y with 8 bits a sample

// QP_Y of a macroblock: the picture's QP plus the macroblock's offset, clipped.
CU264_HD int macroblock_qp(int picture_qp, int offset) {
  const int qp = picture_qp + offset;
  return qp < 0 ? 0 : qp > 51 ? 51 : qp;
}

// Returns what the macroblocks of row `mb_y` add to their offset: 1 in the last PictureParams::raised_rows
// rows.
CU264_HD int row_raise(const PictureParams& picture, int mb_y, int mb_height) {
  return mb_y >= mb_height - static_cast<int>(picture.raised_rows) ? 1 : 0;
}

// mb_qp_delta: QP_Y counts modulo 52, and the difference is -26 .. 25.
CU264_HD int qp_delta(int qp, int predicted) {
  const int delta = qp - predicted;
  return delta < -26 ? delta + 52 : delta > 25 ? delta - 52 : delta;
}

// `predicted` is QP_Y,PRED: the QP of the macroblock before in the slice, or the slice's for its first
// macroblock.
CU264_HD void set_mb_qp_delta(MacroblockRecord& mb, int predicted) {
  if (has_mb_qp_delta(mb)) {
    mb.mb_qp_delta = static_cast<std::int8_t>(qp_delta(mb.qp, predicted));
  } else {
    mb.qp = static_cast<std::uint8_t>(predicted);
  }
}

}  // namespace cu264::core
