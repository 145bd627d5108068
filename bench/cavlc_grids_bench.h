// Rates of the functions of cu264/cavlc.h on the luma levels of real pictures.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/cpu_picture.h"

namespace cu264::bench {

// The pictures' blocks of luma as grids of one shape, and microseconds a picture. A time that was not taken
// is 0.
struct GridRates {
  int width = 0, height = 0;  // of a grid, in blocks
  double bytes = 0;           // of a picture's stream
  double device_encode = 0, device_decode = 0, host_encode = 0, host_decode = 0;
};

// Grids of whole pictures, of macroblock rows, and of 16x4 blocks if the width is a multiple of 64. On the
// device, `pictures` pictures are coded at a time. Throws if a result differs from the input.
std::vector<GridRates> grid_rates(const std::vector<encoder::CpuPicture>& clip, int pictures);

}  // namespace cu264::bench
