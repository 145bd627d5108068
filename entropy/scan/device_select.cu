// Stream compaction in one pass. Each block gathers the selected items of its tile in shared memory while it
// waits for the number of items that earlier tiles selected, and then stores its items side by side.
#include "common/cuda/error_check.h"
#include "entropy/scan/device_scan.h"
#include "entropy/scan/gvle_scan.cuh"
#include "entropy/scan/state_launch.cuh"
#include "entropy/scan/tile.cuh"

namespace cu264::scan {
namespace {

template <class T>
struct SelectCall {
  SelectArrays<T> arrays;
  int skew;            // chunk_skew of the input
  bool aligned_flags;  // the flags of a chunk can be read in one load
  std::uint32_t* d_ticket;
  std::uint64_t* d_state;
  std::uint32_t tiles;
};

// Rows of chunks in each lane, for 16 or 32 items.
template <class T>
constexpr int kSelectRows = sizeof(T) == 1 ? 2 : 4;
template <class T>
constexpr int kSelectTile = kTileThreads* kSelectRows<T>* kChunkItems<T>;

// The mask of a chunk's items that are not zero.
template <class T>
__device__ __forceinline__ unsigned nonzero_items(const uint4& chunk) {
  const unsigned words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
  unsigned marks = 0;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if constexpr (sizeof(T) == 1)
      marks |= bits_of_bytes(__vsetne4(words[w], 0)) << 4 * w;
    else
      marks |= static_cast<unsigned>(words[w] != 0) << w;
  }
  return marks;
}

template <class T>
__device__ __forceinline__ unsigned flagged_items(const SelectCall<T>& call, std::int64_t first,
                                                  bool inside) {
  constexpr int kItems = kChunkItems<T>;
  const std::uint8_t* const d_flags = call.arrays.d_flags + first;
  if (inside && call.aligned_flags) {
    if constexpr (sizeof(T) == 1)
      return nonzero_items<T>(*reinterpret_cast<const uint4*>(d_flags));
    else
      return bits_of_bytes(__vsetne4(*reinterpret_cast<const unsigned*>(d_flags), 0));
  }
  unsigned marks = 0;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const bool is_item = first + k >= 0 && first + k < static_cast<std::int64_t>(call.arrays.count);
    marks |= static_cast<unsigned>(is_item && d_flags[k] != 0) << k;
  }
  return marks;
}

template <class T>
__global__ void __launch_bounds__(kTileThreads) select_tiles(const __grid_constant__ SelectCall<T> call) {
  constexpr int kItems = kChunkItems<T>, kRows = kSelectRows<T>, kRow = 32 * kItems;
  __shared__ std::uint32_t s_ticket;
  __shared__ unsigned s_warp_marks[kTileWarps];
  __shared__ std::uint64_t s_before;
  __shared__ T s_selected[kSelectTile<T>];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::uint32_t tile = take_ticket(call.d_ticket, s_ticket);
  const std::int64_t tile_first = static_cast<std::int64_t>(tile) * kSelectTile<T> - call.skew;
  const std::int64_t first = tile_first + warp * kRows * kRow + lane * kItems;
  const bool inside =
      tile_first >= 0 && tile_first + kSelectTile<T> <= static_cast<std::int64_t>(call.arrays.count);

  uint4 chunks[kRows];
  load_chunks<T>(call.arrays.d_input, call.arrays.count, first, inside, chunks);
  unsigned marks[kRows], ranks[kRows];
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    marks[row] = call.arrays.d_flags == nullptr ? nonzero_items<T>(chunks[row])
                                                : flagged_items(call, first + row * kRow, inside);
  }
  const unsigned selected = rank_marks(marks, ranks, s_warp_marks);
  if (warp == 0) {
    const std::uint64_t before = GvleScan{call.d_state}(tile, selected);
    if (lane == 0) s_before = before;
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    const unsigned words[4] = {chunks[row].x, chunks[row].y, chunks[row].z, chunks[row].w};
    unsigned rank = ranks[row];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      constexpr int kPerWord = kItems / 4, kBits = 32 / kPerWord;
      if ((marks[row] >> k & 1) != 0)
        s_selected[rank++] = static_cast<T>(words[k / kPerWord] >> k % kPerWord * kBits);
    }
  }
  __syncthreads();
  const std::uint64_t before = s_before;
  for (unsigned i = threadIdx.x; i < selected; i += kTileThreads)
    call.arrays.d_output[before + i] = s_selected[i];
  if (threadIdx.x == 0 && tile + 1 == call.tiles) *call.arrays.d_selected = before + selected;
}

template <class T>
void launch(const SelectArrays<T>& arrays, void* d_scratch, void* stream) {
  if (arrays.count == 0) {
    check_cuda(
        cudaMemsetAsync(arrays.d_selected, 0, sizeof(std::uint64_t), static_cast<cudaStream_t>(stream)),
        "cudaMemsetAsync");
    return;
  }
  const int skew = chunk_skew(arrays.d_input);
  const std::uint64_t tiles = tile_count(arrays.count, skew, kSelectTile<T>);
  std::byte* const d_bytes = static_cast<std::byte*>(d_scratch);
  const SelectCall<T> call{arrays,
                           skew,
                           (reinterpret_cast<std::uintptr_t>(arrays.d_flags) - skew) % kChunkItems<T> == 0,
                           reinterpret_cast<std::uint32_t*>(d_bytes),
                           reinterpret_cast<std::uint64_t*>(d_bytes + kTicketBytes),
                           static_cast<std::uint32_t>(tiles)};
  launch_with_state(select_tiles<T>, "select_tiles", call, tiles, kTileThreads, d_scratch,
                    kTicketBytes + GvleScan::state_count(tiles) * sizeof(std::uint64_t), stream);
}

}  // namespace

std::size_t select_scratch_bytes(std::uint64_t count) {
  const std::uint64_t most = tile_count(count, 16, kSelectTile<std::uint32_t>);  // the smaller tile
  return kTicketBytes + GvleScan::state_count(most) * sizeof(std::uint64_t);
}
void launch_select(const SelectArrays<std::uint32_t>& arrays, void* d_scratch, void* stream) {
  launch(arrays, d_scratch, stream);
}
void launch_select(const SelectArrays<std::uint8_t>& arrays, void* d_scratch, void* stream) {
  launch(arrays, d_scratch, stream);
}

}  // namespace cu264::scan
