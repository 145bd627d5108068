// The samples of a reference picture that a vector points to. Each is a sample of one of its planes or the
// mean of two (core/inter_pred.h).
#pragma once

#include <cstdint>

#include "core/inter_pred.h"
#include "core/motion_vector.h"
#include "encoder/cuda/inter/chain_view.h"
#include "encoder/cuda/inter/sample_words.cuh"

namespace cu264::encoder::cuda {

// Where the two samples are, from a place that the user knows; the same where there is no mean.
struct SamplePair {
  int first, second;
};

struct ReferencePlanes {
  const std::uint8_t* samples;  // the first sample of the first plane
  int pitch;
  int distance;  // from plane to plane

  __device__ explicit ReferencePlanes(const ChainView& chain)
      : samples(chain.luma[0].samples),
        pitch(chain.luma[0].pitch),
        distance(static_cast<int>(chain.luma[1].samples - chain.luma[0].samples)) {}

  // From `samples`.
  __device__ SamplePair pair_at(int x, int y, core::MotionVector v) const {
    const core::QuarterSample q = core::quarter_sample(v.x & 3, v.y & 3);
    const int whole = (y + (v.y >> 2)) * pitch + x + (v.x >> 2);
    const auto at = [&](const core::SampleSource& s) {
      return whole + s.plane * distance + s.y * pitch + s.x;
    };
    return {at(q.first), at(q.second)};
  }
  // Four samples, `offset` from the pair; with mean_at both are read, whether or not they are the same.
  __device__ std::uint32_t four_at(const SamplePair& pair, int offset) const {
    const std::uint32_t first = four_samples_at(samples + (pair.first + offset));
    if (pair.first == pair.second) return first;
    return __vavgu4(first, four_samples_at(samples + (pair.second + offset)));
  }
  __device__ std::uint32_t mean_at(const SamplePair& pair, int offset) const {
    return __vavgu4(four_samples_at(samples + (pair.first + offset)),
                    four_samples_at(samples + (pair.second + offset)));
  }
};

__device__ inline SamplePair pair_in_lane(const SamplePair& pair, int lane) {
  return {__shfl_sync(0xffffffffu, pair.first, lane), __shfl_sync(0xffffffffu, pair.second, lane)};
}

}  // namespace cu264::encoder::cuda
