// Steps 1 to 3 in one kernel: smoothing, gradient, suppression; and the magnitudes' maximum of each tile.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "vision/cuda/planes.h"
#include "vision/params.h"

namespace cu264::vision::cuda {

// What the kernel leaves for the next one.
struct Ridges {
  // [picture][y][x]: a pixel's magnitude if it is a maximum along its gradient, else 0; rows of row_samples.
  std::uint16_t* magnitude;
  int row_samples;
  // [picture][tile]
  std::uint16_t* tile_largest;
  int tiles;
};

// Tiles of a picture of that size; `pictures` says how many share the device.
int ridge_tiles(int width, int height, int pictures);

void launch_ridges(const PicturePlanes& planes, int width, int height, int pictures, int sigma_tenths,
                   const Ridges& ridges, cudaStream_t stream);

}  // namespace cu264::vision::cuda
