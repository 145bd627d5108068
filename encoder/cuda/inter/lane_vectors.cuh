// The vectors of an 8x8 block on eight lanes, each of which measures one.
#pragma once

#include <cstdint>

#include "common/cuda/warp.cuh"
#include "core/motion_vector.h"
#include "encoder/cuda/inter/chain_view.h"
#include "encoder/cuda/inter/motion_step.cuh"
#include "encoder/cuda/inter/sample_words.cuh"

namespace cu264::encoder::cuda {

// The samples of a block, of which every lane has all.
struct Block8x8 {
  uint2 row[8];

  // x is a multiple of 8.
  __device__ Block8x8(const DevicePlane& plane, int x, int y) {
#pragma unroll
    for (int i = 0; i < 8; ++i) row[i] = __ldg(reinterpret_cast<const uint2*>(plane.at(x, y + i)));
  }

  // The sum of absolute differences from a block at any place.
  __device__ std::uint32_t differences(const DevicePlane& plane, int x, int y) const {
    const auto address = reinterpret_cast<std::uintptr_t>(plane.at(x, y));
    const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
    const auto shift = 8 * static_cast<std::uint32_t>(address & 3);
    std::uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i, words += plane.pitch / 4) {
      const std::uint32_t a = __ldg(words), b = __ldg(words + 1), c = __ldg(words + 2);
      sum = add_differences(row[i].x, __funnelshift_r(a, b, shift), sum);
      sum = add_differences(row[i].y, __funnelshift_r(b, c, shift), sum);
    }
    return sum;
  }
};

// The median of the vectors in three lanes one after another.
__device__ inline core::MotionVector median_of_lanes(core::MotionVector v, int first) {
  const std::uint32_t word = word_of(v);
  return core::median(vector_of(__shfl_sync(kAllLanes, word, first)),
                      vector_of(__shfl_sync(kAllLanes, word, first + 1)),
                      vector_of(__shfl_sync(kAllLanes, word, first + 2)));
}

// The best vector of eight lanes so far, as core::BestVector of vectors that are tried in the order of the
// lanes. All lanes of the warp must take part.
struct LaneBest {
  static constexpr std::uint32_t kNone = (1u << 28) - 1;  // the cost of a lane without a vector
  std::uint32_t cost = kNone;
  core::MotionVector vector;

  // Returns whether there was a better one.
  __device__ bool take_of_eight(std::uint32_t lane_cost, core::MotionVector v) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    std::uint32_t least = lane_cost << 3 | static_cast<std::uint32_t>(lane & 7);
#pragma unroll
    for (int step = 1; step < 8; step *= 2) least = min(least, __shfl_xor_sync(kAllLanes, least, step));
    const core::MotionVector winner = vector_in_lane(v, (lane & ~7) | static_cast<int>(least & 7));
    if (least >> 3 >= cost) return false;
    cost = least >> 3, vector = winner;
    return true;
  }
};

}  // namespace cu264::encoder::cuda
