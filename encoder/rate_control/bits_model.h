// The size of a picture as a function of its QP, predicted from its measure alone (core/picture_measure.h).
// Everything is in integers, so that every machine plans the same QP.
#pragma once

#include <array>
#include <cstdint>

#include "core/picture_measure.h"
#include "cu264/encoder.h"

namespace cu264::encoder {

inline constexpr int kQpOne = 256;  // a QP with fraction counts in these
inline constexpr int kMaxQpQ8 = 51 * kQpOne;

// The sizes of a picture at QP 0, 3 .. 51, in bits; none is larger than the previous one.
using SizeCurve = std::array<std::int64_t, 18>;
SizeCurve size_curve(const core::PictureMeasure& measure, Preset preset);
// The logarithms (base 2, fixed_log.h) of the sizes.
struct LogCurve {
  std::array<int, SizeCurve().size()> logs;
};
LogCurve logs_of(const SizeCurve& curve);
// Bits of a picture's slices at `qp_q8` (QP * 256, 0 .. kMaxQpQ8), which never grow with the QP. The
// measure knows whether macroblocks have offsets by their variance.
std::int64_t bits_at(const LogCurve& curve, int qp_q8);

// The QP * 256 for a quality on x264's crf scale, `crf_q8` = crf * 256, with CABAC or CAVLC. It lies in
// 0 .. kMaxQpQ8.
int crf_qp_q8(const core::PictureMeasure& measure, int crf_q8, bool cabac);

}  // namespace cu264::encoder
