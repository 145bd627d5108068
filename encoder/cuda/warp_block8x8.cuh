// 8x8 blocks on eight lanes each, four of them to a warp: a lane holds a column or a row of its block. The
// arithmetic is that of core/transform.h and core/quant8x8.h.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cost.h"
#include "core/quant8x8.h"
#include "core/transform.h"
#include "encoder/cuda/warp_block.cuh"

namespace cu264::encoder::cuda {

// A lane's place in the group of eight that has a block.
struct LaneInGroup {
  int group;
  int index;  // its column or row of the block

  __device__ explicit LaneInGroup(int lane) : group(lane >> 3), index(lane & 7) {}
};

// The sum over the eight lanes of a group, in all of them.
template <class T>
__device__ inline T group_sum(T value) {
  for (int step = 1; step < 8; step *= 2) value += __shfl_xor_sync(kWarp, value, step);
  return value;
}

// Memory in which the four blocks of a warp are transposed. With rows of nine words no two lanes use a bank
// at the same time.
struct TransposedBlocks {
  std::int32_t words[4][8 * 9];

  // Exchanges rows and columns: element i of lane k becomes element k of lane i.
  __device__ void transpose(LaneInGroup lane, int (&x)[8]) {
    std::int32_t* const block = words[lane.group];
    __syncwarp();  // all lanes have read what they transposed before
#pragma unroll
    for (int i = 0; i < 8; ++i) block[9 * lane.index + i] = x[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = block[9 * i + lane.index];
  }
};

// Takes a column of the residual, and returns a row of coefficients.
__device__ inline void forward_transform8x8(TransposedBlocks& memory, LaneInGroup lane, int (&x)[8]) {
  core::forward8_1d(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
  memory.transpose(lane, x);
  core::forward8_1d(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
}

// Takes a row of scaled coefficients, and returns a column of the residual.
__device__ inline void inverse_transform8x8(TransposedBlocks& memory, LaneInGroup lane, int (&x)[8]) {
  core::inverse8_1d(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
  memory.transpose(lane, x);
  core::inverse8_1d(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = (x[i] + 32) >> 6;
}

// What quantisation needs that does not depend on the macroblock, in shared memory.
struct Tables8x8 {
  std::int32_t multiplier[6][core::kPositionClasses8x8];   // by QP % 6
  std::int32_t level_scale[6][core::kPositionClasses8x8];  // the same
  // By raster position: 16 * interleaved block + level in it (core/block.h).
  alignas(8) std::uint8_t coded_at[64];

  // All threads of the block call this; a barrier must follow before the first use.
  __device__ void fill() {
#pragma unroll 1
    for (int k = static_cast<int>(threadIdx.x); k < 64; k += static_cast<int>(blockDim.x)) {
      coded_at[core::zigzag8x8_to_raster(k)] =
          static_cast<std::uint8_t>(16 * core::interleaved_block(k) + core::interleaved_level(k));
    }
    if (threadIdx.x < 6) {
      const core::Quantiser8x8 q = core::make_quantiser8x8(static_cast<int>(threadIdx.x));
      for (int i = 0; i < core::kPositionClasses8x8; ++i) {
        multiplier[threadIdx.x][i] = q.multiplier[i];
        level_scale[threadIdx.x][i] = q.level_scale[i];
      }
    }
  }
};

// The quantiser's constants for the positions of a row. In each row there are three classes of positions.
struct RowQuantiser8x8 {
  int multiplier[3];
  int level_scale[3];
  int shift;
  int rounding;
  int first_level;  // of the first position; the limit of each further one is higher by `rise`
  int rise;
  int qp_per;
  std::uint64_t coded_at;  // Tables8x8::coded_at of the row

  __device__ RowQuantiser8x8(const Tables8x8& tables, int qp, core::DeadZone dead_zone, int row) {
    qp_per = qp / 6;
    const int qp_rem = qp - 6 * qp_per;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      constexpr int kFirst[3] = {0, 2, 1};  // the first position of each class
      const int position_class = core::position_class8x8(8 * row + kFirst[i]);
      multiplier[i] = tables.multiplier[qp_rem][position_class];
      level_scale[i] = tables.level_scale[qp_rem][position_class];
    }
    shift = core::kShift8x8 + qp_per;
    rounding = core::level_rounding(shift);
    first_level = core::first_level_at8x8(dead_zone, 8 * row, shift);
    rise = core::first_level_at8x8(dead_zone, 8 * row + 1, shift) - first_level;
    coded_at = *reinterpret_cast<const std::uint64_t*>(tables.coded_at + 8 * row);
  }

  static __device__ constexpr int class_at(int x) {
    return (x & 1) != 0 ? 2 : (x & 2) != 0 ? 1 : 0;
  }

  // Where the level of position x goes: 16 * interleaved block + level in it.
  __device__ int place(int x) const {
    return static_cast<int>(coded_at >> (8 * x)) & 63;
  }
  __device__ int scaled(int x, int coefficient) const {
    return coefficient * multiplier[class_at(x)];
  }
  __device__ int level(int x, int coefficient) const {
    const int level = core::quantise_with_dead_zone(scaled(x, core::absolute(coefficient)), shift, rounding,
                                                    first_level + rise * x);
    return coefficient < 0 ? -level : level;
  }
  __device__ int dequantised(int x, int level) const {
    return core::dequantise8x8(level, level_scale[class_at(x)], qp_per);
  }
};

}  // namespace cu264::encoder::cuda
