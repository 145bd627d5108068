// Binarises a batch. In the first round a thread block takes a group of macroblocks, counts their items
// (group_items.cuh), learns from the preceding groups where its own items begin, and writes them. In later
// rounds blocks look for the groups whose items fall into that round.
#include "entropy/cabac/binarise.h"

#include <cuda/atomic>

#include "common/cuda/early_launch.cuh"
#include "common/cuda/error_check.h"
#include "common/cuda/multiprocessors.h"
#include "entropy/cabac/group_items.cuh"
#include "entropy/scan/gvle_scan.cuh"

namespace cu264::entropy {
namespace {

constexpr unsigned kBlocksPerMultiprocessor = 8;

struct BinariseJob {
  core::BatchView batch;
  GroupLayout groups;
  BinariseScratch scratch;
  std::size_t sums_a_slice;
  CabacSliceRecord* records;
  ItemPool pool;
  std::uint32_t round;
};

std::size_t sums_a_slice(const GroupLayout& groups) {
  return scan::GvleScan::state_count(static_cast<std::uint64_t>(groups.groups_a_slice));
}

// Adds the group to the record of its slice, which was zeroed. A warp calls this.
__device__ void add_to_record(CabacSliceRecord& record, const GroupItemsShared& s, int mbs, int lane) {
  if (lane == 0) atomicAdd(&record.bins, s.bins);
  for (int kind = 0; kind < core::kMacroblockKinds; ++kind) {
    const bool own = lane < mbs && static_cast<int>(s.kinds[lane]) == kind;
    const auto count = static_cast<std::uint32_t>(__popc(__ballot_sync(kAllLanes, own)));
    if (lane == 0 && count > 0) atomicAdd(&record.mbs[kind], count);
  }
}

// Counts the segments that begin in group number `ticket`, whose items are [begin, begin + count) of the
// slice, and records the slice as their owner. Returns the first segment of the slice. A warp calls this.
__device__ std::uint32_t begin_segments(const BinariseJob& job, std::uint32_t ticket, std::uint32_t slice,
                                        std::uint32_t begin, std::uint32_t count, std::uint32_t lane) {
  const std::uint32_t in_slice = job.pool.layout.segments_of(begin),
                      begun = job.pool.layout.segments_of(begin + count) - in_slice;
  const auto sum = static_cast<std::uint32_t>(scan::GvleScan{job.scratch.segments}(ticket, begun));
  const std::uint32_t before = __shfl_sync(kAllLanes, sum, 0);
  for (std::uint32_t i = lane; i < begun; i += 32) job.pool.slices[before + i] = slice;
  if (lane == 0 && ticket + 1 == static_cast<std::uint32_t>(job.groups.groups()))
    *job.pool.all_segments = before + begun;
  return before - in_slice;
}

template <bool kInter>
__global__ void __launch_bounds__(kItemThreads, kBlocksPerMultiprocessor)
    binarise_groups(const __grid_constant__ BinariseJob job) {
  __shared__ GroupItemsShared s;
  __shared__ std::uint32_t s_ticket, s_begin, s_first_segment;
  const int thread = static_cast<int>(threadIdx.x);
  // A group waits for the groups before it, so those must have begun.
  if (thread == 0) {
    s_ticket = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*job.scratch.ticket)
                   .fetch_add(1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  const Group group = group_at(job.batch, job.groups, s_ticket);
  const std::uint32_t slice = s_ticket / static_cast<std::uint32_t>(job.groups.groups_a_slice),
                      in_slice = s_ticket % static_cast<std::uint32_t>(job.groups.groups_a_slice);
  if (group.first >= group.end) {
    if (thread < 32) begin_segments(job, s_ticket, slice, 0, 0, threadIdx.x);
    if (thread == 0) job.scratch.places[s_ticket] = {};
    return;
  }
  GroupItems<kInter> items(job.batch, group, s);
  items.count();
  const int mbs = items.macroblocks();
  const bool ends_slice = group.end == group.slice_end;
  const std::uint32_t count = s.begins[mbs];
  if (thread < 32) {
    scan::GvleScan scan{job.scratch.sums + slice * job.sums_a_slice};
    const auto before = static_cast<std::uint32_t>(scan(in_slice, count));
    const std::uint32_t begin = __shfl_sync(kAllLanes, before, 0);
    const std::uint32_t first_segment = begin_segments(job, s_ticket, slice, begin, count, threadIdx.x);
    add_to_record(job.records[slice], s, mbs, thread);
    if (thread == 0) {
      s_begin = begin;
      s_first_segment = first_segment;
      job.scratch.places[s_ticket] = {begin, count};
      if (in_slice == 0) job.records[slice].first_segment = first_segment;
      if (ends_slice) job.records[slice].items = begin + count;
    }
  }
  items.put(ends_slice, s_begin, [&] { return pool_window(job.pool, s_first_segment, job.round); });
}

template <bool kInter>
__global__ void __launch_bounds__(kItemThreads, kBlocksPerMultiprocessor)
    binarise_again(const __grid_constant__ BinariseJob job) {
  __shared__ GroupItemsShared s;
  wait_for_kernels_before();
  if (job.pool.segments(job.round) == 0) return;
  const std::uint32_t groups = static_cast<std::uint32_t>(job.groups.groups()), lane = threadIdx.x % 32;
  // Neighbours go to different blocks, because the groups of a round lie side by side.
  for (std::uint32_t first = blockIdx.x; first < groups; first += 32 * gridDim.x) {
    const std::uint32_t own = first + lane * gridDim.x;
    GroupPlace place;
    if (own < groups) place = job.scratch.places[own];
    bool here = false;
    PoolWindow window;
    if (place.count > 0) {
      const std::uint32_t slice = own / static_cast<std::uint32_t>(job.groups.groups_a_slice);
      window = pool_window(job.pool, job.records[slice].first_segment, job.round);
      here = place.begin < window.end && place.begin + place.count + 7 > window.begin;
    }
    for (std::uint32_t rest = __ballot_sync(kAllLanes, here); rest != 0; rest &= rest - 1) {
      const int source = __ffs(static_cast<int>(rest)) - 1;
      const Group group =
          group_at(job.batch, job.groups, first + static_cast<std::uint32_t>(source) * gridDim.x);
      const std::uint32_t begin = __shfl_sync(kAllLanes, place.begin, source);
      PoolWindow its = window;
      its.offset = __shfl_sync(kAllLanes, static_cast<long long>(window.offset), source);
      its.d_items = job.pool.items;
      its.begin = __shfl_sync(kAllLanes, window.begin, source);
      its.end = __shfl_sync(kAllLanes, window.end, source);
      GroupItems<kInter> items(job.batch, group, s);
      items.count();
      items.put(group.end == group.slice_end, begin, [&] { return its; });
      __syncthreads();
    }
  }
}

}  // namespace

BinariseScratch carve_binarise(Arena& arena, int pictures, int mb_width, int mb_height, int slices) {
  const GroupLayout groups = group_layout(pictures, mb_width, mb_height, slices);
  const auto all = static_cast<std::size_t>(groups.groups());
  const std::size_t sums = static_cast<std::size_t>(pictures) * static_cast<std::size_t>(slices) *
                           sums_a_slice(groups),
                    segments = scan::GvleScan::state_count(all);
  BinariseScratch scratch;
  scratch.places = arena.take<GroupPlace>(all);
  // They lie after one another, so that one memset clears all.
  scratch.cleared_bytes = (sums + segments + 1) * sizeof(std::uint64_t);
  scratch.sums = arena.take<std::uint64_t>(sums + segments + 1);
  scratch.segments = scratch.sums + sums;
  scratch.ticket = reinterpret_cast<std::uint32_t*>(scratch.segments + segments);
  return scratch;
}

void launch_binarise(const core::BatchView& batch, const BinariseScratch& scratch,
                     CabacSliceRecord* d_records, const ItemPool& pool, std::uint32_t round,
                     cudaStream_t stream) {
  const GroupLayout groups = group_layout(batch);
  const BinariseJob job{batch, groups, scratch, sums_a_slice(groups), d_records, pool, round};
  const auto all = static_cast<unsigned>(groups.groups());
  const bool inter = batch.motion != nullptr;
  if (round > 0) {
    launch_kernel(true, inter ? binarise_again<true> : binarise_again<false>,
                  std::min(all, blocks_in_round(kBlocksPerMultiprocessor, round) * multiprocessors()),
                  kItemThreads, 0, stream, job);
    return;
  }
  check_cuda(cudaMemsetAsync(scratch.sums, 0, scratch.cleared_bytes, stream), "cudaMemsetAsync");
  check_cuda(cudaMemsetAsync(d_records, 0, slice_bits_layout(batch).slice_count() * sizeof(CabacSliceRecord),
                             stream),
             "cudaMemsetAsync");
  const auto binarise = inter ? binarise_groups<true> : binarise_groups<false>;
  binarise<<<all, kItemThreads, 0, stream>>>(job);
  check_launch("binarise_groups");
}

}  // namespace cu264::entropy
