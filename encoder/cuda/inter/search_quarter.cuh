// The exhaustive search at quarter size. A warp searches for one block of 8x8 samples; the warps of a thread
// block, which are neighbours, share the window of the picture before in shared memory. A lane measures four
// vectors at a time, side by side.
#pragma once

#include "common/cuda/warp.cuh"
#include "core/motion_search.h"
#include "encoder/cuda/inter/motion_step.cuh"
#include "encoder/cuda/inter/sample_words.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kQuarterWarps = 4;

// The window's words. A row of 24 words puts what the lanes of a warp read at once, eight words of four rows,
// into different banks.
struct QuarterWindow {
  static constexpr int kPitch = 24;
  static constexpr int kRows = 2 * core::kQuarterRange + core::kQuarterBlock - 1;
  static constexpr int kWordsOfBlock = core::kQuarterBlock / 4;
  static_assert(kPitch >= (2 * core::kQuarterRange) / 4 + kQuarterWarps * kWordsOfBlock);
  std::uint32_t words[kRows * kPitch];
};

// Adds the differences of eight samples to the sums of four vectors. `at` has the samples of the first
// vector.
__device__ inline void add_row_of_four(const std::uint32_t* at, const std::uint32_t* block,
                                       std::uint32_t (&sums)[4]) {
  const std::uint32_t a = at[0], b = at[1], c = at[2];
  sums[0] = add_differences(b, block[1], add_differences(a, block[0], sums[0]));
#pragma unroll
  for (int i = 1; i < 4; ++i) {
    sums[i] = add_differences(__funnelshift_r(a, b, 8 * i), block[0], sums[i]);
    sums[i] = add_differences(__funnelshift_r(b, c, 8 * i), block[1], sums[i]);
  }
}

__global__ void __launch_bounds__(32 * kQuarterWarps)
    search_quarter_size(const __grid_constant__ MotionStep motion) {
  __shared__ QuarterWindow s_window;
  constexpr int kRange = core::kQuarterRange, kVectors = 2 * kRange, kBlock = core::kQuarterBlock;
  constexpr int kWords = QuarterWindow::kWordsOfBlock;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const int picture = static_cast<int>(blockIdx.z);
  const ChainView& chain = motion.step.chains[picture];
  const int region_width = (motion.step.batch.mb_width + 1) / 2;
  const int first = static_cast<int>(blockIdx.x) * kQuarterWarps, y = kBlock * static_cast<int>(blockIdx.y);

  const int words = kVectors / 4 + kWords * min(kQuarterWarps, region_width - first);
  const DevicePlane& before = chain.before[2];
  for (int i = static_cast<int>(threadIdx.x); i < QuarterWindow::kRows * 16; i += 32 * kQuarterWarps) {
    const int row = i / 16, column = i % 16;
    if (column < words) {
      s_window.words[row * QuarterWindow::kPitch + column] =
          aligned_word(before.at(kBlock * first - kRange + 4 * column, y - kRange + row));
    }
  }
  __syncthreads();
  const int region = first + warp;
  if (region >= region_width) return;

  std::uint32_t block[2 * kBlock];
  const DevicePlane& source = chain.source[2];
#pragma unroll
  for (int row = 0; row < kBlock; ++row) {
    const uint2 samples = *reinterpret_cast<const uint2*>(source.at(kBlock * region, y + row));
    block[2 * row] = samples.x, block[2 * row + 1] = samples.y;
  }

  // A cost with the order in which its vector is tried below it: no motion comes first, then all vectors in
  // raster order.
  constexpr int kOrderBits = 11;
  static_assert(kVectors * kVectors < 1 << kOrderBits);
  const int lambda = motion.sad_lambda(picture);
  const int column = lane & 7;
  std::uint32_t cost_across[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const core::MotionVector v = core::motion_vector(4 * column + i - kRange, 0);
    // The bits of no vertical component are counted below.
    cost_across[i] = core::vector_cost(v, {}, 1, lambda) - core::vector_cost({}, {}, 1, lambda) / 2;
  }
  std::uint32_t best = 0xffffffffu;
#pragma unroll 1
  for (int step = 0; step < kVectors / 4; ++step) {
    const int row = 4 * step + (lane >> 3);
    const std::uint32_t* const at = s_window.words + row * QuarterWindow::kPitch + kWords * warp + column;
    std::uint32_t sums[4] = {};
#pragma unroll
    for (int i = 0; i < kBlock; ++i) add_row_of_four(at + i * QuarterWindow::kPitch, block + 2 * i, sums);
    const std::uint32_t cost_down = core::vector_cost(core::motion_vector(0, row - kRange), {}, 1, lambda) -
                                    core::vector_cost({}, {}, 1, lambda) / 2;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int raster = kVectors * row + 4 * column + i;
      const int order = raster == kVectors * kRange + kRange ? 0 : 1 + raster;
      best =
          min(best, (sums[i] + cost_across[i] + cost_down) << kOrderBits | static_cast<std::uint32_t>(order));
    }
  }
  best = warp_min(best);
  if (lane != 0) return;
  const int order = static_cast<int>(best & ((1u << kOrderBits) - 1));
  const int raster = order - 1;
  chain.quarter[static_cast<int>(blockIdx.y) * region_width + region] =
      order == 0 ? core::motion_vector(0, 0)
                 : core::motion_vector(raster % kVectors - kRange, raster / kVectors - kRange);
}

}  // namespace cu264::encoder::cuda
