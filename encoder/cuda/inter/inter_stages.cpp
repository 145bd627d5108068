#include "encoder/cuda/inter/inter_stages.h"

#include "encoder/cuda/inter/inter_launch.cuh"

namespace cu264::encoder::cuda {
namespace {

bool by_cabac(const StepView& step, const SearchParams& search) {
  return counts_cabac(search, step.batch.cabac, true);
}

}  // namespace

void launch_code_inter(const StepView& step, Preset preset, cudaStream_t stream) {
  const bool large = step.batch.transform_8x8_mode;
  const InterLaunch job{step, search_params(preset, large), stream};
  if (by_cabac(step, job.search)) {
    large ? launch_cabac_code_with_8x8(job) : launch_cabac_code_with_4x4(job);
  } else {
    large ? launch_code_with_8x8(job) : launch_code_with_4x4(job);
  }
}

std::size_t intra_scratch_bytes(int pictures, int mb_height) {
  return sizeof(unsigned) * (static_cast<std::size_t>(pictures) * static_cast<std::size_t>(mb_height) + 1);
}

void launch_search_intra(const StepView& step, Preset preset, void* scratch, cudaStream_t stream) {
  const bool large = step.batch.transform_8x8_mode;
  const InterLaunch job{step, search_params(preset, large), stream};
  if (by_cabac(step, job.search)) {
    large ? launch_cabac_search_with_8x8(job, scratch) : launch_cabac_search_with_4x4(job, scratch);
  } else {
    large ? launch_search_with_8x8(job, scratch) : launch_search_with_4x4(job, scratch);
  }
}

}  // namespace cu264::encoder::cuda
