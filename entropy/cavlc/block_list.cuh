// A warp whose lanes hold one macroblock each lists the blocks that are not empty. Blocks with many levels
// come first, so that lanes that each take one listed block have equally much to do.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bit_ops.h"
#include "entropy/cavlc/group_shared.cuh"
#include "entropy/cavlc/macroblock_lane.cuh"

namespace cu264::entropy {

// Bit s: slot s has at least `least` levels.
__device__ __forceinline__ std::uint32_t slots_from(const Counts& counts, std::uint32_t least) {
  std::uint32_t eight[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // Each byte that reaches `least` contributes 128.
    eight[i] = __dp4a(bytes_from(counts.words[2 * i], least), 0x08040201u, 0u);
    eight[i] = __dp4a(bytes_from(counts.words[2 * i + 1], least), 0x80402010u, eight[i]);
  }
  return (eight[0] >> 7) + (eight[1] << 1) + (eight[2] << 9) + (eight[3] << 17);
}

// Blocks with at least this many levels are listed before the others.
inline constexpr int kManyLevels = 6, kSomeLevels = 3;

// Writes the entries of ListedBlock and returns how many there are. All lanes must call this.
__device__ __forceinline__ int list_blocks(std::uint32_t nonzero, std::uint32_t some, std::uint32_t many,
                                           int lane, std::uint16_t* s_list) {
  const std::uint32_t classes[3] = {nonzero & many, nonzero & some & ~many, nonzero & ~some};
  constexpr int kFieldBits = 10;  // all of a group's blocks may be of one class
  static_assert(kGroup * kBlocksPerMacroblock < 1 << kFieldBits);
  const auto own = static_cast<std::uint32_t>(__popc(classes[0]) << 2 * kFieldBits |
                                              __popc(classes[1]) << kFieldBits | __popc(classes[2]));
  std::uint32_t ends = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t before = __shfl_up_sync(kAllLanes, ends, step);
    if (lane >= step) ends += before;
  }
  const std::uint32_t begins = ends - own, all = __shfl_sync(kAllLanes, ends, 31);
  const auto field = [](std::uint32_t fields, int c) {
    return fields >> (kFieldBits * (2 - c)) & ((1u << kFieldBits) - 1);
  };
  const std::uint32_t first = ListedBlock::first_of(lane);
  std::uint32_t class_first = 0;
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    SharedAddress entry = address_of(s_list + class_first + field(begins, c));
#pragma unroll 1
    for (std::uint32_t rest = classes[c]; rest != 0;) {
      const int slot = core::highest_bit(rest);
      rest ^= 1u << slot;
      object_at<std::uint16_t>(entry) = static_cast<std::uint16_t>(first + slot);
      entry += sizeof(std::uint16_t);
    }
    class_first += field(all, c);
  }
  return static_cast<int>(class_first);
}

}  // namespace cu264::entropy
