// Samples of a batch's source pictures, which I_PCM macroblocks code, by their position in the padded
// picture.
#pragma once

#include <cstdint>

#include "core/device_batch.h"

namespace cu264::entropy {

// The sample of component c at (x, y). Outside the picture, the last column and row are repeated.
__device__ inline std::uint32_t source_sample(const core::BatchView& batch, const core::SourcePicture& source,
                                              int c, int x, int y) {
  const int width = c == 0 ? batch.width : (batch.width + 1) / 2;
  const int height = c == 0 ? batch.height : (batch.height + 1) / 2;
  x = min(x, width - 1);
  y = min(y, height - 1);
  if (c == 0) return source.plane[0][y * source.pitch[0] + x];
  switch (batch.format) {
    case PixelFormat::i420:
      return source.plane[c][y * source.pitch[c] + x];
    case PixelFormat::nv12:
      return source.plane[1][y * source.pitch[1] + 2 * x + c - 1];
    default:
      return 128;
  }
}

// The i-th of an I_PCM macroblock's 384 samples (H.264 7.3.5).
__device__ inline std::uint32_t pcm_sample(const core::BatchView& batch, const core::SourcePicture& source,
                                           int mb_x, int mb_y, int i) {
  if (i < 256) return source_sample(batch, source, 0, 16 * mb_x + (i & 15), 16 * mb_y + (i >> 4));
  return source_sample(batch, source, 1 + ((i - 256) >> 6), 8 * mb_x + (i & 7), 8 * mb_y + ((i >> 3) & 7));
}

}  // namespace cu264::entropy
