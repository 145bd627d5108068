// core::cavlc_block_bits on half a warp: lane k of the half passes the level at coding position k, and the
// share of every coefficient follows from the two masks alone. Both halves work at the same time, each on its
// own block.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/cavlc_block.h"
#include "core/cavlc_tables.h"
#include "encoder/cuda/search/warp_block.cuh"

namespace cu264::encoder::cuda {

// Lengths of the codes that occur once in a block, in one table in shared memory: a lane needs a single
// look-up, whichever code it counts.
struct CavlcLengths {
  static constexpr int kTotalZeros = 5 * 17 * 4, kChromaDcTotalZeros = kTotalZeros + 16 * 16,
                       kNone = kChromaDcTotalZeros + 4 * 4, kSize = kNone + 1;
  std::uint8_t length[kSize];

  static __device__ int coeff_token(int column, int total_coeff, int trailing_ones) {
    return (column * 17 + total_coeff) * 4 + trailing_ones;
  }
  static __device__ int total_zeros(int total_coeff, int zeros) {
    return kTotalZeros + 16 * total_coeff + zeros;
  }
  static __device__ int chroma_dc_total_zeros(int total_coeff, int zeros) {
    return kChromaDcTotalZeros + 4 * total_coeff + zeros;
  }

  // All threads of the block call this; a barrier must follow before the first use.
  __device__ void fill() {
    for (int i = threadIdx.x; i < kSize; i += blockDim.x) {
      int bits = 0;
      if (i < kTotalZeros) {
        const int column = i / 68, total = i / 4 % 17, ones = i & 3;
        if (ones <= total && (column < 4 || total <= 4))
          bits = core::coeff_token_code(column, total, ones).length + ones;
      } else if (i < kChromaDcTotalZeros) {
        const int total = (i - kTotalZeros) >> 4, zeros = (i - kTotalZeros) & 15;
        if (total > 0 && total + zeros <= 16) bits = core::total_zeros_code(total, zeros).length;
      } else if (i < kNone) {
        const int total = (i - kChromaDcTotalZeros) >> 2, zeros = (i - kChromaDcTotalZeros) & 3;
        if (total > 0 && total + zeros <= 4) bits = core::chroma_dc_total_zeros_code(total, zeros).length;
      }
      length[i] = static_cast<std::uint8_t>(bits);
    }
  }
};

// The suffixLength of a level after the first (H.264 9.2.2): 1, and one more for each level before it that
// exceeded the threshold of the suffixLength of that time. Every lane of the warp must call it.
__device__ inline int suffix_length_by_votes(LaneInHalf lane, int magnitude) {
  int suffix_length = 1;
  unsigned later = 0xffff;  // positions that are coded after the last increment
#pragma unroll 1
  for (int threshold = 3; threshold <= 48; threshold *= 2) {
    const unsigned above = __ballot_sync(kWarp, magnitude > threshold);
    if (above == 0) break;
    const unsigned rising = (above >> (16 * lane.half)) & later;
    later = rising == 0 ? 0 : (1u << core::highest_bit(rising)) - 1;
    suffix_length += (later >> lane.position) & 1;
  }
  return suffix_length;
}

// The masks of the half's block, whose levels the lanes pass in coding order. Every lane of the warp must
// call it.
__device__ inline core::LevelMasks half_masks(LaneInHalf lane, int level) {
  core::LevelMasks masks;
  masks.nonzero = (__ballot_sync(kWarp, level != 0) >> (16 * lane.half)) & 0xffff;
  masks.ones = (__ballot_sync(kWarp, abs(level) == 1) >> (16 * lane.half)) & 0xffff;
  return masks;
}

// The lane's share of the bits of its half's block; the sum over the half is the length of the block. Levels
// from max_num_coeff on must be 0. Every lane of the warp must call it.
__device__ inline int cavlc_share(const CavlcLengths& lengths, LaneInHalf lane, int level, int max_num_coeff,
                                  int nC) {
  const int magnitude = abs(level);
  const core::LevelMasks masks = half_masks(lane, level);
  const core::CavlcSymbols symbols = core::symbols_of_masks(masks);

  int once = CavlcLengths::kNone;
  if (lane.position == 0) {
    once =
        CavlcLengths::coeff_token(core::coeff_token_column(nC), symbols.total_coeff, symbols.trailing_ones);
  } else if (lane.position == 1 && symbols.total_coeff < max_num_coeff) {
    const int zeros = 32 - __clz(static_cast<int>(symbols.nonzero)) - symbols.total_coeff;
    once = max_num_coeff == 4 ? CavlcLengths::chroma_dc_total_zeros(symbols.total_coeff, zeros)
                              : CavlcLengths::total_zeros(symbols.total_coeff, zeros);
  }
  int bits = lengths.length[once];

  const unsigned here = 1u << lane.position, lower = symbols.nonzero & (here - 1);
  const int suffix_length_after_first = suffix_length_by_votes(lane, magnitude);
  const bool first = symbols.levels < 2 * here;
  const int suffix_length = first ? core::first_suffix_length(symbols) : suffix_length_after_first;
  const int level_bits =
      core::level_length(core::level_code(level, first && symbols.trailing_ones < 3), suffix_length);
  if (symbols.levels & here) bits += level_bits;

  const int zeros_left = lane.position - core::count_ones(lower);
  const int run_bits =
      core::run_before_length(max(zeros_left, 1), lane.position + __clz(static_cast<int>(lower)) - 32);
  if ((symbols.nonzero & here) && lower != 0 && zeros_left > 0) bits += run_bits;
  return bits;
}

// Stores the masks of blocks 2 * pass and 2 * pass + 1, whose levels the halves pass in coding order, in the
// lanes with the numbers of the blocks. Every lane of the warp must call it.
__device__ inline void vote_masks(const LaneIndices& lane, int pass, int level, core::LevelMasks& masks) {
  const unsigned nonzero = __ballot_sync(kWarp, level != 0), ones = __ballot_sync(kWarp, abs(level) == 1);
  if ((lane.lane >> 1) != pass) return;
  masks.nonzero = (nonzero >> (16 * (lane.lane & 1))) & 0xffff;
  masks.ones = (ones >> (16 * (lane.lane & 1))) & 0xffff;
}

}  // namespace cu264::encoder::cuda
