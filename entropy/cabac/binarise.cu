// Binarises a batch in one pass: a thread block takes a group of macroblocks, counts their items
// (group_items.cuh), learns from the groups before it in the slice where its own begin, and writes them.
#include "entropy/cabac/binarise.h"

#include <cuda/atomic>

#include "common/cuda/error_check.h"
#include "entropy/cabac/group_items.cuh"
#include "entropy/scan/gvle_scan.cuh"

namespace cu264::entropy {
namespace {

struct BinariseJob {
  core::BatchView batch;
  GroupLayout groups;
  StringLayout layout;
  BinariseScratch scratch;
  std::size_t sums_a_slice;
  StringRecord* records;
  std::uint16_t* items;
};

std::size_t sums_a_slice(const GroupLayout& groups) {
  return scan::GvleScan::state_count(static_cast<std::uint64_t>(groups.groups_a_slice));
}

// Adds the group to the record of its slice, which was zeroed. A warp calls this.
__device__ void add_to_record(StringRecord& record, const GroupItemsShared& s, int mbs, int lane) {
  if (lane == 0) atomicAdd(&record.bins, s.bins);
  for (int kind = 0; kind < core::kMacroblockKinds; ++kind) {
    const bool own = lane < mbs && static_cast<int>(s.kinds[lane]) == kind;
    const auto count = static_cast<std::uint32_t>(__popc(__ballot_sync(kAllLanes, own)));
    if (lane == 0 && count > 0) atomicAdd(&record.mbs[kind], count);
  }
}

__global__ void __launch_bounds__(kItemThreads, 8) binarise_groups(const __grid_constant__ BinariseJob job) {
  __shared__ GroupItemsShared s;
  __shared__ std::uint32_t s_ticket, s_begin;
  const int thread = static_cast<int>(threadIdx.x);
  // Groups wait for those before them, which must have begun.
  if (thread == 0) {
    s_ticket = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*job.scratch.ticket)
                   .fetch_add(1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  const Group group = group_at(job.batch, job.groups, s_ticket);
  if (group.first >= group.end) return;
  GroupItems items(job.batch, group, s);
  items.count();
  const std::uint32_t slice = s_ticket / static_cast<std::uint32_t>(job.groups.groups_a_slice),
                      in_slice = s_ticket % static_cast<std::uint32_t>(job.groups.groups_a_slice);
  const int mbs = items.macroblocks();
  const bool ends_slice = group.end == group.slice_end;
  const std::uint32_t count = s.begins[mbs];
  if (thread < 32) {
    scan::GvleScan scan{job.scratch.sums + slice * job.sums_a_slice};
    const auto before = static_cast<std::uint32_t>(scan(in_slice, count));
    const std::uint32_t begin = __shfl_sync(kAllLanes, before, 0);
    const std::size_t mb =
        static_cast<std::size_t>(group.picture) * job.batch.macroblocks_per_picture() + group.first + thread;
    if (thread < mbs) {
      job.scratch.counts[mb] = s.begins[thread + 1] - s.begins[thread];
      job.scratch.begins[mb] = begin + s.begins[thread];
    }
    add_to_record(job.records[slice], s, mbs, thread);
    if (thread == 0) {
      s_begin = begin;
      if (ends_slice) job.records[slice].items = begin + count;
    }
  }
  items.put(job.items + job.layout.window_of(slice), job.layout.window_items, s_begin, ends_slice);
}

}  // namespace

BinariseScratch carve_binarise(Arena& arena, int pictures, int mb_width, int mb_height, int slices) {
  const std::size_t mbs = static_cast<std::size_t>(pictures) * mb_width * mb_height;
  const GroupLayout groups = group_layout(pictures, mb_width, mb_height, slices);
  BinariseScratch scratch;
  scratch.counts = arena.take<std::uint32_t>(mbs);
  scratch.begins = arena.take<std::uint32_t>(mbs);
  scratch.sum_count = static_cast<std::size_t>(pictures) * slices * sums_a_slice(groups);
  // The ticket lies behind the sums, so that one memset clears both.
  scratch.sums = arena.take<std::uint64_t>(scratch.sum_count + 1);
  scratch.ticket = reinterpret_cast<std::uint32_t*>(scratch.sums + scratch.sum_count);
  return scratch;
}

void launch_binarise(const core::BatchView& batch, const BinariseScratch& scratch, StringRecord* d_records,
                     std::uint16_t* d_items, cudaStream_t stream, WindowSize windows) {
  const GroupLayout groups = group_layout(batch);
  const BinariseJob job{batch,     groups, string_layout(batch, windows), scratch, sums_a_slice(groups),
                        d_records, d_items};
  check_cuda(cudaMemsetAsync(scratch.sums, 0, (scratch.sum_count + 1) * sizeof(std::uint64_t), stream),
             "cudaMemsetAsync");
  check_cuda(cudaMemsetAsync(d_records, 0, job.layout.slice_count() * sizeof(StringRecord), stream),
             "cudaMemsetAsync");
  binarise_groups<<<static_cast<unsigned>(groups.groups()), kItemThreads, 0, stream>>>(job);
  check_launch("binarise_groups");
}

}  // namespace cu264::entropy
