// A warp whose lanes hold one macroblock each lists the slots that are coded by coded_block_pattern, sorted
// by their number of levels.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/cuda/thread_scan.cuh"
#include "core/block.h"
#include "core/device_batch.h"
#include "core/mb_syntax.h"
#include "entropy/cabac/item_count.cuh"
#include "entropy/cavlc/block_list.cuh"

namespace cu264::entropy {

// An entry of the list.
struct ListedSlot {
  std::uint32_t entry;

  __device__ __forceinline__ static std::uint16_t entry_of(int m, int slot) {
    return static_cast<std::uint16_t>(m << 5 | slot);
  }
  __device__ __forceinline__ int m() const { return static_cast<int>(entry >> 5); }
  __device__ __forceinline__ int slot() const { return static_cast<int>(entry & 31); }
};

// The order in which the slots of a macroblock are listed. First come those of 8x8 blocks, which stand for
// their four parts (core/cabac_block.h), so that a warp's row holds all of a block; then the others, from
// many levels to none.
struct SlotClasses {
  static constexpr int kCount = 5;
  std::uint32_t slots[kCount];
};

// `large_transform` is transform_size_8x8_flag.
__device__ __forceinline__ SlotClasses slot_classes(const core::MacroblockRecord& mb, bool large_transform,
                                                    const Counts& counts) {
  std::uint32_t coded = core::coded_slots(mb), large = 0;
  if (large_transform) {
    large = coded & kLumaSlots;
    coded &= ~kLumaSlots;
  }
  const std::uint32_t nonzero = coded & mb.nonzero_blocks;
  const std::uint32_t many = slots_from(counts, kManyLevels), some = slots_from(counts, kSomeLevels);
  return {{large, nonzero & many, nonzero & some & ~many, nonzero & ~some, coded & ~nonzero}};
}

// Writes the entries of every kWarps-th class from class `warp` on, and returns the number of all entries.
// All lanes must call this.
template <int kWarps>
__device__ __forceinline__ int list_slots(const SlotClasses& classes, int warp, int lane,
                                          std::uint16_t* s_list) {
  // Numbers of slots, several to a word; all slots may be of one class.
  constexpr int kFieldBits = 10, kFields = 3, kWords = (SlotClasses::kCount + kFields - 1) / kFields;
  static_assert(32 * core::kBlocksPerMacroblock < 1 << kFieldBits);
  std::uint32_t own[kWords] = {}, begins[kWords], all[kWords];
#pragma unroll
  for (int c = 0; c < SlotClasses::kCount; ++c) {
    own[c / kFields] |= static_cast<std::uint32_t>(__popc(classes.slots[c])) << kFieldBits * (c % kFields);
  }
#pragma unroll
  for (int word = 0; word < kWords; ++word) {
    const std::uint32_t ends = scan_lanes(own[word], Plus());
    begins[word] = ends - own[word];
    all[word] = __shfl_sync(kAllLanes, ends, 31);
  }
  std::uint32_t class_first = 0;
#pragma unroll
  for (int c = 0; c < SlotClasses::kCount; ++c) {
    const auto field = [c](const std::uint32_t(&words)[kWords]) {
      return words[c / kFields] >> kFieldBits * (c % kFields) & ((1u << kFieldBits) - 1);
    };
    if (c % kWarps == warp) {
      std::uint16_t* s_entry = s_list + class_first + field(begins);
#pragma unroll 1
      for (std::uint32_t rest = classes.slots[c]; rest != 0; rest &= rest - 1)
        *s_entry++ = ListedSlot::entry_of(lane, __ffs(static_cast<int>(rest)) - 1);
    }
    class_first += field(all);
  }
  return static_cast<int>(class_first);
}

}  // namespace cu264::entropy
