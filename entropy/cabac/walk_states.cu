// Finds the states of all contexts at the beginning of each chunk. A lane takes one context of one segment:
// it finds the state at the beginning of the segment from the bins before (core/cabac_replay.h) and replays
// the segment's. The lanes of a warp take the same context of 32 segments, which has about as many bins in
// each.
#include "common/cuda/error_check.h"
#include "core/cabac_replay.h"
#include "entropy/cabac/arithmetic_lane.cuh"
#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

// A thread block takes so many contexts, one in each warp. Contexts differ much in their numbers of bins, and
// the room of warps that are done is free only when all of the block are.
#ifndef WALK_WARPS
#define WALK_WARPS 1
#endif
constexpr int kBlockContexts = WALK_WARPS, kThreads = 32 * kBlockContexts;
constexpr std::uint32_t kContextGroups = (core::kCabacContexts + kBlockContexts - 1) / kBlockContexts;

// By state and run of bins (core::state_after_run).
using StateTable = std::uint8_t[core::kCabacStates][core::kBinRuns];

__device__ void fill_table(StateTable& s_after, const std::uint8_t* d_after) {
  for (int i = static_cast<int>(threadIdx.x); i < kStateTableBytes / 16; i += kThreads) {
    reinterpret_cast<uint4*>(s_after)[i] = reinterpret_cast<const uint4*>(d_after)[i];
  }
}

// Takes entries of sorted bins, four bins at a time at most, to take(run). `entry` is the first of them.
template <class Take>
__device__ __forceinline__ void take_entries(const std::uint16_t* d_entries, std::uint32_t entry,
                                             std::uint32_t count, const Take& take) {
#pragma unroll 1
  for (std::uint32_t i = 1; i <= count; ++i) {
    const std::uint32_t next = i < count ? d_entries[i] : 0;
#pragma unroll 1
    for (; entry >= core::kBinRuns; entry >>= core::kBinsAtOnce) {
      take(1u << core::kBinsAtOnce | (entry & ((1u << core::kBinsAtOnce) - 1)));
    }
    take(entry);
    entry = next;
  }
}

// The bins of a context in a slice.
struct History {
  const StateTable& s_after;
  const std::uint32_t* d_runs;      // of the first chunk
  const std::uint16_t* d_entries;   // of the first chunk
  std::uint32_t entries_stride;     // from chunk to chunk

  __device__ __forceinline__ void load_runs(int segment, std::uint32_t (&runs)[kChunksPerSegment]) const {
    const auto* const d_quads = reinterpret_cast<const uint4*>(d_runs + segment * kChunksPerSegment);
    const uint4 low = d_quads[0], high = d_quads[1];
    static_assert(kChunksPerSegment == 8);
    runs[0] = low.x, runs[1] = low.y, runs[2] = low.z, runs[3] = low.w;
    runs[4] = high.x, runs[5] = high.y, runs[6] = high.z, runs[7] = high.w;
  }
  __device__ __forceinline__ const std::uint16_t* entries(int segment, int chunk, std::uint32_t run) const {
    return d_entries + static_cast<std::size_t>(segment * kChunksPerSegment + chunk) * entries_stride + (run & 0xffff);
  }
  static __device__ __forceinline__ std::uint32_t entries_of(std::uint32_t bins) {
    return (bins + kBinsPerEntry - 1) / kBinsPerEntry;
  }
  __device__ __forceinline__ int bins(int segment) const {
    std::uint32_t runs[kChunksPerSegment], sum = 0;
    load_runs(segment, runs);
#pragma unroll
    for (const std::uint32_t run : runs) sum += run >> 16;
    return static_cast<int>(sum);
  }
  // Most contexts have few bins in a chunk, so the loads of several chunks overlap. More than `wanted` bins
  // are taken where an entry has more.
  __device__ __forceinline__ void replay(int first, int end, int skipped, core::StateBounds& bounds) const {
    auto rest = static_cast<std::uint32_t>(skipped);
#pragma unroll 1
    for (int segment = first; segment < end; ++segment) {
      std::uint32_t runs[kChunksPerSegment], counts[kChunksPerSegment], first_entries[kChunksPerSegment];
      load_runs(segment, runs);
#pragma unroll
      for (int i = 0; i < kChunksPerSegment; ++i) {
        const std::uint32_t bins = runs[i] >> 16, without = min(rest, bins);
        rest -= without;
        const std::uint32_t skip = without / kBinsPerEntry;
        counts[i] = without == bins ? 0 : entries_of(bins) - skip;
        runs[i] += skip;
        first_entries[i] = counts[i] > 0 ? *entries(segment, i, runs[i]) : 0;
      }
#pragma unroll
      for (int i = 0; i < kChunksPerSegment; ++i) {
        take_entries(entries(segment, i, runs[i]), first_entries[i], counts[i], [&](std::uint32_t run) {
          bounds.low = s_after[bounds.low][run];
          bounds.high = s_after[bounds.high][run];
        });
      }
    }
  }
  // Passes the state at the beginning of each chunk of a segment to put(chunk, state).
  template <class Put>
  __device__ __forceinline__ void replay_chunks(int segment, int chunks, int state, const Put& put) const {
    std::uint32_t runs[kChunksPerSegment], first_entries[kChunksPerSegment];
    load_runs(segment, runs);
#pragma unroll
    for (int i = 0; i + 1 < kChunksPerSegment; ++i) {
      if (i + 1 >= chunks) runs[i] = 0;
      first_entries[i] = runs[i] >> 16 != 0 ? *entries(segment, i, runs[i]) : 0;
    }
#pragma unroll
    for (int i = 0; i < kChunksPerSegment; ++i) {
      if (i < chunks) put(i, state);
      if (i + 1 == kChunksPerSegment) break;
      take_entries(entries(segment, i, runs[i]), first_entries[i], entries_of(runs[i] >> 16),
                   [&](std::uint32_t run) { state = s_after[state][run]; });
    }
  }
};

__global__ void __launch_bounds__(kThreads) walk_states(const __grid_constant__ ChunkJob job) {
  __shared__ __align__(16) StateTable s_after;
  const std::uint32_t first = 32 * (blockIdx.x / kContextGroups), group = blockIdx.x % kContextGroups;
  const std::uint32_t used = *job.memory.used_count;
  if (first >= used) return;
  fill_table(s_after, job.memory.after);
  __syncthreads();
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32,
                      context = kBlockContexts * group + warp;
  if (context >= core::kCabacContexts || first + lane >= used) return;
  const std::uint32_t own = job.memory.used[first + lane];
  const std::uint32_t slice = own / job.chunks.segments, segment = own % job.chunks.segments;
  const History history{s_after, job.memory.runs + job.runs_at(slice, context), job.entries_at(slice, 0),
                        2 * job.chunks.piece_words()};
  const int picture = static_cast<int>(slice) / job.batch.slices, own_segment = static_cast<int>(segment);
  const int state = core::state_behind(
      history, own_segment, core::initial_state(static_cast<int>(context), job.batch.params[picture].qp));
  const std::uint32_t chunks = job.chunks_of(slice) - segment * kChunksPerSegment;
  auto* const d_states =
      reinterpret_cast<std::uint8_t*>(job.memory.states + job.states_at(slice, context / 4) + segment * kChunksPerSegment) +
      context % 4;
  history.replay_chunks(own_segment, static_cast<int>(min(chunks, static_cast<std::uint32_t>(kChunksPerSegment))), state,
                        [&](int chunk, int its_state) { d_states[4 * chunk] = static_cast<std::uint8_t>(lane_state(its_state)); });
}

}  // namespace

void launch_walk_states(const ChunkJob& job, cudaStream_t stream) {
  const std::uint32_t groups = (job.all_segments() + 31) / 32;
  walk_states<<<groups * kContextGroups, kThreads, 0, stream>>>(job);
  check_launch("walk_states");
}

}  // namespace cu264::entropy
