// The search at half size. Eight lanes search for a macroblock, each with one vector at a time.
#pragma once

#include "core/motion_search.h"
#include "encoder/cuda/inter/lane_vectors.cuh"
#include "encoder/cuda/inter/motion_step.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kHalfWarps = 4;

struct QuarterVectors {
  const core::MotionVector* vectors;
  int width;

  CU264_HD_MEMBER core::MotionVector operator()(int x, int y) const { return vectors[y * width + x]; }
};

__global__ void __launch_bounds__(32 * kHalfWarps)
    search_half_size(const __grid_constant__ MotionStep motion) {
  const BatchView& batch = motion.step.batch;
  const int lane = static_cast<int>(threadIdx.x) & 31, i = lane & 7;
  const int picture = motion.first_picture + static_cast<int>(blockIdx.z),
            mb_y = static_cast<int>(blockIdx.y);
  const int place = (static_cast<int>(blockIdx.x) * 32 * kHalfWarps + static_cast<int>(threadIdx.x)) >> 3;
  if (place - (lane >> 3) >= batch.mb_width) return;
  const int mb_x = min(place, batch.mb_width - 1), mb = mb_y * batch.mb_width + mb_x;
  const ChainView& chain = motion.step.chains[picture];
  const core::MotionLimits limits = motion.limits(mb_x, mb_y);
  const int lambda = motion.sad_lambda(picture), x = 8 * mb_x, y = 8 * mb_y;
  const Block8x8 block(chain.source[1], x, y);

  const int region_width = (batch.mb_width + 1) / 2, region_height = (batch.mb_height + 1) / 2;
  const QuarterVectors regions{chain.quarter, region_width};
  core::MotionVector v = core::half_candidate(min(i, core::kHalfCandidates - 1), regions, region_width,
                                              region_height, chain.whole_before[mb], mb_x, mb_y, limits);
  const core::MotionVector predicted = median_of_lanes(v, (lane & ~7));
  const auto cost_of = [&](core::MotionVector vector) {
    return block.differences(chain.before[1], x + vector.x, y + vector.y) +
           core::vector_cost(vector, predicted, 2, lambda);
  };
  LaneBest best;
  best.take_of_eight(i < core::kHalfCandidates ? cost_of(v) : LaneBest::kNone, v);
  v = core::around(best.vector, i, 1);
  v = core::clamp_whole(limits, v.x, v.y, 1);
  best.take_of_eight(cost_of(v), v);
  if (i == 0 && place < batch.mb_width) chain.half[mb] = best.vector;
}

}  // namespace cu264::encoder::cuda
