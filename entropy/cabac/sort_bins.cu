// Sorts the bins of decisions by their contexts. A thread block sorts a segment, and half a warp a chunk of
// it, of which each lane has a run of consecutive items. Each lane counts its bins by context, which gives
// the places of its bins among those of all lanes, and then puts them there.
#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "core/cabac_item.h"
#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

constexpr int kChunkLanes = 16, kWarps = kChunksPerSegment * kChunkLanes / 32, kThreads = 32 * kWarps;
// Items that are no decisions count as a context of their own, whose bins go nowhere.
constexpr std::uint32_t kContexts = core::kCabacContexts, kNoContext = kContexts;

// A number for each context and lane, at first of bins, then the place of the next bin. Each lane has its
// numbers in a bank of its own, two contexts to a word.
struct LaneNumbers {
  static constexpr std::uint32_t kRows = kNoContext / 2 + 1;
  std::uint32_t words[kRows][32];

  __device__ __forceinline__ std::uint16_t* of_lane(int lane) {
    return reinterpret_cast<std::uint16_t*>(&words[0][lane]);
  }
  // Where in its lane's numbers a context has its own.
  static __device__ __forceinline__ std::uint32_t place_of(std::uint32_t context) {
    return 32 * context - 31 * (context & 1);
  }
};

// By chunk and context, of all chunks of the segment: numbers of bins, then their places.
using Places = std::uint32_t[kChunksPerSegment][kContexts + 1];

// Items of the other kinds are larger than those of decisions.
__device__ __forceinline__ std::uint32_t context_of(std::uint32_t item) {
  return min(item >> 1, kNoContext);
}

// The items of a lane: of its chunk without the last kWarmUpItems, and of the end of the chunk before.
struct ItemSpan {
  const uint4* d_quads;
  std::uint32_t quads;  // of eight items
};

__device__ ItemSpan lane_items(const ChunkJob& job, std::uint32_t slice, std::uint32_t chunk,
                               std::uint32_t lane) {
  const std::uint32_t all = (job.items_of(slice) + 7) & ~7u, size = job.chunks.chunk_items();
  const std::uint32_t begin = chunk == 0 ? 0 : chunk * size - kWarmUpItems,
                      end = min((chunk + 1) * size - kWarmUpItems, all);
  const std::uint32_t quads = begin < end ? (end - begin) / 8 : 0,
                      most = (quads + kChunkLanes - 1) / kChunkLanes, first = min(lane * most, quads);
  const std::uint16_t* const d_items = job.items + job.layout.window_of(slice) + begin;
  return {reinterpret_cast<const uint4*>(d_items) + first, min(most, quads - first)};
}

// Passes the items to take(first, second) in pairs. Loads are two steps ahead.
template <class Take>
__device__ __forceinline__ void take_pairs(const ItemSpan& span, const Take& take) {
  const auto load = [&](std::uint32_t i) { return i < span.quads ? span.d_quads[i] : uint4{}; };
  uint4 next = load(0), second = load(1);
#pragma unroll 1
  for (std::uint32_t i = 0; i < span.quads; ++i) {
    const uint4 quad = next;
    next = second, second = load(i + 2);
    for (const std::uint32_t pair : {quad.x, quad.y, quad.z, quad.w}) take(pair & 0xffff, pair >> 16);
  }
}

// Increments the numbers of two items' contexts and returns those before in `first` and `second`. Both are
// read before one is stored, so that the reads overlap.
__device__ __forceinline__ void count_pair(std::uint16_t* s_own, std::uint32_t context0,
                                           std::uint32_t context1, std::uint32_t& first,
                                           std::uint32_t& second) {
  std::uint16_t *const s_first = s_own + LaneNumbers::place_of(context0), *const s_second =
                                                                              s_own +
                                                                              LaneNumbers::place_of(context1);
  first = *s_first;
  const std::uint32_t read = *s_second;
  second = context0 == context1 ? first + 1 : read;
  *s_first = static_cast<std::uint16_t>(first + 1);
  *s_second = static_cast<std::uint16_t>(second + 1);
}

// Turns the lanes' numbers of bins into sums over the lanes of the chunk before, and stores the sums over all
// of them. A warp calls this.
__device__ void sum_lanes(LaneNumbers& s_numbers, Places& s_places, std::uint32_t first_chunk, int lane) {
  std::uint32_t* const s_sums = s_places[first_chunk + static_cast<std::uint32_t>(lane / kChunkLanes)];
#pragma unroll 4
  for (std::uint32_t row = 0; row < LaneNumbers::kRows; ++row) {
    const std::uint32_t own = s_numbers.words[row][lane];
    std::uint32_t up_to = own;
#pragma unroll
    for (int step = 1; step < kChunkLanes; step *= 2) {
      const std::uint32_t before = __shfl_up_sync(kAllLanes, up_to, step, kChunkLanes);
      if (lane % kChunkLanes >= step) up_to += before;
    }
    s_numbers.words[row][lane] = up_to - own;
    if (lane % kChunkLanes == kChunkLanes - 1) {
      s_sums[2 * row] = up_to & 0xffff;
      if (2 * row + 1 <= kNoContext) s_sums[2 * row + 1] = up_to >> 16;
    }
  }
}

// Turns numbers of bins into places and stores where runs begin, and the sums of contexts. Returns the number
// of all bins. All threads call this.
__device__ std::uint32_t find_places(Places& s_places, std::uint16_t* d_runs, std::uint16_t* d_sums) {
  __shared__ WarpTotals<std::uint32_t, kWarps> s_totals;
  constexpr std::uint32_t kContextsPerThread = 3;
  static_assert(kContextsPerThread * kThreads >= kContexts);
  const std::uint32_t first = min(kContextsPerThread * threadIdx.x, kContexts);
  const std::uint32_t end = min(first + kContextsPerThread, kContexts);
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
    d_sums[context] = static_cast<std::uint16_t>(at - begins[0]);
    reinterpret_cast<uint4*>(d_runs)[context] = {begins[0] | begins[1] << 16, begins[2] | begins[3] << 16,
                                                 begins[4] | begins[5] << 16, begins[6] | begins[7] << 16};
  }
  if (threadIdx.x == 0) d_runs[kSegmentRuns] = static_cast<std::uint16_t>(all);
  return all;
}

// Adds the places of the chunks' bins to those of the lanes' in them. A warp calls this.
__device__ void add_places(LaneNumbers& s_numbers, const Places& s_places, std::uint32_t first_chunk,
                           int lane) {
  const std::uint32_t* const s_own = s_places[first_chunk + static_cast<std::uint32_t>(lane / kChunkLanes)];
#pragma unroll 4
  for (std::uint32_t row = 0; row < kContexts / 2; ++row)
    s_numbers.words[row][lane] += s_own[2 * row] | s_own[2 * row + 1] << 16;
}
static_assert(kContexts % 2 == 0);

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

// The table of walk_states, which would take each of its blocks as long as its bins do.
__device__ void make_state_table(std::uint8_t* d_after) {
  for (int i = static_cast<int>(threadIdx.x); i < kStateTableBytes; i += kThreads) {
    d_after[i] = static_cast<std::uint8_t>(core::state_after_run(i / core::kBinRuns, i % core::kBinRuns));
  }
}

struct SortShared {
  LaneNumbers numbers[kWarps];
  Places places;
};

// Shared memory: SortShared, and a byte for each bin of a segment.
__global__ void __launch_bounds__(kThreads) sort_bins(const __grid_constant__ ChunkJob job) {
  extern __shared__ __align__(16) std::uint8_t s_memory[];
  if (blockIdx.x == job.all_segments()) {  // the last block
    make_state_table(job.memory.after);
    return;
  }
  auto& s = *reinterpret_cast<SortShared*>(s_memory);
  std::uint8_t* const s_bins = s_memory + sizeof(SortShared);
  const std::uint32_t slice = blockIdx.x / job.chunks.segments, segment = blockIdx.x % job.chunks.segments;
  const std::uint32_t first_chunk = segment * kChunksPerSegment;
  if (first_chunk >= job.chunks_of(slice)) return;
  if (threadIdx.x == 0) job.memory.used[atomicAdd(job.memory.used_count, 1u)] = blockIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  LaneNumbers& s_numbers = s.numbers[warp];
  for (std::uint32_t row = 0; row < LaneNumbers::kRows; ++row) s_numbers.words[row][lane] = 0;
  __syncwarp();
  std::uint16_t* const s_own = s_numbers.of_lane(lane);
  const std::uint32_t its_chunk = threadIdx.x / kChunkLanes,
                      warp_chunk = threadIdx.x / 32 * (32 / kChunkLanes);
  const ItemSpan span = lane_items(job, slice, first_chunk + its_chunk, threadIdx.x % kChunkLanes);
  take_pairs(span, [&](std::uint32_t item0, std::uint32_t item1) {
    std::uint32_t first = 0, second = 0;
    count_pair(s_own, context_of(item0), context_of(item1), first, second);
  });
  __syncwarp();
  sum_lanes(s_numbers, s.places, warp_chunk, lane);
  __syncthreads();
  const std::size_t place = job.segment_at(slice, segment);
  const std::uint32_t count =
      find_places(s.places, job.memory.runs + place * kRunStride, job.memory.sums + place * kSumStride);
  __syncthreads();
  add_places(s_numbers, s.places, warp_chunk, lane);
  __syncwarp();
  take_pairs(span, [&](std::uint32_t item0, std::uint32_t item1) {
    const std::uint32_t context0 = context_of(item0), context1 = context_of(item1);
    std::uint32_t first = 0, second = 0;
    count_pair(s_own, context0, context1, first, second);
    if (context0 != kNoContext) s_bins[first] = item0 & 1;
    if (context1 != kNoContext) s_bins[second] = item1 & 1;
  });
  __syncthreads();
  store_bins(s_bins, count, job.memory.bins + place * job.chunks.segment_words());
}

}  // namespace

void launch_sort_bins(const ChunkJob& job, cudaStream_t stream) {
  check_cuda(cudaMemsetAsync(job.memory.used_count, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  const std::uint32_t shared = sizeof(SortShared) + kChunksPerSegment * job.chunks.chunk_items();
  check_cuda(
      cudaFuncSetAttribute(sort_bins, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
      "cudaFuncSetAttribute");
  sort_bins<<<job.all_segments() + 1, kThreads, shared, stream>>>(job);
  check_launch("sort_bins");
}

}  // namespace cu264::entropy
