// What both forms of the last step share.
#pragma once

#include <cstdint>

#include "vision/cuda/bit_planes.cuh"
#include "vision/cuda/hysteresis.h"
#include "vision/cuda/run_forest.cuh"
#include "vision/cuda/search.cuh"
#include "vision/stages.h"

namespace cu264::vision::cuda {

using LevelBits = BitPlanes<kLevelPlanes>;

// Called by all threads of the block.
__device__ inline Thresholds choose_thresholds(const CannyParams& params, const EdgeWork& work, int sub_image,
                                               int sub_images, int picture) {
  if (params.fixed) return {params.fixed_low, params.fixed_high, ThresholdSource::fixed, 0};
  constexpr int kCounts = sizeof(LevelCounts) / sizeof(std::int32_t);
  __shared__ LevelCounts s_counts;
  __shared__ Thresholds s_thresholds;
  auto* const s_values = reinterpret_cast<std::int32_t*>(&s_counts);
  const auto* const d_values =
      reinterpret_cast<const std::int32_t*>(work.counts + static_cast<std::size_t>(picture) * sub_images);
  const int highest = highest_candidate(params.candidates);
  for (int i = static_cast<int>(threadIdx.x); i < kCounts; i += static_cast<int>(blockDim.x)) {
    s_values[i] = d_values[static_cast<std::size_t>(sub_image) * kCounts + i];
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    const Thresholds own = voted_own(s_counts, highest);
    if (threadIdx.x == 0) s_thresholds = own;
  }
  __syncthreads();
  const Thresholds own = s_thresholds;
  if (own.source == ThresholdSource::own) return own;
  for (int i = static_cast<int>(threadIdx.x); i < kCounts; i += static_cast<int>(blockDim.x)) {
    std::int32_t sum = 0;
    for (int s = 0; s < sub_images; ++s) sum += d_values[static_cast<std::size_t>(s) * kCounts + i];
    s_values[i] = sum;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    const Thresholds fallback = voted_fallback(s_counts, highest);
    if (threadIdx.x == 0) s_thresholds = fallback;
  }
  __syncthreads();
  return s_thresholds;
}

// The pixels that may be edges: all but those too weak whatever they touch.
__device__ __forceinline__ std::uint32_t edge_candidates(const LevelBits& levels, const Thresholds& thresholds) {
  return levels.greater(thresholds.low) | levels.at_least(thresholds.high);
}

// 1 for a run that reaches high.
struct ReachesHigh {
  std::uint32_t strong;

  __device__ __forceinline__ std::uint32_t operator()(std::uint32_t run) const {
    return (run & strong) != 0 ? 1u : 0u;
  }
};

template <class Forest>
__device__ __forceinline__ std::uint32_t edges_of(const Forest& forest, std::uint32_t index, std::uint32_t word) {
  std::uint32_t edges = 0;
  for (std::uint32_t rest = word; rest != 0;) {
    const std::uint32_t run = lowest_run(rest);
    rest &= ~run;
    if (key_strength(forest.resolve(node_of_start(index, lowest_bit(run)))) != 0) edges |= run;
  }
  return edges;
}

// Four bits to four bytes of kEdge or 0.
__device__ __forceinline__ std::uint32_t edge_bytes(std::uint32_t bits) {
  return ((bits & 15u) * 0x00204081u & 0x01010101u) * kEdge;
}

__device__ inline void write_edges(const WordGrid& grid, const Plane<std::uint8_t>& plane, std::uint32_t word_index,
                                   std::uint32_t edges) {
  const WordPlace at = word_place(grid, word_index);
  std::uint8_t* const d_edges = plane.row(at.y) + at.x;
  const int width = grid.all.width - at.x;
  if (width >= kWordPixels && (reinterpret_cast<std::uintptr_t>(d_edges) & 15u) == 0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t bits = edges >> (16 * half);
      reinterpret_cast<uint4*>(d_edges)[half] = make_uint4(edge_bytes(bits), edge_bytes(bits >> 4),
                                                           edge_bytes(bits >> 8), edge_bytes(bits >> 12));
    }
    return;
  }
  for (int x = 0; x < kWordPixels && x < width; ++x) d_edges[x] = (edges >> x & 1u) != 0 ? kEdge : 0;
}

}  // namespace cu264::vision::cuda
