// Tools of kernels that process an array tile by tile: tickets, 16-byte chunks, ranks of marked items.
//
// A block of kTileThreads threads takes a tile. Each warp has a consecutive part of it, in rows of one chunk
// for each lane. Tiles begin at multiples of 16 bytes: the first one begins `skew` items before the array.
#pragma once

#include <cuda/atomic>

#include <cstdint>

#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"

namespace cu264::scan {

inline constexpr int kTileThreads = 256, kTileWarps = kTileThreads / 32;

template <class T>
inline constexpr int kChunkItems = 16 / sizeof(T);

// The number of items between the 16-byte boundary before the array and its beginning.
template <class T>
int chunk_skew(const T* d_array) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(d_array) % 16 / sizeof(T));
}
inline std::uint64_t tile_count(std::uint64_t items, int skew, int tile_items) {
  return (items + skew + tile_items - 1) / tile_items;
}

// Returns the tile of the block. The ticket was zeroed by the kernel before (state_launch.cuh). All threads
// must call this.
__device__ __forceinline__ std::uint32_t take_ticket(std::uint32_t* d_ticket, std::uint32_t& s_ticket) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  if (threadIdx.x == 0) {
    s_ticket = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*d_ticket).fetch_add(
        1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  return s_ticket;
}

// Packs four bytes, each 0 or 1, into four bits.
__device__ __forceinline__ unsigned bits_of_bytes(unsigned bytes) {
  return bytes * 0x10204080u >> 28;
}

// Loads the kRows chunks of a lane, `kStride` items apart, from item `first` on. Items outside the array's
// `count` items are zeros.
template <class T, int kRows>
__device__ __forceinline__ void load_chunks(const T* d_array, std::uint64_t count, std::int64_t first,
                                            bool inside, uint4 (&chunks)[kRows]) {
  constexpr int kItems = kChunkItems<T>, kStride = 32 * kItems;
  if (inside) {
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      chunks[row] = *reinterpret_cast<const uint4*>(d_array + first + row * kStride);
    return;
  }
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    unsigned words[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const std::int64_t i = first + row * kStride + k;
      constexpr int kPerWord = kItems / 4, kBits = 32 / kPerWord;
      if (i >= 0 && static_cast<std::uint64_t>(i) < count)
        words[k / kPerWord] |= static_cast<unsigned>(d_array[i]) << k % kPerWord * kBits;
    }
    chunks[row] = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

// The mask of those items of a chunk that lie in the array; the chunk begins with item `first`.
__device__ __forceinline__ unsigned items_inside(std::int64_t first, std::uint64_t count, int chunk_items) {
  unsigned inside = 0;
  for (int k = 0; k < chunk_items; ++k)
    inside |= static_cast<unsigned>(first + k >= 0 && first + k < static_cast<std::int64_t>(count)) << k;
  return inside;
}

// Computes the ranks of the marked items within the tile: ranks[row] is the number of marks before the
// lane's chunk in that row. Returns the number of marks in the whole tile. All threads must call this. kRows
// is even.
template <int kRows>
__device__ __forceinline__ unsigned rank_marks(const unsigned (&marks)[kRows], unsigned (&ranks)[kRows],
                                               unsigned (&s_warp_marks)[kTileWarps]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  unsigned in_warp = 0;
#pragma unroll
  for (int row = 0; row < kRows; row += 2) {
    // The counts of two rows, of at most 512 items each, share a word.
    const unsigned own = __popc(marks[row]) | __popc(marks[row + 1]) << 16;
    unsigned sum = scan_lanes(own, Plus());
    const unsigned totals = __shfl_sync(kAllLanes, sum, 31);
    sum -= own;
    ranks[row] = in_warp + (sum & 0xffff);
    ranks[row + 1] = in_warp + (totals & 0xffff) + (sum >> 16);
    in_warp += (totals & 0xffff) + (totals >> 16);
  }
  if (lane == 0) s_warp_marks[warp] = in_warp;
  __syncthreads();
  unsigned all;
  const unsigned before = scan_warps<kTileWarps>(
      0u, all, [&](int other) { return s_warp_marks[other]; }, Plus());
#pragma unroll
  for (int row = 0; row < kRows; ++row) ranks[row] += before;
  return all;
}

}  // namespace cu264::scan
