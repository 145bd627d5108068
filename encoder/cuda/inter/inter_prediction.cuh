// Inter prediction of a macroblock on a warp (H.264 8.4.2.2).
#pragma once

#include <cstdint>

#include "core/inter_pred.h"
#include "core/motion_vector.h"
#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// Four samples at any address. May read the words that they lie in to the end.
__device__ inline std::uint32_t load_samples4(const std::uint8_t* from) {
  const unsigned offset = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) & 3);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(from - offset);
  return offset == 0 ? words[0] : __funnelshift_r(words[0], words[1], 8 * offset);
}

// Where the two samples are whose mean is the luma sample at (x, y) with vector v.
struct QuarterSource {
  const std::uint8_t *first, *second;

  __device__ QuarterSource(const ChainView& chain, int x, int y, core::MotionVector v) {
    const core::QuarterSample q = core::quarter_sample(v.x & 3, v.y & 3);
    const int left = x + (v.x >> 2), top = y + (v.y >> 2);
    first = chain.luma[q.first.plane].at(left + q.first.x, top + q.first.y);
    second = chain.luma[q.second.plane].at(left + q.second.x, top + q.second.y);
  }
  // Four samples, `offset` samples after the first one in memory.
  __device__ std::uint32_t samples4(int offset) const {
    return __vavgu4(load_samples4(first + offset), load_samples4(second + offset));
  }
};

// The lane's samples of a macroblock: eight of luma, in row lane / 2, and four of chroma.
struct PredictedSamples {
  std::uint32_t luma[2];
  std::uint32_t chroma;
};

// (x, y): of the macroblock's first luma sample. Lane 2 r + h has the eight luma samples from column 8 h of
// row r; lane 16 c + 2 r + h has the four samples of component c from column 4 h of row r.
__device__ inline PredictedSamples predict_macroblock(const ChainView& chain, int x, int y, int lane,
                                                      const core::MotionRecord& motion) {
  PredictedSamples p;
  const int half = lane & 1;
  {
    const int row = lane >> 1;
    const QuarterSource source(chain, x + 8 * half, y + row, motion.vector[2 * (row >> 3) + half]);
    for (int i = 0; i < 2; ++i) p.luma[i] = source.samples4(4 * i);
  }
  const int row = (lane >> 1) & 7;
  const core::MotionVector v = motion.vector[2 * (row >> 2) + half];
  const DevicePlane& plane = chain.chroma[lane >> 4];
  const std::uint8_t* const upper = plane.at(x / 2 + 4 * half + (v.x >> 3), y / 2 + row + (v.y >> 3));
  const std::uint8_t* const lower = upper + plane.pitch;
  p.chroma = 0;
  for (int i = 0; i < 4; ++i) {
    const int sample =
        core::chroma_sample<int>(upper[i], upper[i + 1], lower[i], lower[i + 1], v.x & 7, v.y & 7);
    p.chroma |= static_cast<std::uint32_t>(sample) << (8 * i);
  }
  return p;
}

}  // namespace cu264::encoder::cuda
