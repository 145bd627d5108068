// Labelling of a binary map's components: which runs touch, and how they are hung and joined.
#pragma once

#include <cstdint>

#include "vision/cuda/run_forest.cuh"

namespace cu264::vision::cuda {

// Plants the runs of a word. strength(run) is a run's own strength.
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

// words[i] is word i of a map of `count` words, rows of `row_words`.
struct MapView {
  const std::uint32_t* words;
  std::uint32_t count;
  std::uint32_t row_words;
};

// Calls touch(node) for every later run that is 8-connected to `run` of word `index`: they are in the word to
// the right and in the three words below.
template <class Touch>
__device__ __forceinline__ void for_later_runs(const MapView& map, std::uint32_t index, std::uint32_t run,
                                               const Touch& touch) {
  const std::uint32_t below = index + map.row_words;
  const bool has_below = below < map.count;
  if (map.row_words > 1) {
    const std::uint32_t x = index % map.row_words;
    if (run >> 31 != 0 && x + 1 < map.row_words) {
      if ((map.words[index + 1] & 1u) != 0) touch(node_of_start(index + 1, 0));
      if (has_below && (map.words[below + 1] & 1u) != 0) touch(node_of_start(below + 1, 0));
    }
    if ((run & 1u) != 0 && x > 0 && has_below) {
      const std::uint32_t left = map.words[below - 1];
      if (left >> 31 != 0) touch(node_of_bit(below - 1, left, 31));
    }
  }
  if (!has_below) return;
  const std::uint32_t word = map.words[below];
  std::uint32_t touched = word & (run | run << 1 | run >> 1);
  while (touched != 0) {
    const std::uint32_t bit = lowest_bit(touched);
    touch(node_of_bit(below, word, bit));
    // Drops the bits of the run just touched.
    touched &= ~lowest_run(word & (~0u << bit));
  }
}

constexpr std::uint32_t kNoNode = ~0u;

// Hangs a run from the first later run that it touches.
template <class Forest>
__device__ __forceinline__ void hang_run(const Forest& forest, const MapView& map, std::uint32_t index,
                                         std::uint32_t run) {
  std::uint32_t first = kNoNode;
  for_later_runs(map, index, run, [&](std::uint32_t node) { first = first == kNoNode ? node : first; });
  if (first != kNoNode) forest.hang(node_of_start(index, lowest_bit(run)), first);
}

// Joins a run with the other later runs that it touches.
template <class Forest>
__device__ __forceinline__ void join_run(const Forest& forest, const MapView& map, std::uint32_t index,
                                         std::uint32_t run) {
  const std::uint32_t own = node_of_start(index, lowest_bit(run));
  bool hung = false;
  for_later_runs(map, index, run, [&](std::uint32_t node) {
    if (hung) forest.join(own, node);
    hung = true;
  });
}

}  // namespace cu264::vision::cuda
