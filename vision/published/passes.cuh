// Hysteresis by passes over bit masks (Algorithm 3), by all threads of a block for one sub-image.
#pragma once

#include <cstdint>

namespace cu264::vision::cuda {

struct PassMaps {
  std::uint32_t* now;       // at first: the strong pixels
  std::uint32_t* next;      // each pass reads `now` and writes `next`
  std::uint32_t* unstable;  // the weak ones that are not linked yet
  std::uint32_t count;
  std::uint32_t row_words;
};

// The word's own bits and those of its left and right neighbour's next to it, moved by one pixel either way.
__device__ __forceinline__ std::uint32_t beside(const PassMaps& maps, std::uint32_t index, bool left,
                                                bool right) {
  const std::uint32_t word = maps.now[index];
  std::uint32_t mask = word << 1 | word >> 1;
  if (left) mask |= maps.now[index - 1] >> 31;
  if (right) mask |= maps.now[index + 1] << 31;
  return mask;
}

// The pixels with an edge among their eight neighbours.
__device__ __forceinline__ std::uint32_t linked_pixels(const PassMaps& maps, std::uint32_t index) {
  const std::uint32_t x = maps.row_words == 1 ? 0 : index % maps.row_words;
  const bool left = x > 0, right = x + 1 < maps.row_words;
  std::uint32_t mask = beside(maps, index, left, right);
  if (index >= maps.row_words) {
    mask |= maps.now[index - maps.row_words] | beside(maps, index - maps.row_words, left, right);
  }
  if (index + maps.row_words < maps.count) {
    mask |= maps.now[index + maps.row_words] | beside(maps, index + maps.row_words, left, right);
  }
  return mask;
}

// Returns the map of edges: maps.now or maps.next. As many passes as it takes.
__device__ inline std::uint32_t* run_passes(PassMaps maps) {
  __syncthreads();
  bool changed = true;
  while (changed) {
    bool linked_any = false;
    for (std::uint32_t i = threadIdx.x; i < maps.count; i += blockDim.x) {
      std::uint32_t edges = maps.now[i];
      const std::uint32_t unstable = maps.unstable[i];
      const std::uint32_t linked = unstable != 0 ? unstable & linked_pixels(maps, i) : 0;
      if (linked != 0) {
        edges |= linked;
        maps.unstable[i] = unstable & ~linked;
        linked_any = true;
      }
      maps.next[i] = edges;
    }
    changed = __syncthreads_or(linked_any ? 1 : 0) != 0;
    std::uint32_t* const before = maps.now;
    maps.now = maps.next;
    maps.next = before;
  }
  return maps.now;
}

}  // namespace cu264::vision::cuda
