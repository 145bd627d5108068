#include "encoder/cuda/inter/search_motion.h"

#include "common/cuda/error_check.h"
#include "encoder/cuda/inter/motion_launch.cuh"
#include "encoder/cuda/inter/search_blocks.cuh"
#include "encoder/cuda/inter/search_half.cuh"
#include "encoder/cuda/inter/search_quarter.cuh"
#include "encoder/cuda/inter/search_whole.cuh"

namespace cu264::encoder::cuda {
namespace {

dim3 grid_of(int columns, int of_block, int rows, int pictures) {
  return {static_cast<unsigned>((columns + of_block - 1) / of_block), static_cast<unsigned>(rows),
          static_cast<unsigned>(pictures)};
}

// A row of macroblocks after another.
dim3 grid_of_macroblocks(const BatchView& batch, const PictureRange& pictures, int of_block) {
  return grid_of(batch.mb_width, of_block, batch.mb_height, pictures.count);
}

}  // namespace

void launch_search_quarter(const StepView& step, Preset preset, const PictureRange& pictures,
                           cudaStream_t stream) {
  const BatchView& batch = step.batch;
  const dim3 grid =
      grid_of((batch.mb_width + 1) / 2, kQuarterWarps, (batch.mb_height + 1) / 2, pictures.count);
  search_quarter_size<<<grid, 32 * kQuarterWarps, 0, stream>>>(motion_step(step, preset, pictures));
  check_launch("search_quarter_size");
}

void launch_search_half(const StepView& step, Preset preset, const PictureRange& pictures,
                        cudaStream_t stream) {
  const dim3 grid = grid_of_macroblocks(step.batch, pictures, 4 * kHalfWarps);
  search_half_size<<<grid, 32 * kHalfWarps, 0, stream>>>(motion_step(step, preset, pictures));
  check_launch("search_half_size");
}

void launch_search_whole(const StepView& step, Preset preset, int pass, const PictureRange& pictures,
                         cudaStream_t stream) {
  const dim3 grid = grid_of_macroblocks(step.batch, pictures, kWholeWarps);
  search_full_size<<<grid, 32 * kWholeWarps, 0, stream>>>(motion_step(step, preset, pictures), pass);
  check_launch("search_full_size");
}

void launch_search_blocks(const StepView& step, Preset preset, const PictureRange& pictures,
                          cudaStream_t stream) {
  const dim3 grid = grid_of_macroblocks(step.batch, pictures, kBlockWarps);
  search_blocks<<<grid, 32 * kBlockWarps, 0, stream>>>(motion_step(step, preset, pictures));
  check_launch("search_blocks");
}

void launch_motion_search(const StepView& step, Preset preset, cudaStream_t stream, int together) {
  for_groups(step, together, [&](const PictureRange& pictures) {
    launch_search_quarter(step, preset, pictures, stream);
    launch_search_half(step, preset, pictures, stream);
    for (int pass = 0; pass < 2; ++pass) launch_search_whole(step, preset, pass, pictures, stream);
    if (preset != Preset::fast) launch_search_blocks(step, preset, pictures, stream);
  });
}

}  // namespace cu264::encoder::cuda
