// A launch of inter_stages.h, as the files that compile its kernels take it.
#pragma once

#include <cuda_runtime_api.h>

#include "encoder/cuda/inter/chain_view.h"
#include "encoder/presets.h"

namespace cu264::encoder::cuda {

struct InterLaunch {
  const StepView& step;
  SearchParams search;
  cudaStream_t stream;
};

// By the rate model, and by whether the stream has the 8x8 transform. Those that count CABAC's bits are for
// presets where rate and distortion decide.
void launch_code_with_4x4(const InterLaunch& job);
void launch_code_with_8x8(const InterLaunch& job);
void launch_cabac_code_with_4x4(const InterLaunch& job);
void launch_cabac_code_with_8x8(const InterLaunch& job);
void launch_search_with_4x4(const InterLaunch& job, void* scratch);
void launch_search_with_8x8(const InterLaunch& job, void* scratch);
void launch_cabac_search_with_4x4(const InterLaunch& job, void* scratch);
void launch_cabac_search_with_8x8(const InterLaunch& job, void* scratch);

}  // namespace cu264::encoder::cuda
