// Codes and reconstructs 8x8 luma blocks on a warp: four candidates at once, one in each group of eight
// lanes, or one in all groups, of which the first stores it.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/level_masks.h"
#include "core/luma_decision.h"
#include "core/quant8x8.h"
#include "encoder/cuda/intra8x8_space.cuh"
#include "encoder/cuda/macroblock.cuh"
#include "encoder/cuda/warp_block8x8.cuh"
#include "encoder/cuda/warp_rate.cuh"
#include "encoder/cuda/warp_rdoq.cuh"

namespace cu264::encoder::cuda {

// A block of the macroblock, and what its prediction needs besides Intra8x8Space::values.
struct Block8x8 {
  int block;  // luma8x8BlkIdx
  int x;      // of its first sample
  int y;
  int grid;  // index of its first 4x4 block in a BlockGrid
  core::Intra4x4Neighbours available;
  int dc;
  int predicted_mode;

  __device__ int slot() const { return core::kSlotLuma + 4 * block; }
  // Index of 4x4 block i in a BlockGrid.
  __device__ int grid_of(int i) const { return grid + (i >> 1) * BlockGrid<4>::kPitch + (i & 1); }
};

// A column of reconstructed samples.
struct Column8x8 {
  std::uint64_t samples;
  int squared_error;  // of the group's block, the same in its lanes
};

template <bool kRd>
struct Coder8x8 {
  WarpState<kRd>& s;
  Intra8x8Space& space;
  const RowQuantiser8x8& quantiser;
  LaneInGroup lane;

  // The predicted sample in row y of the lane's column.
  __device__ int predicted(const Block8x8& b, int mode, int y) const {
    return mode == core::kIntra4x4Dc ? b.dc : space.predictions[column_of_mode(mode)][8 * y + lane.index];
  }
  __device__ int source(const Block8x8& b, int y) const { return s.luma[b.y + y][b.x + lane.index]; }

  // Returns a row of coefficients of the block as predicted with the group's mode.
  __device__ void transform(const Block8x8& b, int mode, int (&x)[8]) {
#pragma unroll
    for (int y = 0; y < 8; ++y) x[y] = source(b, y) - predicted(b, mode, y);
    forward_transform8x8(space.transposed, lane, x);
  }
  // A row of coefficients becomes levels of the dead zone.
  __device__ void quantise(int (&x)[8]) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = quantiser.level(i, x[i]);
  }
  // The counts of the group's four interleaved blocks, one byte each.
  __device__ std::uint32_t counts(const int (&levels)[8]) const {
    std::uint32_t counts = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (levels[i] != 0) counts += 1u << ((quantiser.place(i) & 48) >> 1);
    }
    return group_sum(counts);
  }
  __device__ void store_levels(const int (&levels)[8], std::int16_t* to) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) to[quantiser.place(i)] = static_cast<std::int16_t>(levels[i]);
  }
  // `levels` is a row, which is used up.
  __device__ Column8x8 reconstruct(const Block8x8& b, int mode, int (&levels)[8]) {
#pragma unroll
    for (int i = 0; i < 8; ++i) levels[i] = quantiser.dequantised(i, levels[i]);
    inverse_transform8x8(space.transposed, lane, levels);
    Column8x8 column{0, 0};
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      const int sample = core::clip_sample(predicted(b, mode, y) + levels[y], 8);
      const int error = source(b, y) - sample;
      column.samples |= static_cast<std::uint64_t>(sample) << (8 * y);
      column.squared_error += error * error;
    }
    column.squared_error = group_sum(column.squared_error);
    return column;
  }
  // The same from the levels in the warp's state.
  __device__ Column8x8 reconstruct_stored(const Block8x8& b, int mode) {
    const std::int16_t* const levels = s.levels[b.slot()];
    int row[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) row[i] = levels[quantiser.place(i)];
    return reconstruct(b, mode, row);
  }
  // The lanes of one group call this.
  __device__ void store_samples(const Block8x8& b, const Column8x8& column) {
    std::uint8_t* const samples = s.canvas.at(b.x + lane.index, b.y);
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      samples[y * Canvas::kPitch] = static_cast<std::uint8_t>(column.samples >> (8 * y));
    }
  }
  // Sets the count of interleaved block i. One lane calls this.
  __device__ void set_count(const Block8x8& b, int i, int count) {
    s.counts[b.slot() + i] = static_cast<std::uint8_t>(count);
    s.luma_counts.cells[b.grid_of(i)] = static_cast<std::int8_t>(count);
  }
  // The lanes of one group call this with the block's counts.
  __device__ void set_counts(const Block8x8& b, std::uint32_t counts) {
    if (lane.index < 4) set_count(b, lane.index, static_cast<int>(counts >> (8 * lane.index)) & 255);
  }
};

// The bits of the four interleaved blocks of the group's candidate, whose levels are in trial_levels, the
// same in all lanes of the group.
template <class Rate>
__device__ int trial_bits(WarpState<true>& s, const Intra8x8Space& space, LaneInGroup lane, const Rate& rate,
                          const Block8x8& b, std::uint32_t counts) {
  int bits = 0;
  if (lane.index < 4) {
    const int i = lane.index;
    const std::int8_t* const cells = s.luma_counts.cells + b.grid_of(i);
    const auto count_of = [counts](int block) { return static_cast<int>(counts >> (8 * block)) & 255; };
    const int left = (i & 1) != 0 ? count_of(i - 1) : cells[-1];
    const int above = (i & 2) != 0 ? count_of(i - 2) : cells[-BlockGrid<4>::kPitch];
    const std::int16_t* const levels = space.trial_levels[lane.group] + 16 * i;
    bits = rate.block_bits(levels, core::level_masks(levels, 16), core::BlockCategory::luma_4x4,
                           rate.block_context(left, above));
  }
  return group_sum(bits);
}

// Quantises the block by RDOQ, as predicted with `mode` in all groups, and leaves its levels and counts in
// the warp's state. The context of an interleaved block depends on the final counts of those before it.
// Returns the bits of all four.
template <class Rate>
__device__ int quantise_by_rdoq(Coder8x8<true>& coder, const LaneIndices& lane, const Rate& rate,
                                const Block8x8& b, int mode) {
  WarpState<true>& s = coder.s;
  Intra8x8Space& space = coder.space;
  int coefficients[8];
  coder.transform(b, mode, coefficients);
  if (coder.lane.group == 0) {
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      space.scaled[coder.quantiser.place(x)] = coder.quantiser.scaled(x, coefficients[x]);
    }
  }
  __syncwarp();
  int bits = 0;
#pragma unroll 1
  for (int pass = 0; pass < 3; ++pass) {  // block 0, then 1 and 2, then 3
    const bool active = pass == 1 || lane.half == 0;
    const int i = pass == 0 ? 0 : pass == 1 ? 1 + lane.half : 3;
    const std::int8_t* const cells = s.luma_counts.cells + b.grid_of(i);
    const int context = rate.block_context(cells[-1], cells[-BlockGrid<4>::kPitch]);
    const int scaled = space.scaled[16 * i + lane.position];
    const int level =
        choose_level_by_rdoq(s.rd.variants, rate, lane, core::absolute(scaled), scaled < 0,
                             core::BlockCategory::luma_4x4, coder.quantiser.shift, context, active);
    const unsigned nonzero = (__ballot_sync(kWarp, level != 0) >> (16 * lane.half)) & 0xffff;
    const int share = rate.share(lane, level, core::BlockCategory::luma_4x4, context);
    __syncwarp();  // both halves have read their contexts
    if (active) {
      bits += share;
      s.levels[b.slot() + i][lane.position] = static_cast<std::int16_t>(level);
      if (lane.position == 0) coder.set_count(b, i, __popc(nonzero));
    }
    __syncwarp();
  }
  return warp_sum(bits);
}

}  // namespace cu264::encoder::cuda
