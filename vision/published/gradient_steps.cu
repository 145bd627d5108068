// Steps 1 to 3 as published: a thread takes a pixel and reads and writes everything in global memory.
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "vision/gaussian.h"
#include "vision/gradient.h"
#include "vision/published/published_launches.h"
#include "vision/suppression.h"

namespace cu264::vision::cuda {
namespace {

constexpr int kTileX = 32, kTileY = 8;

struct Filter {
  int radius;
  int tap[kMaxRadius + 1];
};

struct Pixel {
  int x, y;
  bool exists;
  std::size_t at;  // index in dense arrays
};

__device__ Pixel pixel_of_thread(int width, int height) {
  const int x = static_cast<int>(blockIdx.x) * kTileX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kTileY + static_cast<int>(threadIdx.y);
  return {x, y, x < width && y < height, static_cast<std::size_t>(y) * width + x};
}

__global__ void gaussian_rows(const __grid_constant__ Plane<const std::uint8_t> picture, int width,
                              int height, const __grid_constant__ Filter filter,
                              std::uint16_t* d_horizontal) {
  const Pixel pixel = pixel_of_thread(width, height);
  if (!pixel.exists) return;
  const std::uint8_t* const d_row = picture.row(pixel.y);
  int sum = filter.tap[0] * d_row[pixel.x];
  for (int k = 1; k <= filter.radius; ++k) {
    sum += filter.tap[k] * (d_row[clamped(pixel.x - k, width)] + d_row[clamped(pixel.x + k, width)]);
  }
  d_horizontal[pixel.at] = static_cast<std::uint16_t>(horizontal_rounded(sum));
}

__global__ void gaussian_columns(const std::uint16_t* d_horizontal, int width, int height,
                                 const __grid_constant__ Filter filter, std::uint16_t* d_smoothed) {
  const Pixel pixel = pixel_of_thread(width, height);
  if (!pixel.exists) return;
  const auto row = [&](int y) {
    return static_cast<int>(d_horizontal[static_cast<std::size_t>(clamped(y, height)) * width + pixel.x]);
  };
  int sum = filter.tap[0] * row(pixel.y);
  for (int k = 1; k <= filter.radius; ++k) sum += filter.tap[k] * (row(pixel.y - k) + row(pixel.y + k));
  d_smoothed[pixel.at] = static_cast<std::uint16_t>(vertical_rounded(sum));
}

__global__ void compute_gradient(const std::uint16_t* d_smoothed, int width, int height, std::int16_t* d_dx,
                                 std::int16_t* d_dy, std::uint16_t* d_magnitude, std::int32_t* d_largest) {
  const Pixel pixel = pixel_of_thread(width, height);
  int dx = 0, dy = 0, magnitude = 0;
  if (pixel.exists && has_gradient(pixel.x, pixel.y, width, height)) {
    dx = static_cast<int>(d_smoothed[pixel.at + 1]) - static_cast<int>(d_smoothed[pixel.at - 1]);
    dy = static_cast<int>(d_smoothed[pixel.at + width]) - static_cast<int>(d_smoothed[pixel.at - width]);
    magnitude = gradient_magnitude(dx, dy);
  }
  if (!pixel.exists) return;
  atomicMax(d_largest, magnitude);
  d_dx[pixel.at] = static_cast<std::int16_t>(dx);
  d_dy[pixel.at] = static_cast<std::int16_t>(dy);
  d_magnitude[pixel.at] = static_cast<std::uint16_t>(magnitude);
}

__global__ void suppress(const std::int16_t* d_dx, const std::int16_t* d_dy, const std::uint16_t* d_magnitude,
                         const std::int32_t* d_largest, int width, int height,
                         const __grid_constant__ CannyParams params, std::uint8_t* d_level) {
  const Pixel pixel = pixel_of_thread(width, height);
  if (!pixel.exists) return;
  const int magnitude = d_magnitude[pixel.at];
  int level = 0;
  if (magnitude > 0) {
    const Direction to = direction_of(d_dx[pixel.at], d_dy[pixel.at]);
    const std::uint16_t* const d_at = d_magnitude + pixel.at;
    const std::ptrdiff_t axis = static_cast<std::ptrdiff_t>(to.axis_y) * width + to.axis_x;
    const std::ptrdiff_t diagonal = static_cast<std::ptrdiff_t>(to.diagonal_y) * width + to.diagonal_x;
    if (is_maximum(magnitude, to.along, to.across, d_at[axis], d_at[diagonal], d_at[-axis],
                   d_at[-diagonal])) {
      level = level_of(magnitude, level_reference(*d_largest, params));
    }
  }
  d_level[pixel.at] = static_cast<std::uint8_t>(level);
}

dim3 tiles(int width, int height) {
  return {static_cast<unsigned>((width + kTileX - 1) / kTileX),
          static_cast<unsigned>((height + kTileY - 1) / kTileY)};
}
const dim3 kTile(kTileX, kTileY);

Filter filter_of(int sigma_tenths) {
  Filter filter{gaussian_radius(sigma_tenths), {}};
  for (int k = 0; k <= kMaxRadius; ++k) filter.tap[k] = gaussian_tap(sigma_tenths, k);
  return filter;
}

}  // namespace

void launch_published_gauss_x(const Plane<const std::uint8_t>& picture, int width, int height,
                              int sigma_tenths, const PublishedArrays& arrays, cudaStream_t stream) {
  gaussian_rows<<<tiles(width, height), kTile, 0, stream>>>(picture, width, height, filter_of(sigma_tenths),
                                                            arrays.horizontal);
  check_launch("gaussian_rows");
}

void launch_published_gauss_y(int width, int height, int sigma_tenths, const PublishedArrays& arrays,
                              cudaStream_t stream) {
  gaussian_columns<<<tiles(width, height), kTile, 0, stream>>>(arrays.horizontal, width, height,
                                                               filter_of(sigma_tenths), arrays.smoothed);
  check_launch("gaussian_columns");
}

void launch_published_gradient(int width, int height, const PublishedArrays& arrays, cudaStream_t stream) {
  check_cuda(cudaMemsetAsync(arrays.largest, 0, sizeof *arrays.largest, stream), "clearing device memory");
  compute_gradient<<<tiles(width, height), kTile, 0, stream>>>(arrays.smoothed, width, height, arrays.dx,
                                                               arrays.dy, arrays.magnitude, arrays.largest);
  check_launch("compute_gradient");
}

void launch_published_suppression(int width, int height, const CannyParams& params,
                                  const PublishedArrays& arrays, cudaStream_t stream) {
  suppress<<<tiles(width, height), kTile, 0, stream>>>(arrays.dx, arrays.dy, arrays.magnitude, arrays.largest,
                                                       width, height, params, arrays.level);
  check_launch("suppress");
}

}  // namespace cu264::vision::cuda
