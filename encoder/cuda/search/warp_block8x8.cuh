// An 8x8 block on a warp, with two samples or coefficients in each lane. The arithmetic is that of
// core/transform.h and core/quant8x8.h.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cost.h"
#include "core/quant8x8.h"
#include "core/transform.h"
#include "encoder/cuda/search/warp_block.cuh"

namespace cu264::encoder::cuda {

// A lane's place in an 8x8 block. Four lanes share a line, which is a column of samples or a row of
// coefficients. The lane holds samples `pair` and 7 - `pair` of its line, or the coefficients of the
// frequencies `even` and `odd`. With these pairs each step of a transform needs one other lane of the line.
struct LaneIn8x8 {
  int line;
  int pair;
  int even;  // 0, 4, 6, 2 by pair
  int odd;   // 1, 5, 3, 7
  // The steps of the transforms multiply by these: 1 or -1. The names tell the pairs with -1.
  int minus23;
  int minus12;
  int minus13;
  int minus3;
  int minus1;
  int minus0;

  __device__ explicit LaneIn8x8(int lane) : line(lane >> 2), pair(lane & 3) {
    const int low = pair & 1, high = pair >> 1;
    even = 4 * (low ^ high) + 2 * high;
    odd = 1 + 4 * low + 2 * high;
    minus23 = 1 - 2 * high;
    minus12 = 1 - 2 * (low ^ high);
    minus13 = 1 - 2 * low;
    minus3 = 1 - 2 * (low & high);
    minus1 = 1 - 2 * (low & ~high);
    minus0 = pair == 0 ? -1 : 1;
  }
  // 1 in the lanes whose even part takes half of the other lane's.
  __device__ int halves() const { return pair >> 1; }
};

// core::forward8_1d on the four lanes of a line. Takes samples and returns coefficients.
__device__ inline void forward8_1d(const LaneIn8x8& lane, int& x, int& y) {
  const int sum = x + y, difference = x - y;
  const int even = lane.minus23 * sum + __shfl_xor_sync(kWarp, sum, 3);  // even0, 1, 3, 2 by pair
  x = lane.minus12 * even + (__shfl_xor_sync(kWarp, even, 1) >> lane.halves());
  const int odd = lane.minus12 * (difference + (difference >> 1)) +
                  lane.minus23 * __shfl_xor_sync(kWarp, difference, 1) +
                  __shfl_xor_sync(kWarp, difference, 2);  // odd0, 2, 1, 3 by pair
  y = lane.minus3 * odd + lane.minus1 * (__shfl_xor_sync(kWarp, odd, 3) >> 2);
}

// core::inverse8_1d, likewise. Takes coefficients and returns samples.
__device__ inline void inverse8_1d(const LaneIn8x8& lane, int& x, int& y) {
  const int first = lane.minus12 * x + (__shfl_xor_sync(kWarp, x, 1) >> lane.halves());  // e0, 2, 4, 6
  const int even = lane.minus23 * first + __shfl_xor_sync(kWarp, first, 3);              // f0, 2, 4, 6
  const int second = lane.minus23 * (y + (y >> 1)) + lane.minus13 * __shfl_xor_sync(kWarp, y, 1) +
                     __shfl_xor_sync(kWarp, y, 2);  // e7, 5, 3, 1
  const int odd = lane.minus1 * second + lane.minus0 * (__shfl_xor_sync(kWarp, second, 3) >> 2);
  x = even + odd;
  y = even - odd;
}

// Memory in which a warp exchanges the columns and rows of a block. With rows of twelve words no two lanes
// use a bank at the same time.
struct TransposedBlock {
  static constexpr int kPitch = 12;
  std::int32_t words[8 * kPitch];

  // Takes the coefficients of columns and returns the samples of rows.
  __device__ void to_rows(const LaneIn8x8& lane, int& x, int& y) {
    __syncwarp();  // all lanes have read what they exchanged before
    words[kPitch * lane.even + lane.line] = x;
    words[kPitch * lane.odd + lane.line] = y;
    __syncwarp();
    x = words[kPitch * lane.line + lane.pair];
    y = words[kPitch * lane.line + 7 - lane.pair];
  }
  // Takes the samples of rows and returns the coefficients of columns.
  __device__ void to_columns(const LaneIn8x8& lane, int& x, int& y) {
    __syncwarp();
    words[kPitch * lane.line + lane.pair] = x;
    words[kPitch * lane.line + 7 - lane.pair] = y;
    __syncwarp();
    x = words[kPitch * lane.even + lane.line];
    y = words[kPitch * lane.odd + lane.line];
  }
};

// Takes a residual by columns, and returns coefficients by rows.
__device__ inline void forward_transform8x8(TransposedBlock& memory, const LaneIn8x8& lane, int& x, int& y) {
  forward8_1d(lane, x, y);
  memory.to_rows(lane, x, y);
  forward8_1d(lane, x, y);
}

// Takes scaled coefficients by rows, and returns a residual by columns.
__device__ inline void inverse_transform8x8(TransposedBlock& memory, const LaneIn8x8& lane, int& x, int& y) {
  inverse8_1d(lane, x, y);
  memory.to_columns(lane, x, y);
  inverse8_1d(lane, x, y);
  x = (x + 32) >> 6;
  y = (y + 32) >> 6;
}

// What quantisation needs and does not depend on the macroblock, in shared memory.
struct Tables8x8 {
  std::int32_t multiplier[6][core::kPositionClasses8x8];   // by QP % 6
  std::int32_t level_scale[6][core::kPositionClasses8x8];  // the same
  // By raster position: 16 * interleaved block + level in it (core/block.h).
  std::uint8_t coded_at[64];

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

// The quantiser's constants for one of a lane's two coefficients.
struct PositionQuantiser8x8 {
  int multiplier;
  int level_scale;
  int first_level;
  int place;  // where its level goes: 16 * interleaved block + level in it

  __device__ PositionQuantiser8x8(const Tables8x8& tables, int qp_rem, int shift, core::DeadZone dead_zone,
                                  int position) {
    const int position_class = core::position_class8x8(position);
    multiplier = tables.multiplier[qp_rem][position_class];
    level_scale = tables.level_scale[qp_rem][position_class];
    first_level = core::first_level_at8x8(dead_zone, position, shift);
    place = tables.coded_at[position];
  }
  __device__ int scaled(int coefficient) const { return coefficient * multiplier; }
};

// Those of both.
struct LaneQuantiser8x8 {
  int shift;
  int rounding;
  int qp_per;
  PositionQuantiser8x8 even;
  PositionQuantiser8x8 odd;

  __device__ LaneQuantiser8x8(const Tables8x8& tables, int qp, core::DeadZone dead_zone,
                              const LaneIn8x8& lane)
      : shift(core::kShift8x8 + qp / 6),
        rounding(core::level_rounding(shift)),
        qp_per(qp / 6),
        even(tables, qp % 6, shift, dead_zone, 8 * lane.line + lane.even),
        odd(tables, qp % 6, shift, dead_zone, 8 * lane.line + lane.odd) {}

  __device__ int level(const PositionQuantiser8x8& at, int coefficient) const {
    const int level = core::quantise_with_dead_zone(at.scaled(core::absolute(coefficient)), shift, rounding,
                                                    at.first_level);
    return coefficient < 0 ? -level : level;
  }
  __device__ int dequantised(const PositionQuantiser8x8& at, int level) const {
    return core::dequantise8x8(level, at.level_scale, qp_per);
  }
};

}  // namespace cu264::encoder::cuda
