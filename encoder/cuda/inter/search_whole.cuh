// A pass at full size. A warp searches for a macroblock: lanes hold a vector each, which the warp measures
// one after another.
#pragma once

#include "common/cuda/warp.cuh"
#include "core/motion_search.h"
#include "encoder/cuda/inter/lane_vectors.cuh"
#include "encoder/cuda/inter/motion_step.cuh"
#include "encoder/cuda/inter/sample_words.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kWholeWarps = 4;

__global__ void __launch_bounds__(32 * kWholeWarps)
    search_full_size(const __grid_constant__ MotionStep motion, int pass) {
  const BatchView& batch = motion.step.batch;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int picture = motion.first_picture + static_cast<int>(blockIdx.z),
            mb_y = static_cast<int>(blockIdx.y);
  const int mb_x = static_cast<int>(blockIdx.x) * kWholeWarps + (static_cast<int>(threadIdx.x) >> 5);
  if (mb_x >= batch.mb_width) return;
  const ChainView& chain = motion.step.chains[picture];
  const core::MotionLimits limits = motion.limits(mb_x, mb_y);
  const int lambda = motion.sad_lambda(picture);

  // A lane's share of the macroblock: four samples, and those eight rows below.
  const int x = 16 * mb_x + 4 * (lane & 3), y = 16 * mb_y + (lane >> 2);
  const std::uint32_t upper = aligned_word(chain.source[0].at(x, y));
  const std::uint32_t lower = aligned_word(chain.source[0].at(x, y + 8));
  const std::uint8_t* const before = chain.before[0].at(x, y);
  const int pitch = chain.before[0].pitch;
  const auto differences = [&](int at) {
    const std::uint8_t* const samples = before + at;
    return warp_sum(add_differences(lower, four_samples_at(samples + 8 * pitch),
                                    add_differences(upper, four_samples_at(samples), 0)));
  };

  const WholeField field{pass == 0 ? chain.half : chain.whole[0],
                         pass == 0 ? 2 : 1,
                         mb_x,
                         mb_y,
                         batch.mb_width,
                         batch.mb_height};
  core::MotionVector v = core::whole_candidate(min(lane, core::kWholeCandidates - 1), field, limits);
  const core::MotionVector predicted = median_of_lanes(v, 1), own = vector_in_lane(v, 0);
  constexpr std::uint32_t kNone = 0xffffffffu;
  // A cost with the order in which its vector is tried below it.
  const auto key = [&](std::uint32_t sad) {
    return (sad + core::vector_cost(v, predicted, 4, lambda)) << 4 | static_cast<std::uint32_t>(lane);
  };

  // Only the first of equal vectors is measured.
  const std::uint32_t equal = __match_any_sync(kAllLanes, word_of(v));
  const bool measured = lane < core::kWholeCandidates && __ffs(static_cast<int>(equal)) - 1 == lane;
  std::uint32_t todo = __ballot_sync(kAllLanes, measured);
  int at = v.y * pitch + v.x;
  std::uint32_t sad = 0;
#pragma unroll 1
  while (todo != 0) {
    const int i = __ffs(static_cast<int>(todo)) - 1;
    todo &= todo - 1;
    const std::uint32_t sum = differences(__shfl_sync(kAllLanes, at, i));
    if (lane == i) sad = sum;
  }
  std::uint32_t best = warp_min(measured ? key(sad) : kNone);
  core::MotionVector winner = vector_in_lane(v, static_cast<int>(best & 15));

  if (core::tries_around(pass, winner, own)) {
    // Lane 0 has the best so far, the next eight those around it.
    v = core::around(winner, (lane - 1) & 7, 1);
    v = lane == 0 ? winner : core::clamp_whole(limits, v.x, v.y, 0);
    at = v.y * pitch + v.x;
#pragma unroll 2
    for (int i = 1; i < 9; ++i) {
      const std::uint32_t sum = differences(__shfl_sync(kAllLanes, at, i));
      if (lane == i) sad = sum;
    }
    best = warp_min(lane == 0 ? best & ~15u : lane < 9 ? key(sad) : kNone);
    winner = vector_in_lane(v, static_cast<int>(best & 15));
  }
  if (lane == 0) chain.whole[pass][mb_y * batch.mb_width + mb_x] = winner;
}

}  // namespace cu264::encoder::cuda
