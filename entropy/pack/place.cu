// Bit positions: a thread block scans a slice's groups.
#include "core/bit_run.h"
#include "core/block.h"
#include "entropy/launch_check.cuh"
#include "entropy/pack/escape_groups.h"
#include "entropy/pack/pack_stages.cuh"
#include "entropy/scan/block_scan.cuh"

namespace cu264::entropy {
namespace {

using core::BitRun;

constexpr int kThreads = 256;

// Of a chunk's groups, which have fewer than 2^31 bits; there are bits behind every alignment.
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

// Where a group's words are: PlacedGroup::words.
__device__ std::uint32_t place_of_words(const PackJob& job, std::size_t index, int picture, int first_mb) {
  Group group{};
  group.index = index;
  group.picture = picture;
  group.first = first_mb;
  return static_cast<std::uint32_t>((job.scratch.coded.words_of(job.batch, group) - job.scratch.coded.words) /
                                    4);
}

__device__ PlacedGroup placed_at(std::uint64_t position, const BitRun& run, bool is_first, bool is_last) {
  PlacedGroup group;
  group.position = position;
  group.before = static_cast<std::int32_t>(run.before);
  group.after = static_cast<std::int32_t>(run.after);
  const std::uint64_t end = core::position_after(run, position);
  const std::uint64_t from = is_first ? 0 : position / 8, to = is_last ? end / 8 + 1 : end / 8;
  group.bytes = static_cast<std::int32_t>(to - from);
  return group;
}

// All lanes: those whose group may hold escapes.
__device__ void list_unknown(const PackJob& job, bool may_escape, std::uint32_t group) {
  const unsigned lanes = __ballot_sync(0xffffffffu, may_escape), lane = threadIdx.x & 31;
  if (lanes == 0) return;
  std::uint32_t first = 0;
  if (lane == 0) first = atomicAdd(job.scratch.unknown_count, static_cast<std::uint32_t>(__popc(lanes)));
  first = __shfl_sync(0xffffffffu, first, 0);
  if (may_escape) job.scratch.unknown[first + __popc(lanes & ((1u << lane) - 1))] = group;
}

__global__ void __launch_bounds__(kThreads) place_groups(const __grid_constant__ PackJob job) {
  __shared__ scan::WarpTotals<ChunkRun, kThreads / 32> s_totals;
  __shared__ std::uint32_t s_header_bits, s_mbs[3], s_broken;
  const int slice = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
  const int thread = static_cast<int>(threadIdx.x);
  const auto slice_index = static_cast<std::uint32_t>(picture * job.batch.slices + slice);
  const std::size_t first = static_cast<std::size_t>(slice_index) * job.layout.groups_a_slice;
  const int first_row = core::slice_first_row(slice, job.batch.slices, job.batch.mb_height);
  const int rows = core::slice_first_row(slice + 1, job.batch.slices, job.batch.mb_height) - first_row;
  const int first_mb = first_row * job.batch.mb_width;
  const int groups = (rows * job.batch.mb_width + kGroup - 1) / kGroup;
  if (thread < 3) s_mbs[thread] = 0;
  if (thread == 0) s_header_bits = s_broken = 0;

  std::uint32_t header_bits = 0, mbs[3] = {}, broken = 0;
  const SliceHeaderBits header = job.header(picture, slice);
  std::uint64_t position = static_cast<std::uint64_t>(header.length);
  for (int chunk = 0; chunk < job.layout.groups_a_slice; chunk += kThreads) {
    const int own = chunk + thread;
    ChunkRun run, whole;
    bool may_escape = false;
    if (own < groups) {
      const GroupRecord record = job.scratch.coded.records[first + own];
      run.before = record.before;
      run.after = record.after;
      // The first one follows the slice header.
      may_escape = own == 0 || may_hold_escapes(job.scratch.coded.records[first + own - 1], record);
      header_bits += record.header_bits;
      for (int kind = 0; kind < 3; ++kind) mbs[kind] += record.mbs[kind];
      broken |= record.broken;
    }
    const ChunkRun before = scan::scan_threads(run, ChunkRun(), whole, s_totals, FollowedBy());
    if (own < job.layout.groups_a_slice) {
      PlacedGroup placed;
      if (own < groups) {
        placed =
            placed_at(core::position_after(before.run(), position), run.run(), own == 0, own == groups - 1);
        placed.words = place_of_words(job, first + own, picture, first_mb + own * kGroup);
        placed.slice = slice_index;
        placed.index = static_cast<std::uint32_t>(own);
      }
      job.scratch.groups[first + own] = placed;
      job.scratch.escapes[first + own] = 0;
    }
    list_unknown(job, may_escape, static_cast<std::uint32_t>(first + own));
    position = core::position_after(whole.run(), position);
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
  record.header = header;
  record.picture = static_cast<std::uint32_t>(picture);
  record.prefix_bytes = slice == 0 ? 5 : 4;  // zero_byte comes before a picture's first NAL unit (B.1.2)
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
