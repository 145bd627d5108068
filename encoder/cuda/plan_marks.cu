#include "encoder/cuda/plan_marks.h"

#include "common/cuda/error_check.h"
#include "protect/cuda/aes_table.cuh"
#include "protect/watermark.h"

namespace cu264::encoder::cuda {
namespace {

using Table = protect::cuda::AesTable<1>;

inline constexpr int kThreads = 512;
// Multiprocessors of 2048 threads have room for four blocks; others have 1536 or 1024 threads.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
inline constexpr int kBlocksPerMultiprocessor = 4;
#else
inline constexpr int kBlocksPerMultiprocessor = 2;
#endif

// Each lane plans one macroblock at a time. At the default density one macroblock in three has no marks and
// needs no second AES block. Its lane takes the next macroblock of the warp's share while other lanes compute
// their second block.
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    plan_marks_kernel(const __grid_constant__ MarkPlan plan, const core::PictureParams* params,
                      std::uint32_t macroblocks, std::uint32_t all, std::uint32_t share,
                      std::uint32_t* marks) {
  constexpr unsigned kWarp = 0xffffffffu;
  __shared__ std::uint32_t s_table[Table::kWords];
  Table::fill(s_table);
  __syncthreads();
  const unsigned lane = threadIdx.x & 31;
  const Table aes(s_table, static_cast<int>(lane));
  std::uint32_t next = (blockIdx.x * kThreads + threadIdx.x) / 32 * share;
  const std::uint32_t end = next + share < all ? next + share : all;
  protect::AesBlock choice{};
  std::uint32_t at = 0;
  bool draws = false;
  for (;;) {
    const unsigned idle = __ballot_sync(kWarp, !draws);
    if (!draws) at = next + static_cast<unsigned>(__popc(idle & ((1u << lane) - 1)));
    next += static_cast<unsigned>(__popc(idle));
    const bool busy = draws || at < end;
    if (!__any_sync(kWarp, busy)) return;
    const std::uint32_t mb = at % macroblocks;
    const auto picture = static_cast<std::uint32_t>(busy ? params[at / macroblocks].index : 0);
    const protect::AesBlock block =
        aes.encrypt(plan.key, protect::mark_counter(plan.nonce, picture, mb, draws ? 1 : 0));
    if (draws) {
      marks[at] = protect::marks_of_macroblock({choice, block}, plan.density, plan.frame, plan.frame_bytes);
      draws = false;
    } else if (busy) {
      choice = block;
      draws = protect::may_have_marks(choice, plan.density);
      if (!draws) marks[at] = 0;
    }
  }
}

}  // namespace

void launch_plan_marks(const MarkPlan& plan, const core::PictureParams* params, int pictures, int macroblocks,
                       std::uint32_t* marks, cudaStream_t stream) {
  int device = 0, processors = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  const auto all = static_cast<std::uint32_t>(pictures) * static_cast<std::uint32_t>(macroblocks);
  constexpr unsigned kWarps = kThreads / 32;
  // As many warps as the device has room for, or as there is work for.
  const unsigned needed = (all + kThreads - 1) / kThreads;
  const unsigned most = kBlocksPerMultiprocessor * static_cast<unsigned>(processors);
  const unsigned blocks = needed < most ? needed : most;
  const std::uint32_t share = (all + blocks * kWarps - 1) / (blocks * kWarps);
  plan_marks_kernel<<<blocks, kThreads, 0, stream>>>(plan, params, static_cast<std::uint32_t>(macroblocks),
                                                     all, share, marks);
  check_launch("plan_marks_kernel");
}

}  // namespace cu264::encoder::cuda
