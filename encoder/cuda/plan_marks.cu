#include <string>

#include "cu264/status.h"
#include "encoder/cuda/plan_marks.h"
#include "protect/watermark.h"

namespace cu264::encoder::cuda {
namespace {

inline constexpr int kThreads = 256;

// A thread a macroblock.
__global__ void __launch_bounds__(kThreads)
    plan_marks_kernel(const __grid_constant__ MarkPlan plan, std::uint32_t first, int macroblocks,
                      std::uint64_t all, std::uint32_t* marks) {
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= all) return;
  const std::uint32_t picture = first + static_cast<std::uint32_t>(at / static_cast<unsigned>(macroblocks));
  const auto mb = static_cast<std::uint32_t>(at % static_cast<unsigned>(macroblocks));
  const protect::MarkKey key = {
      protect::aes_encrypt(plan.key, protect::mark_counter(plan.nonce, picture, mb, 0)),
      protect::aes_encrypt(plan.key, protect::mark_counter(plan.nonce, picture, mb, 1))};
  marks[at] = protect::marks_of_macroblock(key, plan.density, plan.frame, plan.frame_bytes);
}

}  // namespace

void launch_plan_marks(const MarkPlan& plan, std::uint32_t first, int pictures, int macroblocks,
                       std::uint32_t* marks, cudaStream_t stream) {
  const std::uint64_t all = static_cast<std::uint64_t>(pictures) * static_cast<unsigned>(macroblocks);
  const auto blocks = static_cast<unsigned>((all + kThreads - 1) / kThreads);
  plan_marks_kernel<<<blocks, kThreads, 0, stream>>>(plan, first, macroblocks, all, marks);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    throw Error(ErrorCode::device_failure, std::string("plan_marks_kernel: ") + cudaGetErrorString(status));
  }
}

}  // namespace cu264::encoder::cuda
