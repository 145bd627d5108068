// Finds the states of all contexts at the beginning of each chunk. A thread block takes a segment and a
// thread one context: it finds the state at the beginning of the segment from the bins before
// (core/cabac_replay.h) and replays the segment's.
#include "common/cuda/error_check.h"
#include "core/cabac_replay.h"
#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

constexpr int kThreads = (core::kCabacContexts + 31) / 32 * 32;

// By state and run of bins (core::state_after_run).
using StateTable = std::uint8_t[core::kCabacStates][core::kBinRuns];

__device__ void fill_table(StateTable& s_after, const std::uint8_t* d_after) {
  for (int i = static_cast<int>(threadIdx.x); i < kStateTableBytes / 16; i += kThreads) {
    reinterpret_cast<uint4*>(s_after)[i] = reinterpret_cast<const uint4*>(d_after)[i];
  }
}

// Passes bins [begin, end) of a segment to take(run), up to kBinsAtOnce at a time. `word` is the word of the
// first of them.
template <class Take>
__device__ __forceinline__ void take_bins(const std::uint32_t* d_bins, std::uint32_t word, std::uint32_t begin,
                                          std::uint32_t end, const Take& take) {
  while (begin < end) {
    word >>= begin % 32;
    std::uint32_t count = min(32 - begin % 32, end - begin);
    begin += count;
    const std::uint32_t next = begin < end ? d_bins[begin / 32] : 0;
    while (count > 0) {
      const std::uint32_t taken = min(count, static_cast<std::uint32_t>(core::kBinsAtOnce)),
                          one = 1u << taken;
      take(one | (word & (one - 1)));
      word >>= taken;
      count -= taken;
    }
    word = next;
  }
}

// The bins of a context in a slice.
struct History {
  const StateTable& s_after;
  const std::uint16_t* d_sums;  // of the slice's first segment, the context's
  const std::uint16_t* d_runs;  // of the first segment, from the context's first run on
  const std::uint32_t* d_bins;  // of the first segment
  std::uint32_t segment_words;

  __device__ __forceinline__ const std::uint16_t* runs(int segment) const {
    return d_runs + static_cast<std::size_t>(segment) * kRunStride;
  }
  __device__ __forceinline__ const std::uint32_t* bins_of(int segment) const {
    return d_bins + static_cast<std::size_t>(segment) * segment_words;
  }
  __device__ __forceinline__ std::uint32_t bins(int segment) const {
    return d_sums[static_cast<std::size_t>(segment) * kSumStride];
  }
  // Most contexts have bins in few segments, or few bins in each, so the loads of several overlap.
  __device__ __forceinline__ void replay(int first, int end, int skipped, core::StateBounds& bounds) const {
    for (int segment = first; segment < end; segment += core::kCountsAtOnce) {
      std::uint32_t counts[core::kCountsAtOnce], begins[core::kCountsAtOnce], words[core::kCountsAtOnce];
#pragma unroll
      for (int i = 0; i < core::kCountsAtOnce; ++i) counts[i] = segment + i < end ? bins(segment + i) : 0;
#pragma unroll
      for (int i = 0; i < core::kCountsAtOnce; ++i) begins[i] = counts[i] > 0 ? *runs(segment + i) : 0;
      begins[0] += static_cast<std::uint32_t>(skipped), counts[0] -= static_cast<std::uint32_t>(skipped);
      skipped = 0;
#pragma unroll
      for (int i = 0; i < core::kCountsAtOnce; ++i)
        words[i] = counts[i] > 0 ? bins_of(segment + i)[begins[i] / 32] : 0;
#pragma unroll
      for (int i = 0; i < core::kCountsAtOnce; ++i) {
        take_bins(bins_of(segment + i), words[i], begins[i], begins[i] + counts[i], [&](std::uint32_t run) {
          bounds.low = s_after[bounds.low][run];
          bounds.high = s_after[bounds.high][run];
        });
      }
    }
  }
};

__global__ void __launch_bounds__(kThreads) walk_states(const __grid_constant__ ChunkJob job) {
  __shared__ __align__(16) StateTable s_after;
  const std::uint32_t slice = blockIdx.x / job.chunks.segments, segment = blockIdx.x % job.chunks.segments;
  const std::uint32_t first_chunk = segment * kChunksPerSegment, chunks = job.chunks_of(slice);
  if (first_chunk >= chunks) return;
  fill_table(s_after, job.memory.after);
  __syncthreads();
  const int context = static_cast<int>(threadIdx.x);
  if (context >= core::kCabacContexts) return;
  const std::size_t first_segment = job.segment_at(slice, 0);
  const History history{
      s_after, job.memory.sums + first_segment * kSumStride + threadIdx.x,
      job.memory.runs + first_segment * kRunStride + static_cast<std::size_t>(context) * kChunksPerSegment,
      job.memory.bins + first_segment * job.chunks.segment_words(), job.chunks.segment_words()};
  const int picture = static_cast<int>(slice) / job.batch.slices;
  const int own_segment = static_cast<int>(segment);
  int state =
      core::state_behind(history, own_segment, core::initial_state(context, job.batch.params[picture].qp));
  const std::uint16_t* const d_own = history.runs(own_segment);
  std::uint8_t* d_state = job.memory.states + job.chunk_at(slice, first_chunk) * kStateStride + threadIdx.x;
  const std::uint32_t own_chunks = min(chunks - first_chunk, static_cast<std::uint32_t>(kChunksPerSegment));
  const std::uint32_t* const d_own_bins = history.bins_of(own_segment);
  std::uint32_t begin = d_own[0], end = d_own[1], next_end = 0;
  for (std::uint32_t i = 0; i < own_chunks; ++i, d_state += kStateStride, begin = end, end = next_end) {
    if (i + 1 < own_chunks) next_end = d_own[i + 2];
    *d_state = static_cast<std::uint8_t>(state);
    take_bins(d_own_bins, begin < end ? d_own_bins[begin / 32] : 0, begin, end,
              [&](std::uint32_t run) { state = s_after[state][run]; });
  }
}

}  // namespace

void launch_walk_states(const ChunkJob& job, cudaStream_t stream) {
  walk_states<<<job.all_segments(), kThreads, 0, stream>>>(job);
  check_launch("walk_states");
}

}  // namespace cu264::entropy
