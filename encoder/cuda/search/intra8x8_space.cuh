// The shared memory of the search for Intra_8x8.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/intra8x8_pred.h"
#include "encoder/cuda/search/intra4x4.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block8x8.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// Tables that the warps of a thread block share.
struct Intra8x8Tables {
  Tables8x8 quantisation;
  // By lane: indices into the values of its samples, one byte each, of the predictions in columns 2 m and
  // 2 m + 1 of the modes (mode_of_column). Lane 4 * g + t has row t of 4x4 block g & 3, and columns 2 m + (g
  // >> 2).
  alignas(16) std::uint32_t sources[32][4];

  // All threads of the block call this; a barrier must follow before the first use.
  __device__ void fill() {
    quantisation.fill();
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < 32 * 16; i += static_cast<int>(blockDim.x)) {
      const int lane = i >> 4, m = (i >> 2) & 3, sample = i & 3;
      const int x = 4 * ((lane >> 2) & 1) + sample, y = 4 * ((lane >> 3) & 1) + (lane & 3);
      reinterpret_cast<std::uint8_t*>(sources)[i] =
          static_cast<std::uint8_t>(core::intra8x8_source(mode_of_column(2 * m + (lane >> 4)), x, y));
    }
  }
};

// The work space of a warp, and the result of its search.
struct alignas(16) Intra8x8Space {
  TransposedBlock transposed;
  std::uint8_t values[96];          // core::intra8x8_values without DC
  std::uint8_t predictions[8][64];  // by column of the mode
  // The levels of a candidate and of the best one so far, in the order of the interleaved blocks.
  std::int16_t trial_levels[2][64];
  std::uint32_t satd_after[4];  // the search's cost by SATD after each block
  // These members keep the result while Intra_4x4 overwrites it in the warp's state.
  alignas(16) std::int16_t levels[16][16];
  std::uint8_t samples[16][16];
  std::uint8_t counts[16];
  std::int8_t modes[4];
};

// Keeps what the search has left in the warp's state.
template <bool kRd>
__device__ void keep_intra8x8(WarpState<kRd>& s, Intra8x8Space& space, const LaneIndices& lane) {
  const int i = lane.lane;
  __syncwarp();
  reinterpret_cast<uint4*>(space.levels)[i] = reinterpret_cast<const uint4*>(s.levels + core::kSlotLuma)[i];
  for (int k = i; k < 64; k += 32) {
    reinterpret_cast<std::uint32_t*>(space.samples)[k] = s.canvas.word(4 * (k & 3), k >> 2);
  }
  if (i < 16) space.counts[i] = s.counts[core::kSlotLuma + i];
  if (i < 4) space.modes[i] = s.modes.at(2 * (i & 1), 2 * (i >> 1));
  __syncwarp();
}

// Puts it back.
template <bool kRd>
__device__ void restore_intra8x8(WarpState<kRd>& s, const Intra8x8Space& space, const LaneIndices& lane) {
  const int i = lane.lane;
  __syncwarp();
  reinterpret_cast<uint4*>(s.levels + core::kSlotLuma)[i] = reinterpret_cast<const uint4*>(space.levels)[i];
  for (int k = i; k < 64; k += 32) {
    *reinterpret_cast<std::uint32_t*>(s.canvas.at(4 * (k & 3), k >> 2)) =
        reinterpret_cast<const std::uint32_t*>(space.samples)[k];
  }
  if (i < 16) {
    const int x = core::luma_block_x(i), y = core::luma_block_y(i);
    s.counts[core::kSlotLuma + i] = space.counts[i];
    s.luma_counts.at(x, y) = static_cast<std::int8_t>(space.counts[i]);
    s.modes.at(x, y) = space.modes[i >> 2];
  }
  __syncwarp();
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
