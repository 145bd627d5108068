#include "encoder/cuda/encrypt.h"

#include <algorithm>

#include "encoder/cuda/encrypt_group.cuh"
#include "entropy/launch_check.cuh"

namespace cu264::encoder::cuda {
namespace {

// Warps that share an AES table on Hopper: with more of them, hence more shared memory, less than the 60 KB
// of L1 cache are left that the tables of place_cipher.h are read through (measured). And as many as the
// paired table must leave room for.
constexpr int kMostWarps = 24, kFewestWarps = 12;

template <bool kPaired>
using AesTable = protect::cuda::AesTable<kPaired>;

template <bool kPaired>
__global__ void __launch_bounds__(32 * kMostWarps)
    encrypt_groups(const __grid_constant__ BatchView batch, const __grid_constant__ EncryptionPlan plan,
                   const __grid_constant__ entropy::GroupLayout layout, std::uint32_t first_picture) {
  extern __shared__ __align__(16) std::uint32_t s_table[];
  using Table = AesTable<kPaired>;
  Table::fill(s_table);
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  EncryptShared& shared = reinterpret_cast<EncryptShared*>(s_table + Table::kWords)[warp];
  const Table aes(s_table, lane);
  const auto groups = static_cast<std::uint32_t>(layout.groups());
  for (;;) {
    std::uint32_t ticket = 0;
    if (lane == 0) ticket = atomicAdd(plan.ticket, 1u);
    ticket = __shfl_sync(0xffffffffu, ticket, 0);
    if (ticket >= groups) return;
    const entropy::Group group = entropy::group_at(batch, layout, ticket);
    if (group.first >= group.end) continue;
    const entropy::MacroblockLane mb(batch, group, lane);
    GroupCipher(batch, plan, first_picture, group, shared, aes, lane).run(mb);
  }
}

}  // namespace

BatchView launch_encrypt(const BatchView& batch, const EncryptionPlan& plan, std::uint32_t first,
                         cudaStream_t stream) {
  using entropy::check_call;
  const entropy::GroupLayout layout = entropy::group_layout(batch);
  int device = 0, processors = 0, shared = 0, blocks = 0;
  check_call(cudaGetDevice(&device), "cudaGetDevice");
  check_call(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_call(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "cudaDeviceGetAttribute");
  constexpr int kWarp = static_cast<int>(sizeof(EncryptShared));
  const bool paired = AesTable<true>::kBytes + kFewestWarps * kWarp <= shared;
  const int table = paired ? AesTable<true>::kBytes : AesTable<false>::kBytes;
  const int warps = std::clamp((shared - table) / kWarp, 1, kMostWarps), bytes = table + warps * kWarp;
  const auto kernel = paired ? encrypt_groups<true> : encrypt_groups<false>;
  check_call(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "cudaFuncSetAttribute");
  check_call(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * warps,
                                                           static_cast<std::size_t>(bytes)),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const auto needed = static_cast<int>((layout.groups() + warps - 1) / warps);
  check_call(cudaMemsetAsync(plan.ticket, 0, sizeof(*plan.ticket), stream), "cudaMemsetAsync");
  kernel<<<std::min(needed, processors * blocks), 32 * warps, static_cast<std::size_t>(bytes), stream>>>(
      batch, plan, layout, first);
  entropy::check_launch("encrypt_groups");
  BatchView coded = batch;
  if (plan.parts.modes) coded.macroblocks = plan.macroblocks, coded.mode_codes = true;
  return coded;
}

}  // namespace cu264::encoder::cuda
