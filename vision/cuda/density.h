// Density scaling of the thresholds found (thresholds.h), between search and hysteresis.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "vision/cuda/words.h"
#include "vision/thresholds.h"

namespace cu264::vision::cuda {

// Levels as bit planes, those of a batch: words.h.
void launch_density_scaling(const WordGrid& grid, int pictures, const std::uint32_t* levels,
                            Thresholds* thresholds, cudaStream_t stream);

// One picture's, a byte a pixel, dense.
void launch_density_scaling(const WordGrid& grid, const std::uint8_t* level, Thresholds* thresholds,
                            cudaStream_t stream);

}  // namespace cu264::vision::cuda
