// A word's part in labelling a binary map's components: its runs planted, joined with those of the words left
// and above of it.
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

// words[i] is word i of the map, rows of `row_words`. Eight-connected.
template <class Forest>
__device__ __forceinline__ void join_runs(const Forest& forest, const std::uint32_t* words, std::uint32_t index,
                                          std::uint32_t row_words) {
  const std::uint32_t word = words[index];
  if (word == 0) return;
  const std::uint32_t x = row_words == 1 ? 0 : index % row_words;
  const bool first = (word & 1u) != 0, last = word >> 31 != 0;
  if (first && x > 0) {
    const std::uint32_t left = words[index - 1];
    if (left >> 31 != 0) forest.join(node_of_start(index, 0), node_of_bit(index - 1, left, 31));
  }
  if (index < row_words) return;
  const std::uint32_t above = index - row_words;
  if (first && x > 0) {
    const std::uint32_t left = words[above - 1];
    if (left >> 31 != 0) forest.join(node_of_start(index, 0), node_of_bit(above - 1, left, 31));
  }
  if (last && x + 1 < row_words && (words[above + 1] & 1u) != 0) {
    forest.join(node_of_bit(index, word, 31), node_of_start(above + 1, 0));
  }
  const std::uint32_t over = words[above];
  for (std::uint32_t rest = word; rest != 0;) {
    const std::uint32_t run = lowest_run(rest);
    rest &= ~run;
    const std::uint32_t node = node_of_start(index, lowest_bit(run));
    std::uint32_t touched = over & (run | run << 1 | run >> 1);
    while (touched != 0) {
      const std::uint32_t bit = lowest_bit(touched);
      forest.join(node, node_of_bit(above, over, bit));
      // The rest of that run: from `bit` on, no gap.
      touched &= ~lowest_run(over & (~0u << bit));
    }
  }
}

}  // namespace cu264::vision::cuda
