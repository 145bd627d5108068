// A warp takes 4 or 16 words, one after another: a lane a pixel, the bits of the levels by vote.
#include <cstddef>

#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "vision/cuda/bit_planes.cuh"
#include "vision/cuda/level_scale.h"
#include "vision/cuda/level_words.h"
#include "vision/params.h"

namespace cu264::vision::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr std::uint32_t kManyWords = 1u << 18;  // from here on fewer, longer blocks keep a device busy
constexpr int kTilesReadByAll = 4096;           // more are reduced by a kernel of its own

__device__ int largest_of(const std::uint16_t* d_values, int count) {
  __shared__ int s_largest;
  if (threadIdx.x == 0) s_largest = 0;
  __syncthreads();
  int largest = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    largest = max(largest, static_cast<int>(d_values[i]));
  }
  largest = warp_max(largest);
  if ((threadIdx.x & 31) == 0) atomicMax(&s_largest, largest);
  __syncthreads();
  return s_largest;
}

__global__ void __launch_bounds__(1024) reduce_tiles(std::uint16_t* d_largest, int tiles) {
  std::uint16_t* const d_picture = d_largest + static_cast<std::size_t>(blockIdx.x) * tiles;
  const int largest = largest_of(d_picture, tiles);
  if (threadIdx.x == 0) d_picture[0] = static_cast<std::uint16_t>(largest);
}

__device__ void clear_counts(const WordGrid& grid, int picture, const LevelWords& out) {
  if (out.counts == nullptr) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) out.blocks_done[picture] = 0;
  const std::size_t counts =
      static_cast<std::size_t>(grid.all.count) * sizeof(LevelCounts) / sizeof(std::int32_t);
  auto* const d_counts = reinterpret_cast<std::int32_t*>(out.counts) + picture * counts;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x; i < counts; i += step) {
    d_counts[i] = 0;
  }
}

template <int kWarpWords>
__global__ void __launch_bounds__(kThreads)
    make_levels(const __grid_constant__ WordGrid grid, const __grid_constant__ CannyParams params,
                int tiles_read, const __grid_constant__ Ridges ridges,
                const __grid_constant__ LevelWords out) {
  const int picture = static_cast<int>(blockIdx.y);
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const std::uint32_t first = (blockIdx.x * kWarps + static_cast<std::uint32_t>(warp)) * kWarpWords;
  const std::uint16_t* const d_magnitude =
      ridges.magnitude + static_cast<std::size_t>(picture) * grid.all.height * ridges.row_samples;
  // Word after word without dividing again.
  const WordPlace start = word_place(grid, min(first, grid.words() - 1));
  int magnitude[kWarpWords];
  WordPlace at = start;
#pragma unroll
  for (int i = 0; i < kWarpWords; ++i) {
    magnitude[i] = 0;
    if (first + i < grid.words()) {
      magnitude[i] = d_magnitude[static_cast<std::size_t>(at.y) * ridges.row_samples + at.x + lane];
    }
    at = next_place(grid, at);
  }
  clear_counts(grid, picture, out);
  const int largest =
      largest_of(ridges.tile_largest + static_cast<std::size_t>(picture) * ridges.tiles, tiles_read);
  const LevelScale scale(level_reference(largest, params));
  if (blockIdx.x == 0 && threadIdx.x == 0) out.largest[picture] = largest;

  at = start;
  BitPlanes<kLevelPlanes> mine = {};
#pragma unroll
  for (int i = 0; i < kWarpWords; ++i) {
    const int level = scale.level(magnitude[i]);
    if (out.levels != nullptr) {
      if (first + i < grid.words() && at.x + lane < grid.all.width) {
        out.levels[(static_cast<std::size_t>(picture) * grid.all.height + at.y) * grid.all.width + at.x +
                   lane] = static_cast<std::uint8_t>(level);
      }
      at = next_place(grid, at);
    }
#pragma unroll
    for (int b = 0; b < kLevelPlanes; ++b) {
      const std::uint32_t plane = __ballot_sync(kAllLanes, (level >> b & 1) != 0);
      if (lane == i) mine.bit[b] = plane;
    }
  }
  if (lane < kWarpWords && first + lane < grid.words()) {
    mine.store(out.planes + plane_words(grid, picture, kLevelPlanes) + first + lane, grid.words());
  }
}

}  // namespace

void launch_level_words(const WordGrid& grid, int pictures, const CannyParams& params, const Ridges& ridges,
                        const LevelWords& words_out, cudaStream_t stream) {
  int tiles_read = ridges.tiles;
  if (tiles_read > kTilesReadByAll) {
    reduce_tiles<<<static_cast<unsigned>(pictures), 1024, 0, stream>>>(ridges.tile_largest, ridges.tiles);
    check_launch("reduce_tiles");
    tiles_read = 1;
  }
  const std::size_t words = static_cast<std::size_t>(grid.words()) * pictures;
  const auto blocks = [&](std::uint32_t block_words) {
    return dim3((grid.words() + block_words - 1) / block_words, static_cast<unsigned>(pictures));
  };
  if (words < kManyWords) {
    make_levels<4><<<blocks(4 * kWarps), kThreads, 0, stream>>>(grid, params, tiles_read, ridges, words_out);
  } else {
    make_levels<16>
        <<<blocks(16 * kWarps), kThreads, 0, stream>>>(grid, params, tiles_read, ridges, words_out);
  }
  check_launch("make_levels");
}

}  // namespace cu264::vision::cuda
