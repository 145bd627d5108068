// The end of step 3: magnitudes to levels, which are kept as bit planes; the picture's maximum by reduction
// over its tiles' maxima.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "vision/cuda/ridges.h"
#include "vision/cuda/words.h"
#include "vision/levels.h"
#include "vision/thresholds.h"

namespace cu264::vision::cuda {

struct LevelWords {
  std::uint32_t* planes;  // [picture][kLevelPlanes][word]
  std::int32_t* largest;  // [picture], that levels are relative to
  // Made zero for the kernels that add to them; or null: [picture][sub-image], [picture]
  LevelCounts* counts;
  unsigned* blocks_done;
  std::uint8_t* levels;  // [picture][y][x], dense; or null
};

void launch_level_words(const WordGrid& grid, int pictures, const CannyParams& params, const Ridges& ridges,
                        const LevelWords& words, cudaStream_t stream);

}  // namespace cu264::vision::cuda
