#include "encoder/cuda/inter/refine_motion.h"

#include "common/cuda/error_check.h"
#include "encoder/cuda/inter/merge_vectors.cuh"
#include "encoder/cuda/inter/motion_launch.cuh"
#include "encoder/cuda/inter/refine_vectors.cuh"

namespace cu264::encoder::cuda {

void launch_refine(const StepView& step, Preset preset, const PictureRange& pictures, cudaStream_t stream) {
  const BatchView& batch = step.batch;
  const dim3 grid(static_cast<unsigned>((batch.mb_width + kRefineWarps - 1) / kRefineWarps),
                  static_cast<unsigned>(batch.mb_height), static_cast<unsigned>(pictures.count));
  const auto kernel = preset == Preset::fast ? refine_vectors<false> : refine_vectors<true>;
  kernel<<<grid, 32 * kRefineWarps, 0, stream>>>(motion_step(step, preset, pictures));
  check_launch("refine_vectors");
}

void launch_merge(const StepView& step, Preset preset, int pass, const PictureRange& pictures,
                  cudaStream_t stream) {
  constexpr int kThreads = 32 * kMergeWarps;
  const int macroblocks = step.batch.macroblocks_per_picture();
  const dim3 grid(static_cast<unsigned>((macroblocks + kThreads - 1) / kThreads),
                  static_cast<unsigned>(pictures.count));
  const auto kernel = preset == Preset::fast ? merge_vectors<false> : merge_vectors<true>;
  kernel<<<grid, kThreads, 0, stream>>>(motion_step(step, preset, pictures), pass);
  check_launch("merge_vectors");
}

void launch_motion_refinement(const StepView& step, Preset preset, cudaStream_t stream, int together) {
  for_groups(step, together, [&](const PictureRange& pictures) {
    launch_refine(step, preset, pictures, stream);
    for (int pass = 0; pass < 2; ++pass) launch_merge(step, preset, pass, pictures, stream);
  });
}

}  // namespace cu264::encoder::cuda
