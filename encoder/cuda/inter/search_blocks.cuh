// The search for the vectors of 8x8 blocks. A warp searches for a macroblock: eight lanes for each block,
// each with one vector at a time.
#pragma once

#include "common/cuda/warp.cuh"
#include "core/motion_search.h"
#include "encoder/cuda/inter/lane_vectors.cuh"
#include "encoder/cuda/inter/motion_step.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kBlockWarps = 4;

__global__ void __launch_bounds__(32 * kBlockWarps) search_blocks(const __grid_constant__ MotionStep motion) {
  const BatchView& batch = motion.step.batch;
  const int lane = static_cast<int>(threadIdx.x) & 31, i = lane & 7, block = lane >> 3;
  const int picture = motion.first_picture + static_cast<int>(blockIdx.z),
            mb_y = static_cast<int>(blockIdx.y);
  const int mb_x = static_cast<int>(blockIdx.x) * kBlockWarps + (static_cast<int>(threadIdx.x) >> 5);
  if (mb_x >= batch.mb_width) return;
  const ChainView& chain = motion.step.chains[picture];
  const int lambda = motion.sad_lambda(picture);
  const int x = 16 * mb_x + 8 * (block & 1), y = 16 * mb_y + 8 * (block >> 1);
  const core::MotionLimits limits =
      core::motion_limits(x, y, 8, 8, 16 * batch.mb_width, 16 * batch.mb_height);
  const Block8x8 samples(chain.source[0], x, y);

  const WholeField field{chain.whole[1], 1, mb_x, mb_y, batch.mb_width, batch.mb_height};
  const core::MotionVector own = field(0, 0);
  const auto cost_of = [&](core::MotionVector v) {
    return samples.differences(chain.before[0], x + v.x, y + v.y) + core::vector_cost(v, own, 4, lambda);
  };
  core::MotionVector v = core::block_candidate(min(i, core::kBlockCandidates - 1), block, field, limits);
  LaneBest best;
  best.take_of_eight(i < core::kBlockCandidates ? cost_of(v) : LaneBest::kNone, v);
  bool moves = true;
#pragma unroll 1
  for (int round = 0; round < core::kBlockRounds && __any_sync(kAllLanes, moves); ++round) {
    v = core::around(best.vector, i, 1);
    v = core::clamp_whole(limits, v.x, v.y, 0);
    // A block that stays would find nothing better.
    moves = best.take_of_eight(cost_of(v), v);
  }
  if (i == 0) chain.blocks[4 * (mb_y * batch.mb_width + mb_x) + block] = best.vector;
}

}  // namespace cu264::encoder::cuda
