// Bit positions: a thread block scans a slice's groups.
#include <cub/block/block_scan.cuh>

#include "core/bit_run.h"
#include "core/block.h"
#include "entropy/launch_check.cuh"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

using core::BitRun;

constexpr int kThreads = 256;

struct FollowedBy {
  __device__ BitRun operator()(const BitRun& a, const BitRun& b) const { return core::followed_by(a, b); }
};

__device__ BitRun run_of(const GroupRecord& record) {
  BitRun run;
  run.before = record.before;
  run.after = record.after;
  run.aligned = record.aligned != 0;
  return run;
}

__global__ void __launch_bounds__(kThreads) place_groups(const __grid_constant__ PackJob job) {
  using Scan = cub::BlockScan<BitRun, kThreads>;
  __shared__ typename Scan::TempStorage s_scan;
  __shared__ std::uint32_t s_header_bits, s_mbs[3], s_broken;
  const int slice = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
  const int thread = static_cast<int>(threadIdx.x);
  const std::size_t first =
      (static_cast<std::size_t>(picture) * job.batch.slices + slice) * job.layout.groups_a_slice;
  const int rows = core::slice_first_row(slice + 1, job.batch.slices, job.batch.mb_height) -
                   core::slice_first_row(slice, job.batch.slices, job.batch.mb_height);
  const int groups = (rows * job.batch.mb_width + kGroup - 1) / kGroup;
  if (thread < 3) s_mbs[thread] = 0;
  if (thread == 0) s_header_bits = s_broken = 0;

  std::uint32_t header_bits = 0, mbs[3] = {}, broken = 0;
  std::uint64_t position = static_cast<std::uint64_t>(job.header(picture, slice).length);
  for (int chunk = 0; chunk < groups; chunk += kThreads) {
    const int own = chunk + thread;
    BitRun run, before, whole;
    if (own < groups) {
      const GroupRecord record = job.scratch.coded.records[first + own];
      run = run_of(record);
      header_bits += record.header_bits;
      for (int kind = 0; kind < 3; ++kind) mbs[kind] += record.mbs[kind];
      broken |= record.broken;
    }
    Scan(s_scan).ExclusiveScan(run, before, BitRun(), FollowedBy(), whole);
    if (own < groups) job.scratch.positions[first + own] = core::position_after(before, position);
    position = core::position_after(whole, position);
    __syncthreads();
  }

  // Sums within a warp first: few atomics are left.
  const auto add = [&](std::uint32_t* s_sum, std::uint32_t value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if ((thread & 31) == 0 && value != 0) atomicAdd(s_sum, value);
  };
  add(&s_header_bits, header_bits);
  for (int kind = 0; kind < 3; ++kind) add(&s_mbs[kind], mbs[kind]);
  add(&s_broken, broken);
  __syncthreads();
  if (thread != 0) return;
  SliceRecord record;
  record.bits = position;
  record.header_bits = s_header_bits;
  for (int kind = 0; kind < 3; ++kind) record.mbs[kind] = s_mbs[kind];
  record.broken = s_broken;
  job.slice(picture, slice) = record;
}

}  // namespace

void launch_place(const PackJob& job, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(job.batch.slices), static_cast<unsigned>(job.batch.pictures));
  place_groups<<<grid, kThreads, 0, stream>>>(job);
  check_launch("place_groups");
}

}  // namespace cu264::entropy
