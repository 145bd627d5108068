// A picture between the stages: what `reconstruct` hands to `code` and `pack`, as plain arrays whose layout
// both backends share. Macroblocks are in raster order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/block.h"
#include "core/motion_vector.h"

namespace cu264::core {

struct CodedPictureView {
  int mb_width = 0;
  int mb_height = 0;
  int slices = 1;
  MacroblockRecord* macroblocks = nullptr;  // [mb]
  std::int16_t* levels = nullptr;           // [mb][27][16], zero where a block has none (also in I_PCM)
  std::uint8_t* total_coeff =
      nullptr;  // [mb][32] by slot; 16 in all luma and chroma AC slots of I_PCM (9.2.1)
  const MotionRecord* motion = nullptr;  // [mb] of a P picture; null in I pictures
  // The padded source picture, from which the samples of I_PCM macroblocks are coded.
  const std::uint8_t* source[3] = {};  // mb_width * 16 (8) by mb_height * 16 (8)
  std::ptrdiff_t source_pitch[3] = {};

  std::size_t macroblock_count() const { return static_cast<std::size_t>(mb_width) * mb_height; }
};

}  // namespace cu264::core
