// Step 8: a sub-image's edges are the components of {G > low} that reach high.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "vision/cuda/link.h"
#include "vision/cuda/planes.h"
#include "vision/cuda/words.h"
#include "vision/params.h"
#include "vision/thresholds.h"

namespace cu264::vision::cuda {

struct EdgeWork {
  const std::uint32_t* levels;  // [picture][kLevelPlanes][word]
  Thresholds* thresholds;       // [picture][sub-image]; fixed ones are written here, others read
  EdgePlanes edges;
};

// One kernel, labels in shared memory, where shared_label_threads is not 0.
void launch_hysteresis_shared(const WordGrid& grid, int pictures, const CannyParams& params,
                              const EdgeWork& work, std::size_t shared_bytes, cudaStream_t stream);
// More, labels in global memory, of which they need those of one low.
void launch_hysteresis_global(const WordGrid& grid, int pictures, const CannyParams& params,
                              const EdgeWork& work, const GlobalLabels& labels, cudaStream_t stream);

}  // namespace cu264::vision::cuda
