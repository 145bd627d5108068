#include <string>

#include "core/block.h"
#include "cu264/status.h"
#include "encoder/cuda/plan_marks.h"
#include "protect/watermark.h"

namespace cu264::encoder::cuda {
namespace {

inline constexpr int kThreads = 256;

// A thread a block of luma, sixteen neighbours a macroblock.
__global__ void __launch_bounds__(kThreads)
    plan_marks_kernel(const __grid_constant__ MarkPlan plan, std::uint32_t first, int macroblocks,
                      std::uint64_t all, std::uint32_t* marks) {
  const std::uint64_t at = (static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x) >> 4;
  const int block = static_cast<int>(threadIdx.x & 15);
  std::uint32_t word = 0;
  if (at < all) {
    const auto picture = static_cast<std::uint32_t>(at / static_cast<unsigned>(macroblocks));
    const auto mb = static_cast<std::uint32_t>(at % static_cast<unsigned>(macroblocks));
    const protect::AesBlock key =
        protect::keystream_block(plan.key, plan.nonce, first + picture, mb, protect::kKeystreamWatermark,
                                 static_cast<std::uint32_t>(core::kSlotLuma + block));
    word = protect::mark_of_block(key, plan.density, plan.frame, plan.frame_bytes, block);
  }
  for (int step = 1; step < 16; step *= 2) word |= __shfl_xor_sync(0xffffffffu, word, step);
  if (at < all && block == 0) marks[at] = word;
}

}  // namespace

void launch_plan_marks(const MarkPlan& plan, std::uint32_t first, int pictures, int macroblocks,
                       std::uint32_t* marks, cudaStream_t stream) {
  const std::uint64_t all = static_cast<std::uint64_t>(pictures) * static_cast<unsigned>(macroblocks);
  const auto blocks = static_cast<unsigned>((16 * all + kThreads - 1) / kThreads);
  plan_marks_kernel<<<blocks, kThreads, 0, stream>>>(plan, first, macroblocks, all, marks);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    throw Error(ErrorCode::device_failure, std::string("plan_marks_kernel: ") + cudaGetErrorString(status));
  }
}

}  // namespace cu264::encoder::cuda
