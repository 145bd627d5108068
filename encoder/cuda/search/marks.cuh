// Puts the marks of a watermark into the levels of a macroblock, as encoder/cpu does. Kernels without a
// watermark are built with NoMarkTable, which compiles to nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bit_ops.h"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#include "protect/watermark.h"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// What a kernel knows about the watermark's scheme when it is compiled.
enum class MarkScheme { by_sign, by_parity, either };

// The marks of a macroblock.
struct NoMarks {
  static constexpr bool kAny = false;
};
template <MarkScheme kScheme>
struct Marks {
  static constexpr bool kAny = true;
  std::uint32_t word;  // see protect/watermark.h
  bool parity;

  __device__ bool by_parity() const {
    return kScheme == MarkScheme::either ? parity : kScheme == MarkScheme::by_parity;
  }
  // Tells whether the block of at least one half is marked.
  __device__ bool any_in(int block) const { return __any_sync(kWarp, protect::is_marked(word, block)); }
};

// The marks of a batch.
struct NoMarkTable {
  __device__ NoMarks of(const BatchView&, const MacroblockPosition&) const { return {}; }
};
template <MarkScheme kScheme>
struct MarkTable {
  const std::uint32_t* words;  // [picture][mb]
  bool parity;

  __device__ Marks<kScheme> of(const BatchView& batch, const MacroblockPosition& position) const {
    const std::size_t mb = static_cast<std::size_t>(position.picture) * batch.macroblocks_per_picture() +
                           static_cast<std::size_t>(position.mb_y) * batch.mb_width + position.mb_x;
    return {words[mb], parity};
  }
};

// The level at position `coding` of the half's block once the block has its mark. Bit 0 of `word` says
// whether the block is marked, bit 16 is the bit that it carries.
__device__ inline int mark_level(int level, int half, int coding, unsigned word, bool by_parity,
                                 int max_num_coeff) {
  const int shift = 16 * half;
  const unsigned here = 1u << (coding + shift);
  const unsigned nonzero = warp_or(level != 0 ? here : 0);
  const bool marked = (word & 1) != 0;
  const int bit = static_cast<int>(word >> 16 & 1);
  if (!by_parity) {
    const unsigned after = ((0xfffeu << coding) & 0xffff) << shift;
    return marked && (nonzero & after) == 0 ? protect::mark_t1_sign(level, bit) : level;
  }
  const unsigned ones = warp_or(abs(level) == 1 ? here : 0);
  // Position 0 counts as a level, so that an empty block has a first level; nothing else changes.
  const core::LevelMasks masks = {(nonzero >> shift & 0xffff) | 1, ones >> shift & 0xffff};
  const unsigned holders = __ballot_sync(kWarp, coding == core::highest_bit(masks.nonzero)) >> shift & 0xffff;
  const int first_level = __shfl_sync(kWarp, level, shift + core::highest_bit(holders));
  const int changed = protect::mark_t1_parity(masks, first_level, max_num_coeff, bit, coding, level);
  return marked && first_level != 0 ? changed : level;
}

static __device__ __noinline__ int call_mark_level(int level, int half, int coding, unsigned word,
                                                   bool by_parity) {
  return mark_level(level, half, coding, word, by_parity, 16);
}

// The level at a lane's position of its half's Intra_4x4 block, with the block's mark if it has one; few
// blocks do. Kernels of a single scheme inline the marking: a call would cost more, since its instructions
// would have to be fetched each time.
template <MarkScheme kScheme>
__device__ int marked_level(const LaneIndices& lane, const Marks<kScheme>& marks, int block, int level) {
  const unsigned word = marks.word >> block;
  if constexpr (kScheme == MarkScheme::either) {
    return call_mark_level(level, lane.half, lane.coding, word, marks.by_parity());
  } else {
    return mark_level(level, lane.half, lane.coding, word, marks.by_parity(), 16);
  }
}

// `levels` and `counts` begin with the first luma block.
template <MarkScheme kScheme>
static __device__ __noinline__ void mark_ac_levels(std::int16_t (*levels)[16], std::uint8_t* counts, int lane,
                                                   Marks<kScheme> marks) {
  __syncwarp();  // all lanes have read the counts
#pragma unroll 1
  for (std::uint32_t rest = marks.word & 0xffff; rest != 0; rest &= rest - 1) {
    const int block = core::highest_bit(rest & (~rest + 1));
    const int before = lane < 15 ? levels[block][lane] : 0;
    const int level = mark_level(before, lane >> 4, lane & 15, marks.word >> block, marks.by_parity(), 15);
    const unsigned nonzero = __ballot_sync(kWarp, level != 0);
    if (lane < 15) levels[block][lane] = static_cast<std::int16_t>(level);
    if (lane == 0) counts[block] = static_cast<std::uint8_t>(core::count_ones(nonzero));
  }
  __syncwarp();
}

// Marks the AC levels of an Intra_16x16 macroblock, block by block, and updates their counts.
template <bool kRd, MarkScheme kScheme>
__device__ void mark_intra16x16(WarpState<kRd>& s, const LaneIndices& lane, const Marks<kScheme>& marks) {
  if (__builtin_expect(marks.word == 0, true)) return;
  mark_ac_levels(s.levels + core::kSlotLuma, s.counts + core::kSlotLuma, lane.lane, marks);
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
