// What both forms of the last step share.
#pragma once

#include <cstdint>

#include "vision/cuda/bit_planes.cuh"
#include "vision/cuda/hysteresis.h"
#include "vision/cuda/run_forest.cuh"
#include "vision/thresholds.h"

namespace cu264::vision::cuda {

using LevelBits = BitPlanes<kLevelPlanes>;

__device__ __forceinline__ Thresholds thresholds_of(const CannyParams& params, const EdgeWork& work,
                                                    std::size_t sub_image) {
  if (params.fixed) return {params.fixed_low, params.fixed_high, ThresholdSource::fixed, 0};
  return work.thresholds[sub_image];
}

// The pixels that may be edges: all but those too weak whatever they touch.
__device__ __forceinline__ std::uint32_t edge_candidates(const LevelBits& levels,
                                                         const Thresholds& thresholds) {
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
__device__ __forceinline__ std::uint32_t edges_of(const Forest& forest, std::uint32_t index,
                                                  std::uint32_t word) {
  std::uint32_t edges = 0;
  for (std::uint32_t rest = word; rest != 0;) {
    const std::uint32_t run = lowest_run(rest);
    rest &= ~run;
    if (forest.strength(node_of_start(index, lowest_bit(run))) != 0) edges |= run;
  }
  return edges;
}

// Four bits to four bytes of kEdge or 0.
__device__ __forceinline__ std::uint32_t edge_bytes(std::uint32_t bits) {
  return ((bits & 15u) * 0x00204081u & 0x01010101u) * kEdge;
}

__device__ inline void write_edges(const WordGrid& grid, const Plane<std::uint8_t>& plane,
                                   std::uint32_t word_index, std::uint32_t edges) {
  const WordPlace at = word_place(grid, word_index);
  std::uint8_t* const d_edges = plane.row(at.y) + at.x;
  const int width = grid.all.width - at.x;
  if (width >= kWordPixels && (reinterpret_cast<std::uintptr_t>(d_edges) & 15u) == 0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t bits = edges >> (16 * half);
      reinterpret_cast<uint4*>(d_edges)[half] =
          make_uint4(edge_bytes(bits), edge_bytes(bits >> 4), edge_bytes(bits >> 8), edge_bytes(bits >> 12));
    }
    return;
  }
  for (int x = 0; x < kWordPixels && x < width; ++x) d_edges[x] = (edges >> x & 1u) != 0 ? kEdge : 0;
}

}  // namespace cu264::vision::cuda
