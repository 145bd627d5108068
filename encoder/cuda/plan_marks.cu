#include <string>

#include "cu264/status.h"
#include "encoder/cuda/plan_marks.h"
#include "protect/cuda/aes_table.cuh"
#include "protect/watermark.h"

namespace cu264::encoder::cuda {
namespace {

using Table = protect::cuda::AesTable<1>;

inline constexpr int kThreads = 1024, kMacroblocksPerBlock = 2 * kThreads;

// A thread a macroblock, twice: the table is worth it.
__global__ void __launch_bounds__(kThreads)
    plan_marks_kernel(const __grid_constant__ MarkPlan plan, std::uint32_t first, int macroblocks,
                      std::uint64_t all, std::uint32_t* marks) {
  __shared__ std::uint32_t s_table[Table::kWords];
  Table::fill(s_table);
  __syncthreads();
  const Table aes(s_table, static_cast<int>(threadIdx.x & 31));
  const std::uint64_t begin = static_cast<std::uint64_t>(blockIdx.x) * kMacroblocksPerBlock;
  const std::uint64_t end = begin + kMacroblocksPerBlock < all ? begin + kMacroblocksPerBlock : all;
  for (std::uint64_t at = begin + threadIdx.x; at < end; at += kThreads) {
    const std::uint32_t picture = first + static_cast<std::uint32_t>(at / static_cast<unsigned>(macroblocks));
    const auto mb = static_cast<std::uint32_t>(at % static_cast<unsigned>(macroblocks));
    const protect::MarkKey key = {aes.encrypt(plan.key, protect::mark_counter(plan.nonce, picture, mb, 0)),
                                  aes.encrypt(plan.key, protect::mark_counter(plan.nonce, picture, mb, 1))};
    marks[at] = protect::marks_of_macroblock(key, plan.density, plan.frame, plan.frame_bytes);
  }
}

}  // namespace

void launch_plan_marks(const MarkPlan& plan, std::uint32_t first, int pictures, int macroblocks,
                       std::uint32_t* marks, cudaStream_t stream) {
  const std::uint64_t all = static_cast<std::uint64_t>(pictures) * static_cast<unsigned>(macroblocks);
  const auto blocks = static_cast<unsigned>((all + kMacroblocksPerBlock - 1) / kMacroblocksPerBlock);
  plan_marks_kernel<<<blocks, kThreads, 0, stream>>>(plan, first, macroblocks, all, marks);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    throw Error(ErrorCode::device_failure, std::string("plan_marks_kernel: ") + cudaGetErrorString(status));
  }
}

}  // namespace cu264::encoder::cuda
