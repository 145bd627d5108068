// A warp with a macroblock a lane lists the blocks that are not empty, those with many levels first, so that
// lanes that take one each have equally much to do.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bit_ops.h"
#include "entropy/cavlc/macroblock_lane.cuh"

namespace cu264::entropy {

// Bit s: slot s has at least `least` levels.
__device__ __forceinline__ std::uint32_t slots_from(const Counts& counts, std::uint32_t least) {
  std::uint32_t slots = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::uint32_t eight = __dp4a(bytes_from(counts.words[2 * i], least) >> 7, 0x08040201u, 0u);
    eight = __dp4a(bytes_from(counts.words[2 * i + 1], least) >> 7, 0x80402010u, eight);
    slots |= eight << (8 * i);
  }
  return slots;
}

// Entries are lane << 5 | slot. many[c]: those of `nonzero` that have at least so many levels, growing with
// c. Returns how many are listed. All lanes.
__device__ __forceinline__ int list_blocks(std::uint32_t nonzero, const std::uint32_t (&many)[3], int lane,
                                           std::uint16_t* s_list) {
  const std::uint32_t classes[4] = {many[2], many[1] & ~many[2], many[0] & ~many[1], nonzero & ~many[0]};
  std::uint32_t counts[2], ends[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    counts[i] = ends[i] =
        static_cast<std::uint32_t>(__popc(classes[2 * i]) << 16 | __popc(classes[2 * i + 1]));
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const std::uint32_t before = __shfl_up_sync(0xffffffffu, ends[i], step);
      if (lane >= step) ends[i] += before;
    }
  }
  std::uint32_t class_first = 0;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const int shift = c % 2 == 0 ? 16 : 0;
    const std::uint32_t own_first = (ends[c / 2] - counts[c / 2]) >> shift & 0xffff;
    std::uint16_t* s_entry = s_list + class_first + own_first;
#pragma unroll 1
    for (std::uint32_t rest = classes[c]; rest != 0;) {
      const int slot = core::highest_bit(rest);
      rest ^= 1u << slot;
      *s_entry++ = static_cast<std::uint16_t>(lane << 5 | slot);
    }
    class_first += __shfl_sync(0xffffffffu, ends[c / 2], 31) >> shift & 0xffff;
  }
  return static_cast<int>(class_first);
}

}  // namespace cu264::entropy
