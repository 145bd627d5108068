// Edges as the encoder's guide sees them: samples of the half-size picture with a step of brightness beside
// them. A full edge map costs more than a fast encode may spend on its guide; this costs a pass over luma.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "encoder/adaptive_quantisation/qp_offsets.h"

namespace cu264::vision {

inline constexpr int kHalfSide = kMacroblockSide / 2;  // a macroblock's side in the half-size picture

// |dx| + |dy| of half-size samples, each the sum of four samples, a sample apart on either side, from which
// on there is a step.
inline constexpr int kStep = 48;

// From the half-size samples to the left, right, above and below. Outside the (whole macroblocks') picture
// the border's sample is repeated.
CU264_HD bool is_step(int left, int right, int above, int below) {
  const int dx = right - left, dy = below - above;
  return (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy) >= kStep;
}

// On the host, for luma padded to whole macroblocks: the offsets of every macroblock by params; `previous` as
// for guide_offsets.
void guide_picture(const GuideParams& params, const std::uint8_t* luma, std::ptrdiff_t pitch, int mb_width,
                   int mb_height, std::vector<std::int8_t>& previous);

}  // namespace cu264::vision
