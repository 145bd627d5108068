// A thread for each macroblock. Kinds change in a kernel of their own, since neighbours read them.
#include "encoder/cuda/inter/finish_motion.h"

#include <cstddef>

#include "common/cuda/error_check.h"
#include "core/block.h"
#include "core/motion_prediction.h"
#include "encoder/cuda/search/mb_qp_delta_chain.h"

namespace cu264::encoder::cuda {
namespace {

constexpr int kThreads = 128;

__device__ int macroblock_of_thread() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void __launch_bounds__(kThreads) finish_motion_kernel(const __grid_constant__ StepView step) {
  const BatchView& batch = step.batch;
  const int mb = macroblock_of_thread(), picture = static_cast<int>(blockIdx.y);
  if (mb >= batch.macroblocks_per_picture()) return;
  const int mb_x = mb % batch.mb_width, mb_y = mb / batch.mb_width;
  const int slice = core::slice_of_row(mb_y, batch.slices, batch.mb_height);
  const bool above = mb_y > core::slice_first_row(slice, batch.slices, batch.mb_height);
  const std::size_t index = static_cast<std::size_t>(picture) * batch.macroblocks_per_picture() + mb;
  step.chains[picture].choices[mb].skips = core::finish_motion(
      core::motion_place(mb_x, above, batch.mb_width), batch.macroblocks + index, batch.motion + index);
}

__global__ void __launch_bounds__(kThreads) settle_kinds_kernel(const __grid_constant__ StepView step) {
  const BatchView& batch = step.batch;
  const int mb = macroblock_of_thread(), picture = static_cast<int>(blockIdx.y);
  if (mb >= batch.macroblocks_per_picture() || !step.chains[picture].choices[mb].skips) return;
  const std::size_t first = static_cast<std::size_t>(picture) * batch.macroblocks_per_picture();
  batch.macroblocks[first + mb].kind = core::MacroblockKind::p_skip;
}

}  // namespace

void launch_finish_motion(const StepView& step, cudaStream_t stream) {
  const BatchView& batch = step.batch;
  const dim3 grid(static_cast<unsigned>((batch.macroblocks_per_picture() + kThreads - 1) / kThreads),
                  static_cast<unsigned>(batch.pictures));
  finish_motion_kernel<<<grid, kThreads, 0, stream>>>(step);
  check_launch("finish_motion_kernel");
  settle_kinds_kernel<<<grid, kThreads, 0, stream>>>(step);
  check_launch("settle_kinds_kernel");
  if (batch.qp_offsets != nullptr) launch_mb_qp_delta_chain(batch, stream);
}

}  // namespace cu264::encoder::cuda
