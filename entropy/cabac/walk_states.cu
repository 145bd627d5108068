// Finds the states of all contexts at the beginning of each chunk. A lane takes one context of one segment:
// it finds the state at the beginning of the segment from the preceding bins (core/cabac_replay.h) and
// replays those of the segment. The lanes of a warp take the same context of 32 segments, which has about as
// many bins in each.
#include <algorithm>

#include "common/cuda/early_launch.cuh"
#include "common/cuda/multiprocessors.h"
#include "core/cabac_replay.h"
#include "entropy/cabac/arithmetic_lane.cuh"
#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

// A thread block takes this many contexts, one in each warp. Contexts differ widely in their number of bins,
// and finished warps give up their room only when the whole block has finished.
constexpr int kBlockContexts = 4, kThreads = 32 * kBlockContexts;
CU264_HD constexpr std::uint32_t context_groups(bool inter) {
  return static_cast<std::uint32_t>((item_contexts(inter) + kBlockContexts - 1) / kBlockContexts);
}

// By state and run of bins (core::state_after_run).
using StateTable = std::uint8_t[core::kCabacStates][core::kBinRuns];

__device__ void fill_table(StateTable& s_after, const std::uint8_t* d_after) {
  for (int i = static_cast<int>(threadIdx.x); i < kStateTableBytes / 16; i += kThreads) {
    reinterpret_cast<uint4*>(s_after)[i] = reinterpret_cast<const uint4*>(d_after)[i];
  }
}

// Passes `count` bins of a segment from bin `begin` on to take(run), up to kBinsAtOnce at a time. `first` and
// `second` are the word of the first of them and the one after it. Lanes with similar numbers of bins stay
// together, wherever in a word their bins begin.
template <class Take>
__device__ __forceinline__ void take_bins(const std::uint32_t* d_bins, std::uint32_t first,
                                          std::uint32_t second, std::uint32_t begin, std::uint32_t count,
                                          const Take& take) {
  constexpr std::uint32_t kRun = 1u << core::kBinsAtOnce;
  const std::uint32_t* d_next = d_bins + begin / 32 + 2;
#pragma unroll 1
  while (count > 0) {
    std::uint32_t bins = __funnelshift_r(first, second, begin % 32);
    first = second, second = count > 64 - begin % 32 ? *d_next++ : 0;
    const std::uint32_t here = min(count, 32u);
    count -= here;
#pragma unroll 1
    for (std::uint32_t rest = here; rest > 0;) {
      const std::uint32_t one = rest < core::kBinsAtOnce ? 1u << rest : kRun;
      take(one | (bins & (one - 1)));
      bins >>= core::kBinsAtOnce;
      rest -= min(rest, static_cast<std::uint32_t>(core::kBinsAtOnce));
    }
  }
}

// The bins of a context in a slice.
template <int kRunStride>
struct History {
  const StateTable& s_after;
  const std::uint16_t* d_sums;  // of the context, by segment
  const std::uint16_t* d_runs;  // of the first segment, from the context's first run on
  const std::uint32_t* d_bins;  // of the first segment
  std::uint32_t segment_words;

  __device__ __forceinline__ const std::uint16_t* runs(int segment) const {
    return d_runs + static_cast<std::size_t>(segment) * kRunStride;
  }
  __device__ __forceinline__ const std::uint32_t* bins_of(int segment) const {
    return d_bins + static_cast<std::size_t>(segment) * segment_words;
  }
  __device__ __forceinline__ std::uint32_t bins(int segment) const { return d_sums[segment]; }
  // Most contexts have bins in few segments, or few bins in each, so the loads of several overlap.
  __device__ __forceinline__ void replay(int first, int end, int skipped, core::StateBounds& bounds) const {
    for (int segment = first; segment < end; segment += core::kCountsAtOnce) {
      std::uint32_t counts[core::kCountsAtOnce], begins[core::kCountsAtOnce], words[core::kCountsAtOnce],
          next_words[core::kCountsAtOnce];
#pragma unroll
      for (int i = 0; i < core::kCountsAtOnce; ++i) counts[i] = segment + i < end ? bins(segment + i) : 0;
#pragma unroll
      for (int i = 0; i < core::kCountsAtOnce; ++i) begins[i] = counts[i] > 0 ? *runs(segment + i) : 0;
      begins[0] += static_cast<std::uint32_t>(skipped), counts[0] -= static_cast<std::uint32_t>(skipped);
      skipped = 0;
#pragma unroll
      for (int i = 0; i < core::kCountsAtOnce; ++i) {
        const std::uint32_t* const d_first = bins_of(segment + i) + begins[i] / 32;
        words[i] = counts[i] > 0 ? d_first[0] : 0;
        next_words[i] = begins[i] % 32 + counts[i] > 32 ? d_first[1] : 0;
      }
#pragma unroll
      for (int i = 0; i < core::kCountsAtOnce; ++i) {
        take_bins(bins_of(segment + i), words[i], next_words[i], begins[i], counts[i],
                  [&](std::uint32_t run) {
                    bounds.low = s_after[bounds.low][run];
                    bounds.high = s_after[bounds.high][run];
                  });
      }
    }
  }
};

// Replays the bins of a segment's chunks, of which there is at least one, and passes the state at the
// beginning of each to put(chunk, state). Returns that after them. Lanes step through their chunks in one
// loop, so that those with few bins in one chunk do not wait for the others in each.
template <class Put>
__device__ __forceinline__ int replay_chunks(const StateTable& s_after, const std::uint16_t* d_runs,
                                             const std::uint32_t* d_bins, std::uint32_t chunks, int state,
                                             const Put& put) {
  std::uint32_t at = d_runs[0], end = d_runs[1], next_end = d_runs[2];
  const std::uint32_t all_end = d_runs[chunks];
  std::uint32_t word = at < all_end ? d_bins[at / 32] : 0;
  std::uint32_t next_word = at / 32 + 1 < (all_end + 31) / 32 ? d_bins[at / 32 + 1] : 0;
  put(0, state);
  for (std::uint32_t chunk = 0;;) {
    if (at == end) {
      if (++chunk == chunks) return state;
      put(chunk, state);
      end = next_end;
      if (chunk + 1 < chunks) next_end = d_runs[chunk + 2];
      continue;
    }
    const std::uint32_t bit = at % 32,
                        taken = min(min(end - at, 32 - bit), static_cast<std::uint32_t>(core::kBinsAtOnce)),
                        one = 1u << taken;
    state = s_after[state][one | (word >> bit & (one - 1))];
    at += taken;
    if (bit + taken == 32) {
      word = next_word;
      next_word = at / 32 + 1 < (all_end + 31) / 32 ? d_bins[at / 32 + 1] : 0;
    }
  }
}

// The state of a context at the beginning of a slice.
template <bool kInter>
__device__ int first_state_of(const core::PictureParams& params, int context) {
  if constexpr (kInter) {
    if (!params.key)
      return core::p_initial_state(core::context_of_p_item(context), params.qp, params.cabac_init_idc);
    if (context >= core::kCabacContexts) return 0;  // no I slice uses it
  }
  return core::initial_state(context, params.qp);
}

// Whether states of a context are found here: not those that terminating and bypass bins have.
template <bool kInter>
__device__ bool has_states(std::uint32_t context) {
  if (!kInter) return context < core::kCabacContexts;
  return context < core::kPItemContexts &&
         (context < core::kCabacContexts || context >= core::kCabacContexts + core::kItemOnlyContexts);
}

// Where the states of a context at the beginning of a segment's first chunk lie, in the word of its row.
__device__ std::uint8_t* states_of(const ChunkJob& job, std::uint32_t context, std::uint32_t segment) {
  std::uint32_t* const d_row =
      job.memory.states + static_cast<std::size_t>(context / 4) * job.pool.layout.chunks();
  return reinterpret_cast<std::uint8_t*>(d_row + segment * kChunksPerSegment) + context % 4;
}

// Walks through a context of a segment of the round.
template <bool kInter>
__device__ void walk(const ChunkJob& job, const StateTable& s_after, std::uint32_t context,
                     std::uint32_t segment) {
  const PoolLayout& pool = job.pool.layout;
  const std::uint32_t slice = job.slice_of(segment), in_slice = job.in_slice(slice, segment);
  // The slice's first segment of the round, and the state at its beginning.
  const std::uint32_t begin = segment - min(segment, in_slice);
  const int picture = static_cast<int>(slice) / job.batch.slices;
  const int first_state = in_slice > segment
                              ? job.carried_in()[context]
                              : first_state_of<kInter>(job.batch.params[picture], static_cast<int>(context));
  const std::size_t first = begin;
  constexpr int kRunStride = run_stride(item_contexts(kInter));
  const History<kRunStride> history{
      s_after, job.memory.sums + static_cast<std::size_t>(context) * pool.segments + first,
      job.memory.runs + first * kRunStride + static_cast<std::size_t>(context) * kChunksPerSegment,
      job.memory.bins + first * bin_words(pool), bin_words(pool)};
  const int own = static_cast<int>(segment - begin);
  const int state = core::state_after(history, own, first_state);
  const std::uint32_t rest = job.chunks_of(slice) - in_slice * kChunksPerSegment;
  std::uint8_t* const d_states = states_of(job, context, segment);
  const int last_state = replay_chunks(s_after, history.runs(own), history.bins_of(own),
                                       min(rest, static_cast<std::uint32_t>(kChunksPerSegment)), state,
                                       [d_states](std::uint32_t chunk, int its_state) {
                                         d_states[4 * chunk] =
                                             static_cast<std::uint8_t>(lane_state(its_state));
                                       });
  const bool goes_on = segment + 1 == pool.segments && rest > kChunksPerSegment;
  if (goes_on) job.carried_out()[context] = static_cast<std::uint8_t>(last_state);
}

template <bool kInter>
__global__ void __launch_bounds__(kThreads) walk_states(const __grid_constant__ ChunkJob job) {
  __shared__ __align__(16) StateTable s_after;
  constexpr std::uint32_t kContextGroups = context_groups(kInter);
  if (job.round > 0) wait_for_kernels_before();
  const std::uint32_t segments = job.segments(), parts = (segments + 31) / 32 * kContextGroups;
  if (blockIdx.x >= parts) return;
  fill_table(s_after, job.memory.after);
  __syncthreads();
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (std::uint32_t part = blockIdx.x; part < parts; part += gridDim.x) {
    const std::uint32_t segment = 32 * (part / kContextGroups) + lane,
                        context = kBlockContexts * (part % kContextGroups) + warp;
    if (segment >= segments) continue;
    if (has_states<kInter>(context)) {
      walk<kInter>(job, s_after, context, segment);
    } else if (kInter) {  // ArithmeticShared::start reads whole words
      std::uint8_t* const d_states = states_of(job, context, segment);
      for (int chunk = 0; chunk < kChunksPerSegment; ++chunk) d_states[4 * chunk] = 0;
    }
  }
}

}  // namespace

void launch_walk_states(const ChunkJob& job, cudaStream_t stream) {
  constexpr unsigned kBlocks = 16;  // of a multiprocessor
  const bool inter = job.pool.layout.inter;
  const std::uint32_t parts = (job.pool.layout.segments + 31) / 32 * context_groups(inter);
  launch_kernel(job.round > 0, inter ? walk_states<true> : walk_states<false>,
                std::min(parts, blocks_in_round(kBlocks, job.round) * multiprocessors()), kThreads, 0, stream,
                job);
}

}  // namespace cu264::entropy
