// Marks of a watermark on their way into the levels of a macroblock, as encoder/cpu puts them. Kernels
// without a watermark are built with NoMarking, of which nothing is left in them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encoder/cuda/macroblock.cuh"
#include "encoder/cuda/warp_block.cuh"
#include "encoder/cuda/warp_cavlc.cuh"
#include "protect/watermark.h"

namespace cu264::encoder::cuda {

// Of a macroblock.
struct NoMarks {
  static constexpr bool kAny = false;
};
struct Marks {
  static constexpr bool kAny = true;
  std::uint32_t word;  // protect/watermark.h
  bool by_parity;
};

// Of a batch.
struct NoMarking {
  __device__ NoMarks of(const BatchView&, const Place&) const { return {}; }
};
struct Marking {
  const std::uint32_t* words;  // [picture][mb]
  bool by_parity;

  __device__ Marks of(const BatchView& batch, const Place& place) const {
    const std::size_t mb = static_cast<std::size_t>(place.picture) * batch.macroblocks_per_picture() +
                           static_cast<std::size_t>(place.mb_y) * batch.mb_width + place.mb_x;
    return {words[mb], by_parity};
  }
};

// Few blocks are marked, and the search just fits the instruction cache: what marks them stands apart.

// `flags`: whether the half's block is marked, whether by parity, and the bit.
inline constexpr unsigned kMarked = 1, kByParity = 2, kBitOne = 4;

static __device__ __noinline__ int mark_level(int level, LaneInHalf lane, int raster, int coding,
                                              unsigned flags) {
  const int in_order = __shfl_sync(kWarp, level, 16 * lane.half + raster);
  const core::LevelMasks masks = half_masks(lane, in_order);
  const int first = masks.nonzero == 0 ? 0 : core::highest_bit(masks.nonzero);
  const int first_level = __shfl_sync(kWarp, in_order, 16 * lane.half + first);
  if ((flags & kMarked) == 0 || masks.nonzero == 0) return level;
  const protect::MarkChange change =
      protect::mark_change(masks, first_level, 16, (flags & kByParity) != 0, (flags & kBitOne) != 0);
  return protect::marked_level(change, coding, level);
}

// The level at a lane's position of its half's Intra_4x4 block, with the block's mark. `active`: the half has
// a block of its own.
__device__ inline int marked_level(const LanePlace& lane, const Marks& marks, int block, bool active,
                                   int level) {
  const bool marked = active && protect::is_marked(marks.word, block);
  if (__builtin_expect(!__any_sync(kWarp, marked && level != 0), true)) return level;
  const unsigned flags = (marked ? kMarked : 0) | (marks.by_parity ? kByParity : 0) |
                         (protect::marked_bit(marks.word, block) != 0 ? kBitOne : 0);
  return mark_level(level, lane, lane.raster, lane.coding, flags);
}

// `levels` and `counts` from the first luma block on.
static __device__ __noinline__ void mark_ac_levels(std::int16_t (*levels)[16], std::uint8_t* counts,
                                                   LaneInHalf place, int lane, Marks marks) {
  __syncwarp();  // all lanes have looked at the counts
#pragma unroll 1
  for (std::uint32_t rest = marks.word & 0xffff; rest != 0; rest &= rest - 1) {
    const int block = core::highest_bit(rest & (~rest + 1));
    const int level = lane < 15 ? levels[block][lane] : 0;
    const core::LevelMasks masks = half_masks(place, level);
    const int first = masks.nonzero == 0 ? 0 : core::highest_bit(masks.nonzero);
    const int first_level = __shfl_sync(kWarp, level, first);
    if (masks.nonzero != 0 && lane < 15) {
      const protect::MarkChange change = protect::mark_change(masks, first_level, 15, marks.by_parity,
                                                              protect::marked_bit(marks.word, block));
      levels[block][lane] = static_cast<std::int16_t>(protect::marked_level(change, lane, level));
      if (lane == 0) {
        counts[block] = static_cast<std::uint8_t>(core::count_ones(masks.nonzero | change.one));
      }
    }
  }
  __syncwarp();
}

// The AC levels of an Intra_16x16 macroblock, a block after the other, and their counts.
template <bool kRd>
__device__ void mark_intra16x16(WarpState<kRd>& s, const LanePlace& lane, const Marks& marks) {
  if (__builtin_expect(marks.word == 0, true)) return;
  mark_ac_levels(s.levels + core::kSlotLuma, s.counts + core::kSlotLuma, lane, lane.lane, marks);
}

}  // namespace cu264::encoder::cuda
