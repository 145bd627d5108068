// Typical sizes of pictures: what rate control assumes of a stream before it has seen much of it.
#pragma once

#include "encoder/rate_control/bits_model.h"
#include "encoder/rate_control/fixed_log.h"

namespace cu264::encoder {

// The mean of five clips of natural, rendered and drawn content at 320x180, in bits of a macroblock. Larger
// pictures show less in each macroblock: about half for sixteen times as many.
inline SizeCurve typical_sizes(std::int64_t macroblocks) {
  constexpr SizeCurve kBitsOfMacroblock = {1400, 1250, 1130, 1012, 843, 695, 557, 435, 334,
                                           251,  185,  134,  95,   67,  47,  33,  23,  17};
  constexpr std::int64_t kMacroblocks = 240;
  const std::int64_t scale = exp2_q16((3 * log2_q16(macroblocks) + log2_q16(kMacroblocks)) / 4);
  SizeCurve curve{};
  for (std::size_t i = 0; i < curve.size(); ++i) curve[i] = kBitsOfMacroblock[i] * scale;
  return curve;
}

}  // namespace cu264::encoder
