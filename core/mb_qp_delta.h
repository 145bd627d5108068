// The quantiser's parameter of each macroblock, and how the bitstream tells it: by differences along the
// slice (H.264 7.4.5).
//
// While macroblocks are searched, MacroblockRecord::qp is the QP they were given. The chain then replaces it
// by the QP that a decoder derives: a macroblock without mb_qp_delta, I_PCM among them, keeps that of the
// macroblock before it, which decides how the loop filter treats its edges (and I_PCM counts as 0 there:
// 8.7.2.2).
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/mb_syntax.h"

namespace cu264::core {

inline constexpr int kQps = 52;  // values of QP_Y with 8 bits a sample

// QP_Y of a macroblock: the picture's and its offset.
CU264_HD int macroblock_qp(int picture_qp, int offset) {
  const int qp = picture_qp + offset;
  return qp < 0 ? 0 : qp > 51 ? 51 : qp;
}

// mb_qp_delta: QP_Y counts modulo 52, the difference is -26 .. 25.
CU264_HD int qp_delta(int qp, int predicted) {
  const int delta = qp - predicted;
  return delta < -26 ? delta + 52 : delta > 25 ? delta - 52 : delta;
}

// `predicted`: QP_Y,PRED, of the macroblock before in the slice, or of the slice for its first.
CU264_HD void chain_qp(MacroblockRecord& mb, int predicted) {
  if (has_mb_qp_delta(mb)) {
    mb.mb_qp_delta = static_cast<std::int8_t>(qp_delta(mb.qp, predicted));
  } else {
    mb.qp = static_cast<std::uint8_t>(predicted);
  }
}

}  // namespace cu264::core
