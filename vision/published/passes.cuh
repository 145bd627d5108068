// Hysteresis by passes over bit masks (Algorithm 3). All threads of a block work on one sub-image.
#pragma once

#include <cstdint>

namespace cu264::vision::cuda {

struct PassMaps {
  std::uint32_t* now;       // the edges so far; at first, the strong pixels
  std::uint32_t* next;      // each pass reads `now` and writes `next`
  std::uint32_t* unstable;  // the weak pixels that are not linked yet
  std::uint32_t count;
  std::uint32_t row_words;
};

// The bits of a word moved by one pixel to either side, with the adjacent bits of its left and right
// neighbours.
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

// A region as its thread holds it in registers: its strong pixels, and its weak ones.
struct RegionMasks {
  std::uint32_t strong = 0, weak = 0;
};

// Algorithm 3 with a region in each thread, which therefore keeps edges and instability region to itself and
// shares its edges only. Returns the edges of the thread's region; threads from maps.count on have none. The
// paper has one map, which threads read while others write it; here a pass reads `now` and writes `next`.
__device__ inline std::uint32_t run_passes_in_registers(PassMaps maps, const RegionMasks& region) {
  const std::uint32_t i = threadIdx.x;
  const bool exists = i < maps.count;
  std::uint32_t edges = region.strong, unstable = region.weak;
  if (exists) maps.now[i] = edges;
  __syncthreads();
  bool changed = true;
  while (changed) {
    const std::uint32_t linked = unstable != 0 ? unstable & linked_pixels(maps, i) : 0;
    edges |= linked, unstable &= ~linked;
    if (exists) maps.next[i] = edges;
    changed = __syncthreads_or(linked != 0 ? 1 : 0) != 0;
    std::uint32_t* const before = maps.now;
    maps.now = maps.next;
    maps.next = before;
  }
  return edges;
}

// Runs passes until one changes nothing, where threads have several regions. Returns the map of edges, which
// is maps.now or maps.next.
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
