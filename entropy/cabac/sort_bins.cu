// Sorts the bins of decisions by their contexts. A thread block sorts a segment, each warp a chunk of it: the
// warp counts the bins of each context, which gives their places, and then puts 32 bins at a time there.
#include <algorithm>

#include "common/cuda/early_launch.cuh"
#include "common/cuda/kernel_shared_memory.h"
#include "common/cuda/multiprocessors.h"
#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "core/cabac_item.h"
#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 32 * kChunksPerSegment;

// Places of a chunk's bins by context, of all chunks of the segment. Items that are not decisions count as a
// context of their own, whose bins are not stored. Among the contexts of P slices is that of terminating
// bins, of which there is one in each macroblock: they are sorted like decisions, and walk_states leaves them
// out.
template <int kContexts>
using Places = std::uint32_t[kChunksPerSegment][kContexts + 1];

// Items of the other kinds have larger contexts than decisions.
template <int kContexts>
__device__ __forceinline__ std::uint32_t context_of(std::uint32_t item) {
  return min(static_cast<std::uint32_t>(core::item_context(item)), std::uint32_t{kContexts});
}

// The items of a chunk without the last kWarmUpItems, and those of the chunk before.
struct ItemSpan {
  const std::uint16_t* d_items;
  std::uint32_t count;  // a multiple of 8
};

__device__ ItemSpan sorted_items(const ChunkJob& job, const UsedChunk& chunk) {
  if (!chunk.exists) return {job.pool.items, 0};
  const std::uint32_t size = job.pool.layout.chunk_items(),
                      rest = ((job.records[chunk.slice].items + 7) & ~7u) - chunk.in_slice * size,
                      warm_up = chunk.in_slice == 0 ? 0 : kWarmUpItems;
  return {job.items_of(chunk.in_round) - warm_up, min(size - kWarmUpItems, rest) + warm_up};
}

template <int kContexts>
__device__ void count_bins(const ItemSpan& span, std::uint32_t* s_counts, int lane) {
  const auto* const d_quads = reinterpret_cast<const uint4*>(span.d_items);
  const auto count = [s_counts](std::uint32_t item) {
    const auto context = static_cast<std::uint32_t>(core::item_context(item));
    if (context < kContexts) atomicAdd(&s_counts[context], 1u);
  };
  constexpr std::uint32_t kPair = core::kPaddingItem | static_cast<std::uint32_t>(core::kPaddingItem) << 16;
  const auto quad_at = [&](std::uint32_t i) {
    return i < span.count / 8 ? d_quads[i] : uint4{kPair, kPair, kPair, kPair};
  };
  const auto first = static_cast<std::uint32_t>(lane);
  // Loads run two steps ahead.
  uint4 next = quad_at(first), second = quad_at(first + 32);
  for (std::uint32_t i = first; i < span.count / 8; i += 32) {
    const uint4 quad = next;
    next = second, second = quad_at(i + 64);
    for (const std::uint32_t pair : {quad.x, quad.y, quad.z, quad.w}) {
      count(pair & 0xffff);
      count(pair >> 16);
    }
  }
}

// Turns counts into places and stores where runs begin, and the sums of contexts, which lie `sum_stride`
// apart. Returns the total number of bins. All threads call this.
template <int kContexts>
__device__ std::uint32_t find_places(Places<kContexts>& s_places, std::uint16_t* d_runs,
                                     std::uint16_t* d_sums, std::uint32_t sum_stride) {
  __shared__ WarpTotals<std::uint32_t, kChunksPerSegment> s_totals;
  constexpr std::uint32_t kContextsPerThread = 2;
  static_assert(kThreads * kContextsPerThread >= kContexts);
  const std::uint32_t first = kContextsPerThread * threadIdx.x;
  const std::uint32_t end = min(first + kContextsPerThread, std::uint32_t{kContexts});
  std::uint32_t own = 0, all = 0;
  for (std::uint32_t context = first; context < end; ++context) {
    for (int chunk = 0; chunk < kChunksPerSegment; ++chunk) own += s_places[chunk][context];
  }
  std::uint32_t at = scan_threads(own, 0u, all, s_totals, Plus());
  for (std::uint32_t context = first; context < end; ++context) {
    std::uint32_t begins[kChunksPerSegment];
#pragma unroll
    for (int chunk = 0; chunk < kChunksPerSegment; ++chunk) {
      const std::uint32_t count = s_places[chunk][context];
      begins[chunk] = s_places[chunk][context] = at;
      at += count;
    }
    static_assert(kChunksPerSegment == 8);
    d_sums[static_cast<std::size_t>(context) * sum_stride] = static_cast<std::uint16_t>(at - begins[0]);
    reinterpret_cast<uint4*>(d_runs)[context] = {begins[0] | begins[1] << 16, begins[2] | begins[3] << 16,
                                                 begins[4] | begins[5] << 16, begins[6] | begins[7] << 16};
  }
  if (threadIdx.x == 0) d_runs[segment_runs(kContexts)] = static_cast<std::uint16_t>(all);
  return all;
}

// `s_next`: by context, where its next bin goes. `s_peers`: zeros, for the lanes that have a context. Items
// are loaded while the previous ones are stored.
template <int kContexts>
__device__ void put_bins(const ItemSpan& span, std::uint32_t* s_next, std::uint32_t* s_peers,
                         std::uint8_t* s_bins, int lane) {
  constexpr std::uint32_t kAtOnce = 8;  // loads of a lane that overlap
  const auto at = static_cast<std::uint32_t>(lane);
  const auto load = [&](std::uint32_t first, std::uint32_t(&items)[kAtOnce]) {
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) {
      const std::uint32_t i = first + 32 * k + at;
      items[k] = i < span.count ? std::uint32_t{span.d_items[i]} : std::uint32_t{core::kPaddingItem};
    }
  };
  const auto put = [&](std::uint32_t item) {
    const std::uint32_t context = context_of<kContexts>(item);
    // With __match_any_sync, which gives the same answer, sorting takes half as long again.
    atomicOr(&s_peers[context], 1u << lane);
    __syncwarp();
    const std::uint32_t peers = s_peers[context];
    const std::uint32_t place =
        s_next[context] + static_cast<std::uint32_t>(__popc(peers & ((1u << lane) - 1)));
    __syncwarp();
    if (peers >> lane == 1) s_next[context] = place + 1, s_peers[context] = 0;
    if (context < kContexts) s_bins[place] = item >> 2 & 1;
    __syncwarp();
  };
  std::uint32_t next[kAtOnce];
  load(0, next);
  for (std::uint32_t i = 0; i < span.count; i += 32 * kAtOnce) {
    std::uint32_t items[kAtOnce];
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) items[k] = next[k];
    load(i + 32 * kAtOnce, next);
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) put(items[k]);
  }
}

__device__ void store_bins(const std::uint8_t* s_bins, std::uint32_t count, std::uint32_t* d_bins) {
  const std::uint32_t lane = threadIdx.x % 32, words = (count + 31) / 32;
  for (std::uint32_t first = threadIdx.x - lane; first < words; first += kThreads) {
    std::uint32_t own = 0;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const std::uint32_t bin = 32 * (first + i) + lane;
      const std::uint32_t word = __ballot_sync(kAllLanes, bin < count && s_bins[bin] != 0);
      if (lane == i) own = word;
    }
    if (first + lane < words) d_bins[first + lane] = own;
  }
}

// Makes the table of walk_states here, because there it would take each block as long as its bins do.
__device__ void make_state_table(std::uint8_t* d_after) {
  for (int i = static_cast<int>(threadIdx.x); i < kStateTableBytes; i += kThreads) {
    d_after[i] = static_cast<std::uint8_t>(core::state_after_run(i / core::kBinRuns, i % core::kBinRuns));
  }
}

// Sorts a segment of the round. All threads call this.
template <int kContexts>
__device__ void sort_segment(const ChunkJob& job, Places<kContexts>& s_places, Places<kContexts>& s_peers,
                             std::uint8_t* s_bins, std::uint32_t segment) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  std::uint32_t* const s_own = s_places[warp];
  for (std::uint32_t i = static_cast<std::uint32_t>(lane); i <= kContexts; i += 32)
    s_own[i] = s_peers[warp][i] = 0;
  __syncwarp();
  const ItemSpan span =
      sorted_items(job, job.chunk_at(segment * kChunksPerSegment + static_cast<std::uint32_t>(warp)));
  count_bins<kContexts>(span, s_own, lane);
  __syncthreads();
  const std::uint32_t count = find_places<kContexts>(
      s_places, job.memory.runs + static_cast<std::size_t>(segment) * run_stride(kContexts),
      job.memory.sums + segment, job.pool.layout.segments);
  __syncthreads();
  put_bins<kContexts>(span, s_own, s_peers[warp], s_bins, lane);
  __syncthreads();
  store_bins(s_bins, count, job.memory.bins + static_cast<std::size_t>(segment) * bin_words(job.pool.layout));
  __syncthreads();
}

template <int kContexts>
__global__ void __launch_bounds__(kThreads) sort_bins(const __grid_constant__ ChunkJob job) {
  extern __shared__ std::uint8_t s_bins[];
  __shared__ Places<kContexts> s_places, s_peers;
  if (job.round > 0) wait_for_kernels_before();
  if (job.round == 0 && blockIdx.x == 0) make_state_table(job.memory.after);
  const std::uint32_t segments = job.segments();
  for (std::uint32_t segment = blockIdx.x; segment < segments; segment += gridDim.x)
    sort_segment<kContexts>(job, s_places, s_peers, s_bins, segment);
}

}  // namespace

void launch_sort_bins(const ChunkJob& job, cudaStream_t stream) {
  constexpr unsigned kBlocks = 4;  // of a multiprocessor
  const std::uint32_t bytes = job.pool.layout.segment_items();
  const auto kernel =
      job.pool.layout.inter ? sort_bins<item_contexts(true)> : sort_bins<item_contexts(false)>;
  allow_shared_memory(kernel);
  const unsigned blocks =
      std::min(job.pool.layout.segments, blocks_in_round(kBlocks, job.round) * multiprocessors());
  launch_kernel(job.round > 0, kernel, blocks, kThreads, bytes, stream, job);
}

}  // namespace cu264::entropy
