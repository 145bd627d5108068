// The order in which a warp takes the sixteen luma blocks of a macroblock, two at a time where it can. What
// it needs to know of each block is computed beforehand, because the search spends most of its time in the
// loop over these steps.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/intra_pred.h"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/search_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

inline constexpr int kIntra4x4Steps = 10;
// The only step that may read from the macroblock above and to the right.
inline constexpr int kAboveRightStep = 3;

// These bits say that a block has neighbours inside its macroblock, or that the macroblock has neighbours.
inline constexpr unsigned kHasLeft = 1, kHasAbove = 2;
// These say that the samples above and to the right of a block are available: because they lie inside the
// macroblock, or as soon as there is a row above.
inline constexpr unsigned kHasAboveRight = 4, kHasAboveRightIfAbove = 8;
// See core::intra4x4_avoids_above_right; the bit is set for a block and for a macroblock. Where a stream has
// Intra_8x8, such a block reads the samples of the macroblock above and to the right instead.
inline constexpr unsigned kAvoidsAboveRight = 16;

// A macroblock's neighbours, in the bits that StepBlock::about uses for a block's.
__device__ inline unsigned neighbour_bits(const MacroblockPosition& position) {
  return (position.left ? kHasLeft : 0) | (position.above ? kHasAbove | kHasAboveRightIfAbove : 0) |
         (position.above_right ? kAvoidsAboveRight : 0);
}

struct StepBlock {
  std::uint32_t where;  // offsets of its first sample: in the canvas, and << 16 in the source
  std::uint32_t
      about;  // neighbour bits, << 8 the block, << 12 its raster index, << 16 its index in a BlockGrid

  static constexpr unsigned kIdle = 1u << 24;  // the block repeats the one of the other half
  static constexpr int kPatternShift = 28;     // the block's bit of CodedBlockPatternLuma

  static __host__ __device__ constexpr std::uint64_t packed(int block, bool idle = false) {
    const int bx = core::luma_block_x(block), by = core::luma_block_y(block);
    const bool right = core::intra4x4_above_right_available(block, false, false);
    const bool right_if_above = !right && core::intra4x4_above_right_available(block, true, false);
    const unsigned bits = (bx > 0 ? kHasLeft : 0) | (by > 0 ? kHasAbove : 0) | (right ? kHasAboveRight : 0) |
                          (right_if_above ? kHasAboveRightIfAbove : 0) |
                          (core::intra4x4_avoids_above_right(block, true) ? kAvoidsAboveRight : 0);
    const auto of = [](int value, int shift) { return static_cast<std::uint64_t>(value) << shift; };
    const std::uint64_t where = of(4 * by * Canvas::kPitch + 4 * bx, 0) | of(4 * by * 16 + 4 * bx, 16);
    const std::uint64_t about = bits | of(block, 8) | of(4 * by + bx, 12) |
                                of(BlockGrid<4>::kOwn + by * BlockGrid<4>::kPitch + bx, 16) |
                                (idle ? kIdle : 0) | of(1 << (block >> 2), kPatternShift);
    return where | about << 32;
  }

  __device__ int canvas() const { return static_cast<int>(where & 0xffff); }
  __device__ int source() const { return static_cast<int>(where >> 16); }
  __device__ int block() const { return static_cast<int>(about >> 8) & 15; }
  __device__ int raster() const { return static_cast<int>(about >> 12) & 15; }
  __device__ int grid() const { return static_cast<int>(about >> 16) & 63; }
  __device__ bool idle() const { return (about & kIdle) != 0; }
  __device__ unsigned pattern() const { return about & (15u << kPatternShift); }
};

// Each block needs only blocks of earlier steps. The lower half of the warp takes the first block and the
// upper half the second; where there is only one, both halves compute it and the upper one counts as idle.
// The tables are in constant memory because all lanes read the same entry.
static __constant__ std::uint64_t c_first_of_step[kIntra4x4Steps] = {
    StepBlock::packed(0),  StepBlock::packed(1), StepBlock::packed(2),  StepBlock::packed(3),
    StepBlock::packed(6),  StepBlock::packed(7), StepBlock::packed(10), StepBlock::packed(11),
    StepBlock::packed(14), StepBlock::packed(15)};
static __constant__ std::uint64_t c_second_of_step[kIntra4x4Steps] = {
    StepBlock::packed(0, true),  StepBlock::packed(1, true), StepBlock::packed(4),  StepBlock::packed(5),
    StepBlock::packed(8),        StepBlock::packed(9),       StepBlock::packed(12), StepBlock::packed(13),
    StepBlock::packed(14, true), StepBlock::packed(15, true)};

__device__ inline StepBlock unpack(std::uint64_t packed) {
  return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32)};
}
__device__ inline StepBlock first_of_step(int step) {
  return unpack(c_first_of_step[step]);
}
__device__ inline StepBlock second_of_step(int step) {
  return unpack(c_second_of_step[step]);
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
