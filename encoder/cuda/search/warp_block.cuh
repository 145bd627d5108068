// A 4x4 block on sixteen lanes, two blocks to a warp: lane p of a half holds the sample or coefficient in
// column p & 3 of row p >> 2. The arithmetic is that of core/transform.h, with one output in each lane.
#pragma once

#include <cstdint>

#include "common/cuda/warp.cuh"
#include "core/block.h"
#include "core/cost.h"
#include "core/hd.h"
#include "core/quant.h"

namespace cu264::encoder::cuda {

inline constexpr unsigned kWarp = 0xffffffffu;

// Returns a value that is the same in all lanes, in a form that tells the compiler so. The compiler does not
// know this about values from shared memory. After a branch on such a value it guards every exchange between
// lanes, in case the lanes have diverged. In the kernels with Intra_8x8 these guards were an eighth of the
// instructions and caused more than half of the spills.
template <class T>
__device__ inline T uniform(T value) {
  return __shfl_sync(kWarp, value, 0);
}

// Returns a value that the compiler keeps in registers instead of computing it again at each use. The lane's
// number, for example, would be read from a special register, which is slow.
template <class T>
__device__ inline T kept(T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
#endif
  return value;
}

// A lane's place in its half of the warp.
struct LaneInHalf {
  int half;      // which of the two blocks
  int position;  // raster index in the block
};

// Indices that follow from a lane's number; computed once in a kernel.
struct LaneIndices : LaneInHalf {
  int lane;
  int x;
  int y;
  int coding;        // zigzag index of the position
  int raster;        // raster index of the coefficient at zigzag index `position`
  int raster_of_ac;  // the same for index `position` + 1, for blocks whose DC coefficient is coded elsewhere
  // Row x of the forward transform matrix, its columns ordered x, x ^ 1, x ^ 2, x ^ 3, and the same for y.
  int across[4];
  int down[4];

  __device__ explicit LaneIndices(int number) : lane(number) {
    half = lane >> 4;
    position = lane & 15;
    x = position & 3;
    y = position >> 2;
    coding = 0;
    raster = core::zigzag_to_raster(position);
    raster_of_ac = core::zigzag_to_raster(position < 15 ? position + 1 : 15);
    for (int k = 0; k < 16; ++k) {
      if (core::zigzag_to_raster(k) == position) coding = k;
    }
    for (int j = 0; j < 4; ++j) {
      across[j] = forward_matrix(x, x ^ j);
      down[j] = forward_matrix(y, y ^ j);
    }
  }

  static __device__ int forward_matrix(int row, int column) {
    if (row == 0) return 1;
    if (row == 2) return column == 0 || column == 3 ? 1 : -1;
    const int magnitude = (row == 1) == (column == 0 || column == 3) ? 2 : 1;
    const bool negative = row == 1 ? column > 1 : column == 1 || column == 3;
    return negative ? -magnitude : magnitude;
  }
};

// The weights of a flat scaling list.
struct NoWeights {};

// The quantiser's constants for a lane's position.
struct LaneQuantiser {
  int multiplier;
  int dequant;
  int shift;
  int rounding;
  int first_level;

  __device__ LaneQuantiser(const core::Quantiser& q, int position, core::DeadZone dead_zone, NoWeights = {}) {
    const int position_class = core::position_class(position);
    multiplier = position_class == 0   ? q.multiplier[0]
                 : position_class == 1 ? q.multiplier[1]
                                       : q.multiplier[2];
    dequant = position_class == 0 ? q.dequant[0] : position_class == 1 ? q.dequant[1] : q.dequant[2];
    shift = q.shift;
    rounding = q.rounding;
    first_level = core::first_level_at(dead_zone, position, q.shift);
  }
};

__device__ inline int forward_transform(const LaneIndices& lane, int residual) {
  const int row = lane.across[0] * residual + lane.across[1] * __shfl_xor_sync(kWarp, residual, 1) +
                  lane.across[2] * __shfl_xor_sync(kWarp, residual, 2) +
                  lane.across[3] * __shfl_xor_sync(kWarp, residual, 3);
  return lane.down[0] * row + lane.down[1] * __shfl_xor_sync(kWarp, row, 4) +
         lane.down[2] * __shfl_xor_sync(kWarp, row, 8) + lane.down[3] * __shfl_xor_sync(kWarp, row, 12);
}

// Output i (0..3) of core::inverse_1d.
__device__ inline int inverse_output(int i, int a, int b, int c, int d) {
  const bool inner = i == 1 || i == 2;
  const int even = inner ? a - c : a + c;
  const int odd = inner ? (b >> 1) - d : b + (d >> 1);
  return i < 2 ? even + odd : even - odd;
}

__device__ inline int inverse_transform(const LaneIndices& lane, int coefficient) {
  const int row = lane.lane & ~3, column = lane.lane & ~12;
  int a = __shfl_sync(kWarp, coefficient, row), b = __shfl_sync(kWarp, coefficient, row + 1),
      c = __shfl_sync(kWarp, coefficient, row + 2), d = __shfl_sync(kWarp, coefficient, row + 3);
  const int across = inverse_output(lane.x, a, b, c, d);
  a = __shfl_sync(kWarp, across, column), b = __shfl_sync(kWarp, across, column + 4),
  c = __shfl_sync(kWarp, across, column + 8), d = __shfl_sync(kWarp, across, column + 12);
  return (inverse_output(lane.y, a, b, c, d) + 32) >> 6;
}

// One output of core::hadamard4x4, whose rows are those of H.264 8.5.10.
__device__ inline int hadamard_output(int i, int own, int x1, int x2, int x3) {
  const int sum = i < 2 ? own + x1 : x1 - own;  // rows 2 and 3 subtract their own sample
  const int rest = i == 0 ? x2 + x3 : i == 1 ? -x2 - x3 : i == 2 ? x2 - x3 : x3 - x2;
  return sum + rest;
}

__device__ inline int hadamard(const LaneIndices& lane, int value) {
  const int across = hadamard_output(lane.x, value, __shfl_xor_sync(kWarp, value, 1),
                                     __shfl_xor_sync(kWarp, value, 2), __shfl_xor_sync(kWarp, value, 3));
  return hadamard_output(lane.y, across, __shfl_xor_sync(kWarp, across, 4), __shfl_xor_sync(kWarp, across, 8),
                         __shfl_xor_sync(kWarp, across, 12));
}

// core::hadamard2x2 on four neighbouring lanes.
__device__ inline int hadamard2x2(const LaneIndices& lane, int value) {
  int other = __shfl_xor_sync(kWarp, value, 1);
  value = lane.lane & 1 ? other - value : value + other;
  other = __shfl_xor_sync(kWarp, value, 2);
  return lane.lane & 2 ? other - value : value + other;
}

// The level of an AC coefficient, or of any coefficient of Intra_4x4.
__device__ inline int signed_level(const LaneQuantiser& q, int coefficient) {
  const int level = core::quantise_with_dead_zone(core::absolute(coefficient) * q.multiplier, q.shift,
                                                  q.rounding, q.first_level);
  return coefficient < 0 ? -level : level;
}

// The coefficient of a level.
__device__ inline int dequantised(const LaneQuantiser& q, int level) {
  return level * q.dequant;
}

// The quantiser of a component of chroma, among those of both.
__device__ inline const LaneQuantiser& of_component(const LaneQuantiser& q, int) {
  return q;
}

// The same for DC coefficients, which pass a further Hadamard transform: the scaled coefficient with its
// sign, the number of its fractional bits, and what core::dequantise_luma_dc and core::dequantise_chroma_dc
// take. `q` is the plane's quantiser at the lane's position, `flat` the plane's for flat scaling lists.
__device__ inline int scaled_dc(const LaneQuantiser&, const core::Quantiser& flat, int coefficient) {
  return coefficient * flat.multiplier[0];
}
__device__ inline int dc_shift(const LaneQuantiser& q, int extra_shift) {
  return q.shift + extra_shift;
}
__device__ inline const core::Quantiser& dc_quantiser(const LaneQuantiser&, const core::Quantiser& flat) {
  return flat;
}

// The level of a DC coefficient after its further Hadamard transform.
__device__ inline int signed_dc_level(const LaneQuantiser&, const core::Quantiser& q,
                                      core::DeadZone dead_zone, int extra_shift, int coefficient) {
  const int shift = q.shift + extra_shift;
  const int level =
      core::quantise_with_dead_zone(core::absolute(coefficient) * q.multiplier[0], shift,
                                    q.rounding << extra_shift, core::first_level_at(dead_zone, 0, shift));
  return coefficient < 0 ? -level : level;
}

// The sum over the sixteen lanes of a half, in all of them.
__device__ inline int half_sum(LaneInHalf lane, int value) {
#if __CUDA_ARCH__ >= 800
  const int lower = warp_sum(lane.half == 0 ? value : 0), upper = warp_sum(lane.half == 0 ? 0 : value);
  return lane.half == 0 ? lower : upper;
#else
  for (int step = 1; step < 16; step *= 2) value += __shfl_xor_sync(kWarp, value, step);
  return value;
#endif
}

// The same for values that are not negative and whose sum stays below 2^16.
__device__ inline int half_sum_of_small(LaneInHalf lane, int value) {
  const int shift = 16 * lane.half;
  return (static_cast<unsigned>(warp_sum(value << shift)) >> shift) & 0xffff;
}

}  // namespace cu264::encoder::cuda
