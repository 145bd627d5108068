// Labelling a binary map's components: the runs of its words planted, then each joined with those it touches in
// the words left and above of it.
#pragma once

#include <cstdint>

#include "vision/cuda/run_forest.cuh"

namespace cu264::vision::cuda {

// strength(run) says how strong a run is.
template <class Forest, class Strength>
__device__ __forceinline__ void plant_runs(const Forest& forest, std::uint32_t index, std::uint32_t word,
                                           const Strength& strength) {
  for (std::uint32_t rest = word; rest != 0;) {
    const std::uint32_t run = lowest_run(rest);
    rest &= ~run;
    forest.plant(node_of_start(index, lowest_bit(run)), strength(run));
  }
}

// The run of `word` that has node `node`; 0 if there is none.
__device__ __forceinline__ std::uint32_t run_of_node(std::uint32_t word, std::uint32_t node) {
  const std::uint32_t start = run_starts(word) & 3u << (2 * (node % kNodesPerWord));
  return start == 0 ? 0 : lowest_run(word & (0u - start));
}

// words[i] is word i of the map, rows of `row_words`; `run` belongs to word `index`. Eight-connected.
template <class Forest>
__device__ __forceinline__ void join_run(const Forest& forest, const std::uint32_t* words, std::uint32_t index,
                                         std::uint32_t run, std::uint32_t row_words) {
  const std::uint32_t node = node_of_start(index, lowest_bit(run));
  if (row_words > 1) {
    const std::uint32_t x = index % row_words;
    if ((run & 1u) != 0 && x > 0) {
      const std::uint32_t left = words[index - 1];
      if (left >> 31 != 0) forest.join(node, node_of_bit(index - 1, left, 31));
      if (index >= row_words) {
        const std::uint32_t above_left = words[index - row_words - 1];
        if (above_left >> 31 != 0) forest.join(node, node_of_bit(index - row_words - 1, above_left, 31));
      }
    }
    if (run >> 31 != 0 && x + 1 < row_words && index >= row_words && (words[index - row_words + 1] & 1u) != 0) {
      forest.join(node, node_of_start(index - row_words + 1, 0));
    }
  }
  if (index < row_words) return;
  const std::uint32_t above = words[index - row_words];
  std::uint32_t touched = above & (run | run << 1 | run >> 1);
  while (touched != 0) {
    const std::uint32_t bit = lowest_bit(touched);
    forest.join(node, node_of_bit(index - row_words, above, bit));
    // The rest of that run: from `bit` on, no gap.
    touched &= ~lowest_run(above & (~0u << bit));
  }
}

}  // namespace cu264::vision::cuda
