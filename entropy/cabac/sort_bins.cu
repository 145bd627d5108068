// Sorts the bins of decisions by their contexts. A lane takes a chunk and shifts each bin into a cell of its
// context in shared memory. A full cell goes to the lane's list; when the lane has seen all items, it sorts
// this list, which is a fifteenth as long, by counting.
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "core/cabac_item.h"
#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 32;
constexpr unsigned kTableBlocks = 16;

// A cell holds, from the highest bit down, the bins from the last one on, and a one below them.
constexpr std::uint32_t kEmptyCell = 1u << kBinsPerEntry;

// An item of this context is none.
constexpr std::uint32_t kNoContext = core::kCabacContexts + 1;
constexpr std::uint32_t kNoPlace = kNoContext / 4 << 7 | kNoContext % 4;

// The cells of the lanes of a warp. A row has four contexts.
struct SortShared {
  uint2 cells[kContextRows][32];
};

// The entry of a cell: its bins, the first one lowest, and a one above them.
__device__ __forceinline__ std::uint32_t entry_of(std::uint32_t cell, int bins) {
  return (cell | 2 * kEmptyCell) >> (kBinsPerEntry + 1 - bins);
}

// The items of a chunk without the last kWarmUpItems, and those of the chunk before.
struct ItemSpan {
  const std::uint16_t* d_items;
  std::uint32_t count;  // a multiple of 8
};

__device__ ItemSpan sorted_items(const ChunkJob& job, std::uint32_t slice, std::uint32_t chunk) {
  const std::uint32_t all = (job.items_of(slice) + 7) & ~7u, size = job.chunks.chunk_items();
  const std::uint32_t begin = chunk == 0 ? 0 : chunk * size - kWarmUpItems,
                      end = min((chunk + 1) * size - kWarmUpItems, all);
  return {job.items + job.layout.window_of(slice) + begin, begin < end ? end - begin : 0};
}

class SortLane {
 public:
  __device__ __forceinline__ SortLane(SortShared& s, int lane, std::uint32_t* d_list)
      : s_cells_(&s.cells[0][lane]), d_list_(d_list), d_next_(d_list) {}

  // Puts the bins of a chunk into cells, and full cells into the list.
  __device__ void gather(const ItemSpan& span) {
#pragma unroll 5
    for (int row = 0; row < kContextRows; ++row) {
      s_cells_[32 * row] = {kEmptyCell * 0x10001, kEmptyCell * 0x10001};
    }
    const auto* const d_quads = reinterpret_cast<const uint4*>(span.d_items);
    const std::uint32_t quads = span.count / 8;
    const auto load = [&](std::uint32_t at) { return at < quads ? d_quads[at] : uint4{}; };
    // Loads are three steps ahead.
    uint4 next = load(0), second = load(1), third = load(2);
#pragma unroll 1
    for (std::uint32_t at = 0; at < quads; ++at) {
      const uint4 quad = next;
      next = second, second = third, third = load(at + 3);
      if (((quad.x | quad.y | quad.z | quad.w) & 0xc000c000) == 0) {
        put_pair(quad.x, quad.x >> 16);
        put_pair(quad.y, quad.y >> 16);
        put_pair(quad.z, quad.z >> 16);
        put_pair(quad.w, quad.w >> 16);
      } else {
        put_any(quad);
      }
    }
  }

  // Writes the entries of all contexts, in their order, and passes where those of each begin and its number
  // of bins to put(context, begin, bins). d_saved has room for the cells.
  template <class Put>
  __device__ void sort(uint2* d_saved, std::uint16_t* d_entries, const Put& put) {
    while ((d_next_ - d_list_) % 4 != 0) *d_next_++ = kNoPlace << 16;
#pragma unroll 5
    for (int row = 0; row < kContextRows; ++row) {
      d_saved[row] = s_cells_[32 * row];
      s_cells_[32 * row] = {0, 0};
    }
    each_listed([this](std::uint32_t listed) { ++*cell(listed >> 16); });
    std::uint32_t begin = 0;
    uint2 saved = d_saved[0];
#pragma unroll 1
    for (int row = 0; row < kContextRows; ++row) {
      const uint2 cells = saved, counts = s_cells_[32 * row];
      if (row + 1 < kContextRows) saved = d_saved[row + 1];
      std::uint32_t begins[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t own = (i < 2 ? cells.x : cells.y) >> 16 * (i % 2) & 0xffff,
                            full = (i < 2 ? counts.x : counts.y) >> 16 * (i % 2) & 0xffff;
        const int bins = kBinsPerEntry + 1 - __ffs(static_cast<int>(own)), context = 4 * row + i;
        begins[i] = begin;
        if (context >= core::kCabacContexts) continue;
        put(context, begin, kBinsPerEntry * full + static_cast<std::uint32_t>(bins));
        begin += full;
        if (bins > 0) d_entries[begin++] = static_cast<std::uint16_t>(entry_of(own, bins));
      }
      s_cells_[32 * row] = {begins[0] | begins[1] << 16, begins[2] | begins[3] << 16};
    }
    each_listed([&](std::uint32_t listed) {
      d_entries[(*cell(listed >> 16))++] = static_cast<std::uint16_t>(listed);
    });
  }

 private:
  // The cell of an item's context.
  __device__ __forceinline__ std::uint16_t* cell(std::uint32_t item) const {
    return reinterpret_cast<std::uint16_t*>(reinterpret_cast<std::uint8_t*>(s_cells_) +
                                            2 * (item & core::kItemContext));
  }
  static __device__ __forceinline__ std::uint32_t with_bin(std::uint32_t cell, std::uint32_t item) {
    static_assert(core::kItemBin << 13 == kEmptyCell);
    return cell >> 1 | (item << 13 & kEmptyCell);
  }
  // Lists a cell that is full, behind which a new one begins.
  __device__ __forceinline__ std::uint32_t list_full(std::uint32_t cell, std::uint32_t item) {
    if ((cell & 1) == 0) return cell;
    *d_next_++ = (item & core::kItemContext) << 16 | entry_of(cell, kBinsPerEntry);
    return kEmptyCell;
  }
  // Both cells are read before the first is written, so that the two reads overlap.
  __device__ __forceinline__ void put_pair(std::uint32_t first, std::uint32_t second) {
    std::uint16_t *const s_cell0 = cell(first), *const s_cell1 = cell(second);
    const std::uint32_t read0 = *s_cell0, read1 = *s_cell1;
    const std::uint32_t cell0 = list_full(with_bin(read0, first), first);
    const std::uint32_t cell1 = list_full(with_bin(s_cell1 == s_cell0 ? cell0 : read1, second), second);
    *s_cell0 = static_cast<std::uint16_t>(cell0);
    *s_cell1 = static_cast<std::uint16_t>(cell1);
  }
  // Eight items, some of which are no decisions.
  __device__ __forceinline__ void put_any(uint4 quad) {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t item = quad.x & 0xffff;
      quad.x = __funnelshift_r(quad.x, quad.y, 16);
      quad.y = __funnelshift_r(quad.y, quad.z, 16);
      quad.z = __funnelshift_r(quad.z, quad.w, 16);
      quad.w >>= 16;
      if (item >> 14 == 0)
        *cell(item) = static_cast<std::uint16_t>(list_full(with_bin(*cell(item), item), item));
    }
  }
  template <class Take>
  __device__ __forceinline__ void each_listed(const Take& take) const {
    const auto* d_four = reinterpret_cast<const uint4*>(d_list_);
    const auto* const d_end = reinterpret_cast<const uint4*>(d_next_);
    uint4 next = d_four < d_end ? *d_four : uint4{};
#pragma unroll 1
    while (d_four < d_end) {
      const uint4 four = next;
      if (++d_four < d_end) next = *d_four;
      take(four.x), take(four.y), take(four.z), take(four.w);
    }
  }

  uint2* const s_cells_;
  std::uint32_t* const d_list_;
  std::uint32_t* d_next_;
};

__global__ void __launch_bounds__(kThreads) sort_bins(const __grid_constant__ ChunkJob job) {
  __shared__ SortShared s_shared;
  const int lane = static_cast<int>(threadIdx.x);
  const UsedChunk own = job.used_chunk(blockIdx.x, lane);
  if (!own.exists) return;
  std::uint32_t* const d_piece = job.piece_at(own.slice, own.chunk);
  SortLane sorter(s_shared, lane, d_piece + ChunkLayout::kSavedWords);
  sorter.gather(sorted_items(job, own.slice, own.chunk));
  std::uint32_t* const d_runs = job.memory.runs + job.runs_at(own.slice, 0) + own.chunk;
  const std::size_t stride = job.chunks.chunks();
  sorter.sort(reinterpret_cast<uint2*>(d_piece), job.entries_at(own.slice, own.chunk),
              [&](int context, std::uint32_t begin, std::uint32_t bins) {
                d_runs[static_cast<std::size_t>(context) * stride] = begin | bins << 16;
              });
}

// Lists the segments of a slice that have items. Block `slice_count()` makes the table of walk_states, which
// would take each of its blocks as long as its bins do.
__global__ void __launch_bounds__(kThreads) list_segments(const __grid_constant__ ChunkJob job) {
  const std::uint32_t slice = blockIdx.x, lane = threadIdx.x;
  if (slice >= job.layout.slice_count()) {
    const int first = static_cast<int>((slice - job.layout.slice_count()) * kThreads + lane);
    for (int i = first; i < kStateTableBytes; i += kThreads * kTableBlocks) {
      job.memory.after[i] =
          static_cast<std::uint8_t>(core::state_after_run(i / core::kBinRuns, i % core::kBinRuns));
    }
    return;
  }
  const std::uint32_t count = (job.chunks_of(slice) + kChunksPerSegment - 1) / kChunksPerSegment;
  std::uint32_t first = 0;
  if (lane == 0) first = atomicAdd(job.memory.used_count, count);
  first = __shfl_sync(kAllLanes, first, 0);
  for (std::uint32_t i = lane; i < count; i += kThreads)
    job.memory.used[first + i] = slice * job.chunks.segments + i;
}

}  // namespace

void launch_sort_bins(const ChunkJob& job, cudaStream_t stream) {
  check_cuda(cudaMemsetAsync(job.memory.used_count, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  list_segments<<<static_cast<unsigned>(job.layout.slice_count()) + kTableBlocks, kThreads, 0, stream>>>(job);
  check_launch("list_segments");
  check_cuda(cudaFuncSetAttribute(sort_bins, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "cudaFuncSetAttribute");
  sort_bins<<<job.all_warps(), kThreads, 0, stream>>>(job);
  check_launch("sort_bins");
}

}  // namespace cu264::entropy
