// Steps 1 to 3. A thread block takes a tile of 64 x 16 or 64 x 32 pixels through all steps in shared memory.
// Each step computes the border that the next ones need: the Gaussian's radius, one sample for the
// difference, one for the suppression.
#include <cstddef>

#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "vision/cuda/canny_launches.h"
#include "vision/cuda/magnitude.cuh"
#include "vision/gaussian.h"
#include "vision/gradient.h"
#include "vision/suppression.h"

namespace cu264::vision::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kColumns = 64;
constexpr int kSmoothedColumns = kColumns + 4;
constexpr int kGroup = 4;  // outputs of a row that a thread makes at once
constexpr int kLead = 8;   // samples left of the tile; a multiple of 4, for aligned loads
constexpr int kInputColumns = kColumns + 2 * kLead;
constexpr int kPitch = 72;       // samples of a 16-bit row
constexpr int kManyTiles = 512;  // from here on taller tiles still keep a device busy

struct Taps {
  int at[kMaxRadius + 1];
};

template <int kRadius, int kRows>
struct Tile {
  static constexpr int kInputRows = kRows + 4 + 2 * kRadius;
  alignas(16) std::uint8_t input[kInputRows][kInputColumns];
  alignas(16) std::uint16_t horizontal[kInputRows][kPitch];
  alignas(16) std::uint16_t smoothed[kRows + 4][kPitch];
  alignas(16) std::uint16_t magnitude[kRows + 2][kPitch];
  int largest;
};

// Loads the picture's samples, four at a time where they are aligned. A sample outside the picture is
// replaced by the nearest one inside.
template <int kRadius, int kRows>
__device__ void load_tile(Tile<kRadius, kRows>& s_tile, const Plane<const std::uint8_t>& plane, int x0,
                          int y0, int width, int height) {
  constexpr int kWarps = kThreads / 32, kRowWords = kInputColumns / 4;
  const int top = y0 - 2 - kRadius;
  const bool aligned =
      ((reinterpret_cast<std::uintptr_t>(plane.data) | static_cast<std::uintptr_t>(plane.pitch)) & 3u) == 0;
  if (aligned && x0 >= kLead && x0 + kColumns + kLead <= width) {
    for (int i = static_cast<int>(threadIdx.x); i < s_tile.kInputRows * kRowWords; i += kThreads) {
      const int r = i / kRowWords, w = i % kRowWords;
      const std::uint8_t* const d_row = plane.row(clamped(top + r, height)) + x0 - kLead;
      reinterpret_cast<std::uint32_t*>(s_tile.input[r])[w] = reinterpret_cast<const std::uint32_t*>(d_row)[w];
    }
    return;
  }
  const int lane = static_cast<int>(threadIdx.x) & 31;
  for (int r = static_cast<int>(threadIdx.x) >> 5; r < s_tile.kInputRows; r += kWarps) {
    const std::uint8_t* const d_row = plane.row(clamped(top + r, height));
#pragma unroll
    for (int c = lane; c < kInputColumns; c += 32) s_tile.input[r][c] = d_row[clamped(x0 - kLead + c, width)];
  }
}

template <int kRadius, int kRows>
__device__ void smooth_rows(Tile<kRadius, kRows>& s_tile, const Taps& taps) {
  constexpr int kGroups = kSmoothedColumns / kGroup, kFirst = kLead - 2 - kRadius;
  constexpr int kSamples = kFirst + kGroup + 2 * kRadius;
  for (int i = static_cast<int>(threadIdx.x); i < s_tile.kInputRows * kGroups; i += kThreads) {
    const int r = i / kGroups, g = i % kGroups;
    int sample[(kSamples + 3) / 4 * 4];
#pragma unroll
    for (int w = 0; w < (kSamples + 3) / 4; ++w) {
      const std::uint32_t four =
          *reinterpret_cast<const std::uint32_t*>(&s_tile.input[r][kGroup * g + 4 * w]);
#pragma unroll
      for (int b = 0; b < 4; ++b) sample[4 * w + b] = static_cast<int>(four >> (8 * b) & 255u);
    }
    std::uint32_t out[kGroup];
#pragma unroll
    for (int o = 0; o < kGroup; ++o) {
      int sum = taps.at[0] * sample[kFirst + o + kRadius];
#pragma unroll
      for (int k = 1; k <= kRadius; ++k)
        sum += taps.at[k] * (sample[kFirst + o + kRadius - k] + sample[kFirst + o + kRadius + k]);
      out[o] = static_cast<std::uint32_t>(horizontal_rounded(sum));
    }
    *reinterpret_cast<uint2*>(&s_tile.horizontal[r][kGroup * g]) =
        make_uint2(out[0] | out[1] << 16, out[2] | out[3] << 16);
  }
}

// A thread takes two columns, one in each half of a word: the sum of two Q4 samples fits into 16 bits, so no
// carry passes between the halves.
template <int kRadius, int kRows>
__device__ void smooth_columns(Tile<kRadius, kRows>& s_tile, const Taps& taps) {
  constexpr int kPairs = kSmoothedColumns / 2, kStep = kRows == 16 ? 3 : 6;  // gives most threads work
  constexpr int kSteps = (kRows + 4 + kStep - 1) / kStep;
  for (int i = static_cast<int>(threadIdx.x); i < kPairs * kSteps; i += kThreads) {
    const int c = 2 * (i % kPairs), first = kStep * (i / kPairs);
    std::uint32_t pair[kStep + 2 * kRadius];
#pragma unroll
    for (int r = 0; r < kStep + 2 * kRadius; ++r) {
      const int row = min(first + r, s_tile.kInputRows - 1);
      pair[r] = *reinterpret_cast<const std::uint32_t*>(&s_tile.horizontal[row][c]);
    }
#pragma unroll
    for (int o = 0; o < kStep; ++o) {
      if (first + o >= kRows + 4) break;
      const std::uint32_t centre = pair[o + kRadius];
      int left = taps.at[0] * static_cast<int>(centre & 0xffffu),
          right = taps.at[0] * static_cast<int>(centre >> 16);
#pragma unroll
      for (int k = 1; k <= kRadius; ++k) {
        const std::uint32_t both = pair[o + kRadius - k] + pair[o + kRadius + k];
        left += taps.at[k] * static_cast<int>(both & 0xffffu);
        right += taps.at[k] * static_cast<int>(both >> 16);
      }
      *reinterpret_cast<std::uint32_t*>(&s_tile.smoothed[first + o][c]) =
          static_cast<std::uint32_t>(vertical_rounded(left)) |
          static_cast<std::uint32_t>(vertical_rounded(right)) << 16;
    }
  }
}

struct Gradient {
  int dx, dy;
};

// The gradient at smoothed sample (c, r).
template <int kRadius, int kRows>
__device__ __forceinline__ Gradient gradient_at(const Tile<kRadius, kRows>& s_tile, int c, int r) {
  return {static_cast<int>(s_tile.smoothed[r][c + 1]) - static_cast<int>(s_tile.smoothed[r][c - 1]),
          static_cast<int>(s_tile.smoothed[r + 1][c]) - static_cast<int>(s_tile.smoothed[r - 1][c])};
}

template <int kRadius, int kRows>
__device__ void measure(Tile<kRadius, kRows>& s_tile, int x0, int y0, int width, int height) {
  constexpr int kMeasured = kColumns + 2;
  for (int i = static_cast<int>(threadIdx.x); i < kMeasured * (kRows + 2); i += kThreads) {
    const int r = i / kMeasured, c = i % kMeasured;
    int magnitude = 0;
    if (has_gradient(x0 - 1 + c, y0 - 1 + r, width, height)) {
      const Gradient gradient = gradient_at(s_tile, c + 1, r + 1);
      magnitude = device_magnitude(gradient.dx, gradient.dy);
    }
    s_tile.magnitude[r][c] = static_cast<std::uint16_t>(magnitude);
  }
}

// The magnitude of pixel (c, r) of the tile if it is a maximum, else 0.
template <int kRadius, int kRows>
__device__ __forceinline__ int ridge_at(const Tile<kRadius, kRows>& s_tile, int c, int r, int magnitude) {
  const Gradient gradient = gradient_at(s_tile, c + 2, r + 2);
  const Direction to = direction_of(gradient.dx, gradient.dy);
  const std::uint16_t* const s_at = &s_tile.magnitude[r + 1][c + 1];
  const int axis = to.axis_y * kPitch + to.axis_x, diagonal = to.diagonal_y * kPitch + to.diagonal_x;
  return is_maximum(magnitude, to.along, to.across, s_at[axis], s_at[diagonal], s_at[-axis], s_at[-diagonal])
             ? magnitude
             : 0;
}

template <int kRadius, int kRows>
__global__ void __launch_bounds__(kThreads)
    find_ridges(const __grid_constant__ PicturePlanes planes, int width, int height,
                const __grid_constant__ Taps taps, const __grid_constant__ Ridges ridges) {
  __shared__ Tile<kRadius, kRows> s_tile;
  const int x0 = static_cast<int>(blockIdx.x) * kColumns, y0 = static_cast<int>(blockIdx.y) * kRows;
  const int picture = static_cast<int>(blockIdx.z);
  if (threadIdx.x == 0) s_tile.largest = 0;
  load_tile(s_tile, planes[picture], x0, y0, width, height);
  __syncthreads();
  smooth_rows(s_tile, taps);
  __syncthreads();
  smooth_columns(s_tile, taps);
  __syncthreads();
  measure(s_tile, x0, y0, width, height);
  __syncthreads();

  std::uint16_t* const d_picture =
      ridges.magnitude + static_cast<std::size_t>(picture) * height * ridges.row_samples;
  const int c = static_cast<int>(threadIdx.x) % kColumns;
  int largest = 0;
  for (int r = static_cast<int>(threadIdx.x) / kColumns; r < kRows; r += kThreads / kColumns) {
    const int magnitude = s_tile.magnitude[r + 1][c + 1];
    largest = max(largest, magnitude);
    const int ridge = magnitude > 0 ? ridge_at(s_tile, c, r, magnitude) : 0;
    if (y0 + r < height && x0 + c < ridges.row_samples) {
      d_picture[static_cast<std::size_t>(y0 + r) * ridges.row_samples + x0 + c] =
          static_cast<std::uint16_t>(ridge);
    }
  }
  largest = warp_max(largest);
  if ((threadIdx.x & 31) == 0) atomicMax(&s_tile.largest, largest);
  __syncthreads();
  if (threadIdx.x == 0) {
    ridges.tile_largest[static_cast<std::size_t>(picture) * ridges.tiles + blockIdx.y * gridDim.x +
                        blockIdx.x] = static_cast<std::uint16_t>(s_tile.largest);
  }
}

dim3 tile_grid(int width, int height, int rows, int pictures) {
  return {static_cast<unsigned>((width + kColumns - 1) / kColumns),
          static_cast<unsigned>((height + rows - 1) / rows), static_cast<unsigned>(pictures)};
}

int tile_rows(int width, int height, int pictures) {
  const dim3 grid = tile_grid(width, height, 32, pictures);
  return static_cast<std::size_t>(grid.x) * grid.y * grid.z < kManyTiles ? 16 : 32;
}

template <int kRadius>
void launch(const PicturePlanes& planes, int width, int height, int pictures, const Taps& taps,
            const Ridges& ridges, cudaStream_t stream) {
  const int rows = tile_rows(width, height, pictures);
  const dim3 grid = tile_grid(width, height, rows, pictures);
  if (rows == 16) {
    find_ridges<kRadius, 16><<<grid, kThreads, 0, stream>>>(planes, width, height, taps, ridges);
  } else {
    find_ridges<kRadius, 32><<<grid, kThreads, 0, stream>>>(planes, width, height, taps, ridges);
  }
}

}  // namespace

int ridge_tiles(int width, int height, int pictures) {
  const dim3 grid = tile_grid(width, height, tile_rows(width, height, pictures), 1);
  return static_cast<int>(grid.x * grid.y);
}

void launch_ridges(const PicturePlanes& planes, int width, int height, int pictures, int sigma_tenths,
                   const Ridges& ridges, cudaStream_t stream) {
  Taps taps;
  for (int k = 0; k <= kMaxRadius; ++k) taps.at[k] = gaussian_tap(sigma_tenths, k);
  using Launch = decltype(&launch<1>);
  static constexpr Launch kLaunchOfRadius[kMaxRadius] = {launch<1>, launch<2>, launch<3>,
                                                         launch<4>, launch<5>, launch<6>};
  kLaunchOfRadius[gaussian_radius(sigma_tenths) - 1](planes, width, height, pictures, taps, ridges, stream);
  check_launch("find_ridges");
}

}  // namespace cu264::vision::cuda
