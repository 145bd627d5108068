// Computes bit offsets. A thread block scans the groups of a slice and counts escapes where there may be
// some. The last thread block to finish computes the offsets of the slices in the stream.
#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "core/bit_run.h"
#include "core/block.h"
#include "entropy/pack/escape_count.cuh"
#include "entropy/pack/escape_groups.h"
#include "entropy/pack/group_payload.cuh"
#include "entropy/pack/nal_units.cuh"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

using core::BitRun;

// The BitRun of a chunk's groups, which have fewer than 2^31 bits; every alignment is followed by bits.
struct ChunkRun {
  std::uint32_t before = 0, after = 0;

  __device__ BitRun run() const {
    BitRun run;
    run.before = before;
    run.after = after;
    run.aligned = after != 0;
    return run;
  }
};

struct FollowedBy {
  __device__ ChunkRun operator()(const ChunkRun& a, const ChunkRun& b) const {
    const BitRun both = core::followed_by(a.run(), b.run());
    ChunkRun run;
    run.before = static_cast<std::uint32_t>(both.before);
    run.after = static_cast<std::uint32_t>(both.after);
    return run;
  }
};

// The value of GroupOffset::words.
__device__ std::uint32_t words_offset(const PackJob& job, std::size_t index, int picture, int first_mb) {
  Group group{};
  group.index = index;
  group.picture = picture;
  group.first = first_mb;
  return static_cast<std::uint32_t>((job.scratch.coded.words_of(job.batch, group) - job.scratch.coded.words) /
                                    4);
}

__device__ GroupOffset group_offset(std::uint64_t position, const BitRun& run, bool is_first, bool is_last) {
  GroupOffset group;
  group.position = position;
  group.before = static_cast<std::int32_t>(run.before);
  group.after = static_cast<std::int32_t>(run.after);
  const std::uint64_t end = core::position_after(run, position);
  const std::uint64_t from = is_first ? 0 : position / 8, to = is_last ? end / 8 + 1 : end / 8;
  group.bytes = static_cast<std::int32_t>(to - from);
  return group;
}

// Appends to a list the groups of those lanes whose `listed` is true.
__device__ __forceinline__ void append(bool listed, std::uint32_t group, std::uint32_t* s_count,
                                       std::uint32_t* d_list) {
  const unsigned lanes = __ballot_sync(kAllLanes, listed), lane = threadIdx.x & 31;
  if (lanes == 0) return;
  std::uint32_t first = 0;
  if (lane == 0) first = atomicAdd(s_count, static_cast<std::uint32_t>(__popc(lanes)));
  first = __shfl_sync(kAllLanes, first, 0);
  if (listed) d_list[first + __popc(lanes & ((1u << lane) - 1))] = group;
}

// The sums over the slice of the thread block.
struct SliceSums {
  std::uint32_t header_bits, mbs[core::kMacroblockKinds], broken, escapes, unknown;
};

__device__ __forceinline__ void add(std::uint32_t& s_sum, std::uint32_t value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(kAllLanes, value, step);
  if ((threadIdx.x & 31) == 0 && value != 0) atomicAdd(&s_sum, value);
}

struct Larger {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return max(a, b); }
};

// Returns the slice's length in bits. `first` is its first group. kInter: the batch has P pictures.
template <int kThreads, bool kInter>
__device__ std::uint64_t find_group_offsets(const PackJob& job, std::uint32_t slice_index, std::size_t first,
                                            SliceSums& s_sums) {
  __shared__ WarpTotals<ChunkRun, kThreads / 32> s_totals;
  __shared__ WarpTotals<std::uint32_t, kThreads / 32> s_ends;
  std::uint32_t end_before = 0;  // one past the last group before the chunk that has bits
  const int picture = static_cast<int>(blockIdx.y), slice = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int first_row = core::slice_first_row(slice, job.batch.slices, job.batch.mb_height);
  const int rows = core::slice_first_row(slice + 1, job.batch.slices, job.batch.mb_height) - first_row;
  const int first_mb = first_row * job.batch.mb_width;
  const int groups = (rows * job.batch.mb_width + kGroup - 1) / kGroup;
  std::uint32_t header_bits = 0, mbs[core::kMacroblockKinds] = {}, broken = 0;
  const core::SliceHeaderBits header = job.header(picture, slice);
  auto position = static_cast<std::uint64_t>(header.length);
  for (int chunk = 0; chunk < job.layout.groups_a_slice; chunk += kThreads) {
    const int own = chunk + thread;
    ChunkRun run, whole;
    bool may_escape = false;
    if (own < groups) {
      const GroupRecord record = job.scratch.coded.records[first + own];
      run.before = record.before;
      run.after = record.after;
      may_escape = own == 0 ? may_hold_escapes(header.bits, header.length, record)
                            : may_hold_escapes(job.scratch.coded.records[first + own - 1], record);
      header_bits += record.header_bits;
      for (int kind = 0; kind < core::kMacroblockKinds; ++kind) mbs[kind] += record.mbs[kind];
      broken |= record.broken;
    }
    const ChunkRun before = scan_threads(run, ChunkRun(), whole, s_totals, FollowedBy());
    std::uint32_t last_end = 0;  // one past the last group before this one that has bits
    if constexpr (kInter) {
      const bool has_bits = run.before != 0 || run.after != 0;
      std::uint32_t all_ends = 0;
      last_end =
          scan_threads(has_bits ? static_cast<std::uint32_t>(own) + 1 : 0u, 0u, all_ends, s_ends, Larger());
      last_end = max(last_end, end_before);
      end_before = max(end_before, all_ends);
    }
    if (own < job.layout.groups_a_slice) {
      GroupOffset offset;
      if (own < groups) {
        offset = group_offset(core::position_after(before.run(), position), run.run(), own == 0,
                              own == groups - 1);
        offset.words = words_offset(job, first + own, picture, first_mb + own * kGroup);
        if (kInter && offset.before == 0 && offset.after == 0)
          offset.words = static_cast<std::uint32_t>(own) + 1 - last_end;
        offset.slice = slice_index;
        offset.index = static_cast<std::uint32_t>(own);
      }
      job.scratch.groups[first + own] = offset;
      job.scratch.escapes[first + own] = 0;
    }
    append(may_escape, static_cast<std::uint32_t>(first + own), &s_sums.unknown, job.scratch.unknown + first);
    position = core::position_after(whole.run(), position);
    __syncthreads();
  }
  add(s_sums.header_bits, header_bits);
  for (int kind = 0; kind < core::kMacroblockKinds; ++kind) add(s_sums.mbs[kind], mbs[kind]);
  add(s_sums.broken, broken);
  return position;
}

// Each warp takes one group; if there are more warps than groups, several warps share a group.
template <int kThreads, bool kInter>
__device__ void count_escapes_of(const PackJob& job, std::size_t first, SliceSums& s_sums) {
  constexpr int kWarps = kThreads / 32;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  const int unknown = static_cast<int>(s_sums.unknown);
  if (unknown == 0) return;
  const int together = max(kWarps / unknown, 1);
  for (int i = warp / together; i < unknown; i += kWarps / together) {
    const std::uint32_t group = job.scratch.unknown[first + i];
    const auto escapes = static_cast<std::uint32_t>(
        count_escapes(GroupPayload<kInter>(job, group), warp % together, together, lane));
    if (lane != 0 || escapes == 0) continue;
    atomicAdd(&job.scratch.escapes[group], escapes);
    atomicAdd(&s_sums.escapes, escapes);
  }
}

template <int kThreads, bool kInter>
__global__ void __launch_bounds__(kThreads) find_bit_offsets(const __grid_constant__ PackJob job) {
  __shared__ SliceSums s_sums;
  __shared__ bool s_last;
  const int slice = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
  const auto slice_index = static_cast<std::uint32_t>(picture * job.batch.slices + slice);
  const std::size_t first = static_cast<std::size_t>(slice_index) * job.layout.groups_a_slice;
  if (threadIdx.x == 0) s_sums = {};
  __syncthreads();
  const std::uint64_t bits = find_group_offsets<kThreads, kInter>(job, slice_index, first, s_sums);
  __syncthreads();
  SliceRecord& record = job.slice(picture, slice);
  if (threadIdx.x == 0) {
    SliceRecord known;
    known.header = job.header(picture, slice);
    set_prefix(known, job.batch, picture, slice);
    known.bits = bits;
    known.header_bits = s_sums.header_bits;
    for (int kind = 0; kind < core::kMacroblockKinds; ++kind) known.mbs[kind] = s_sums.mbs[kind];
    known.broken = s_sums.broken;
    record = known;
  }
  __syncthreads();
  if (s_sums.broken == 0) count_escapes_of<kThreads, kInter>(job, first, s_sums);
  __syncthreads();
  if (threadIdx.x == 0) {
    record.escapes = s_sums.escapes;
    s_last = is_last_block(job.scratch.finished_slices);
  }
  __syncthreads();
  if (s_last) find_nal_unit_offsets<kThreads>(job);
}

template <bool kInter>
void launch(const PackJob& job, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(job.batch.slices), static_cast<unsigned>(job.batch.pictures));
  // Small slices take small thread blocks, because there are many of them.
  constexpr int kFew = 256, kMany = 512, kFewGroups = 64;
  if (job.layout.groups_a_slice <= kFewGroups) {
    find_bit_offsets<kFew, kInter><<<grid, kFew, 0, stream>>>(job);
  } else {
    find_bit_offsets<kMany, kInter><<<grid, kMany, 0, stream>>>(job);
  }
  check_launch("find_bit_offsets");
}

}  // namespace

void launch_bit_offsets(const PackJob& job, cudaStream_t stream) {
  job.batch.motion != nullptr ? launch<true>(job, stream) : launch<false>(job, stream);
}

}  // namespace cu264::entropy
