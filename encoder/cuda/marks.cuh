// Marks of a watermark on their way into the levels of a macroblock, as encoder/cpu puts them. Kernels
// without a watermark are built with NoMarking, of which nothing is left in them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encoder/cuda/macroblock.cuh"
#include "encoder/cuda/warp_block.cuh"
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

// The level at a lane's position of its half's Intra_4x4 block, with the block's mark. `active`: the half has
// a block of its own.
template <bool kRd>
__device__ int marked_level(WarpState<kRd>& s, const LanePlace& lane, const Marks& marks, int block,
                            bool active, int level) {
  const bool marked = active && protect::is_marked(marks.word, block);
  if (!__any_sync(kWarp, marked)) return level;
  std::int16_t* const levels = s.levels[core::kSlotLuma + block];
  if (marked) levels[lane.coding] = static_cast<std::int16_t>(level);
  __syncwarp();
  if (marked && lane.position == 0) {
    protect::mark_levels(levels, 16, marks.by_parity, protect::marked_bit(marks.word, block));
  }
  __syncwarp();
  return marked ? levels[lane.coding] : level;
}

// The AC levels of an Intra_16x16 macroblock, a block a lane, and their counts.
template <bool kRd>
__device__ void mark_intra16x16(WarpState<kRd>& s, const LanePlace& lane, const Marks& marks) {
  if (marks.word == 0) return;
  if (lane.lane < 16 && protect::is_marked(marks.word, lane.lane)) {
    std::int16_t* const levels = s.levels[core::kSlotLuma + lane.lane];
    if (protect::mark_levels(levels, 15, marks.by_parity, protect::marked_bit(marks.word, lane.lane))) {
      s.counts[core::kSlotLuma + lane.lane] =
          static_cast<std::uint8_t>(core::count_ones(core::level_masks(levels, 15).nonzero));
    }
  }
  __syncwarp();
}

}  // namespace cu264::encoder::cuda
