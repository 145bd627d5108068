// The kernels that code groups (group_coder.cuh), and their launch.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/cuda/error_check.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/group_coder.cuh"

namespace cu264::entropy {

template <class SymbolTransform, bool kInter>
__global__ void __launch_bounds__(kThreads, blocks_per_sm(SymbolTransform::kBlocksPerSm))
    code_groups(const __grid_constant__ CodeJob job,
                const __grid_constant__ typename SymbolTransform::Plan plan) {
  __shared__ __align__(LevelCodes::kAlignment) LevelCodes s_level_codes;
  __shared__ BlockShared s_block;
  s_level_codes.fill<kThreads>();
  s_block.token_codes.fill<kThreads>();
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  std::uint32_t* const d_spill = job.spill + (blockIdx.x * kWarps + warp) * std::size_t{kWarpWords};
  const auto groups = static_cast<std::uint32_t>(job.layout.groups());
  int none;
  for (;;) {
    std::uint32_t ticket = 0;
    if (lane == 0) ticket = atomicAdd(job.ticket, 1u);
    ticket = __shfl_sync(kAllLanes, ticket, 0);
    if (ticket >= groups) {
      // Every warp takes one ticket too many. The warp that takes the last of these resets the counter.
      if (lane == 0 && ticket == groups + gridDim.x * kWarps - 1) *job.ticket = 0;
      return;
    }
    const Group group = group_at(job.batch, job.layout, ticket);
    if (group.first >= group.end) continue;
    GroupCoder<1, SymbolTransform, kInter>(job, plan, group, s_level_codes, s_block, warp, d_spill, lane)
        .run(none);
    __syncwarp();
  }
}

// Each thread block codes one group.
template <class SymbolTransform, bool kInter>
__global__ void __launch_bounds__(kThreads)
    code_groups_by_teams(const __grid_constant__ CodeJob job,
                         const __grid_constant__ typename SymbolTransform::Plan plan) {
  __shared__ __align__(LevelCodes::kAlignment) LevelCodes s_level_codes;
  __shared__ BlockShared s_block;
  s_level_codes.fill<kThreads>();
  s_block.token_codes.fill<kThreads>();
  __syncthreads();
  __shared__ int s_listed;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const Group group = group_at(job.batch, job.layout, blockIdx.x);
  if (group.first >= group.end) return;
  std::uint32_t* const d_spill = job.spill + blockIdx.x * std::size_t{kTeamWords};
  GroupCoder<kWarps, SymbolTransform, kInter>(job, plan, group, s_level_codes, s_block, warp, d_spill, lane)
      .run(s_listed);
}

// launch_code (code_batch.h) with a SymbolTransform. kInter: the batch has P pictures.
template <class SymbolTransform, bool kInter = false>
void launch_code_groups(const BatchView& batch, const typename SymbolTransform::Plan& plan,
                        const CodeScratch& scratch, const GroupBits& bits, cudaStream_t stream) {
  CodeJob job;
  job.batch = batch;
  job.layout = group_layout(batch);
  job.bits = bits;
  job.zeros_and_runs = scratch.zeros_and_runs;
  job.ticket = scratch.ticket;
  job.spill = static_cast<std::uint32_t*>(scratch.own);
  const auto kernel = code_groups<SymbolTransform, kInter>;
  int device = 0, multiprocessors = 0, blocks = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kThreads, 0),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const std::size_t at_once =
      std::min<std::size_t>(static_cast<std::size_t>(multiprocessors) * blocks, kMaxBlocks);
  // The number of teams may exceed what runs at once by half: while the first warp of a team works alone,
  // the others leave room unused.
  if (job.layout.groups() <= std::min<std::size_t>(at_once + at_once / 2, kMaxBlocks)) {
    const auto by_teams = code_groups_by_teams<SymbolTransform, kInter>;
    by_teams<<<static_cast<unsigned>(job.layout.groups()), kThreads, 0, stream>>>(job, plan);
    return check_launch("code_groups_by_teams");
  }
  const std::size_t needed = (job.layout.groups() + kWarps - 1) / kWarps;
  const auto grid = static_cast<unsigned>(std::min(needed, at_once));
  kernel<<<grid, kThreads, 0, stream>>>(job, plan);
  check_launch("code_groups");
}

}  // namespace cu264::entropy
