// Gives the labelling for one low what it needs from a word, and computes what it adds to the word's sums.
#pragma once

#include <cstdint>

#include "vision/cuda/bit_planes.cuh"
#include "vision/cuda/run_forest.cuh"
#include "vision/levels.h"

namespace cu264::vision::cuda {

using SumBits = BitPlanes<kSumPlanes>;
constexpr int kStrengthBits = 32 - kNodeBits;

// n(M) - i of a run by itself. `rank` is CandidateSet::rank, in shared memory; `low` is i - 1.
struct RunStrength {
  const LevelBits& levels;
  const std::uint8_t* rank;
  int low;

  __device__ __forceinline__ std::uint32_t operator()(std::uint32_t run) const {
    return static_cast<std::uint32_t>(rank[levels.greatest(run)] - (low + 1));
  }
};

// Adds the strengths of the word's components to its pixels' sums.
template <class Forest>
__device__ __forceinline__ void add_strengths(const Forest& forest, std::uint32_t index, std::uint32_t word,
                                              SumBits& sums) {
  if (word == 0) return;
  BitPlanes<kStrengthBits> strengths = {};
  for (std::uint32_t rest = word; rest != 0;) {
    const std::uint32_t run = lowest_run(rest);
    rest &= ~run;
    const std::uint32_t strength = forest.strength(node_of_start(index, lowest_bit(run)));
#pragma unroll
    for (int b = 0; b < kStrengthBits; ++b) strengths.bit[b] |= (strength >> b & 1u) != 0 ? run : 0u;
  }
  sums.add(strengths);
}

// Returns what is to be subtracted from the sum of a pixel of this level: n(G) - i for each of the lows below
// it.
__device__ __forceinline__ int own_share(const std::uint8_t* rank, int level) {
  const int lows = level > 0 ? rank[level - 1] : 0;
  return lows * rank[level] - lows * (lows + 1) / 2;
}

}  // namespace cu264::vision::cuda
