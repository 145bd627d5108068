// Prefix sums in one pass: each block adds up its tile, learns the sum of all tiles before by an inter-block
// scan while it keeps its items in registers, and writes.
#pragma once

#include "common/cuda/thread_scan.cuh"
#include "entropy/scan/device_scan.h"
#include "entropy/scan/state_launch.cuh"
#include "entropy/scan/tile.cuh"

namespace cu264::scan {

// Inter-block sums have 56 bits. Those of tiles of 32-bit items may need more: their halves are scanned
// apart.
template <class Sum>
constexpr int kParts = sizeof(Sum) / 4;

template <class Sum>
struct ScanCall {
  const std::uint32_t* d_input;
  Sum* d_output;
  std::uint64_t count;
  int skew;           // of the input
  bool aligned, own;  // the output lies like the input; items are part of their own sums
  std::uint32_t* d_ticket;
  std::uint64_t* d_state;  // one for each part
  std::size_t state_count;
};

template <class Sum, int kRows>
__device__ __forceinline__ Sum sum_rows(const uint4 (&chunks)[kRows], Sum (&before)[kRows]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Sum own[kRows];
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    own[row] = static_cast<Sum>(chunks[row].x) + chunks[row].y + chunks[row].z + chunks[row].w;
    before[row] = own[row];
  }
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const Sum other = __shfl_up_sync(kAllLanes, before[row], distance);
      if (lane >= distance) before[row] += other;
    }
  }
  Sum rows = 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    const Sum total = __shfl_sync(kAllLanes, before[row], 31);
    before[row] += rows - own[row];
    rows += total;
  }
  return rows;
}

__device__ __forceinline__ void store_chunk(std::uint32_t* d_to, const std::uint32_t (&sums)[4]) {
  *reinterpret_cast<uint4*>(d_to) = make_uint4(sums[0], sums[1], sums[2], sums[3]);
}
__device__ __forceinline__ void store_chunk(std::uint64_t* d_to, const std::uint64_t (&sums)[4]) {
  reinterpret_cast<ulonglong2*>(d_to)[0] = make_ulonglong2(sums[0], sums[1]);
  reinterpret_cast<ulonglong2*>(d_to)[1] = make_ulonglong2(sums[2], sums[3]);
}

template <class Scan, class Sum, int kRows>
__global__ void __launch_bounds__(kTileThreads) scan_tiles(const __grid_constant__ ScanCall<Sum> call) {
  constexpr int kRow = 32 * 4, kWarpItems = kRows * kRow, kTile = kTileWarps * kWarpItems;
  __shared__ std::uint32_t s_ticket;
  __shared__ Sum s_warp_sums[kTileWarps];
  __shared__ std::uint64_t s_before[kParts<Sum>];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::uint32_t tile = take_ticket(call.d_ticket, s_ticket);
  const std::int64_t tile_first = static_cast<std::int64_t>(tile) * kTile - call.skew;
  const std::int64_t first = tile_first + warp * kWarpItems + lane * 4;
  const bool inside = tile_first >= 0 && tile_first + kTile <= static_cast<std::int64_t>(call.count);

  uint4 chunks[kRows];
  load_chunks<std::uint32_t>(call.d_input, call.count, first, inside, chunks);
  Sum before[kRows];
  const Sum warp_sum = sum_rows<Sum>(chunks, before);
  if (lane == 0) s_warp_sums[warp] = warp_sum;
  __syncthreads();
  Sum tile_sum;
  const Sum warps = scan_warps<kTileWarps>(
      Sum{0}, tile_sum, [&](int other) { return s_warp_sums[other]; }, Plus());
  if (warp < kParts<Sum>) {
    Scan scan{call.d_state + warp * call.state_count};
    const std::uint64_t part = static_cast<std::uint64_t>(tile_sum) >> 32 * warp & 0xffffffffu;
    const std::uint64_t sum = scan(tile, part);
    if (lane == 0) s_before[warp] = sum;
  }
  __syncthreads();
  std::uint64_t tiles = s_before[0];
  if constexpr (kParts<Sum> == 2) tiles += s_before[1] << 32;

  const bool vectors = inside && call.aligned;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    const std::uint32_t items[4] = {chunks[row].x, chunks[row].y, chunks[row].z, chunks[row].w};
    Sum sum = static_cast<Sum>(tiles) + warps + before[row], sums[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const Sum next = sum + items[k];
      sums[k] = call.own ? next : sum;
      sum = next;
    }
    const std::int64_t i = first + row * kRow;
    if (vectors) {
      store_chunk(call.d_output + i, sums);
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (i + k >= 0 && i + k < static_cast<std::int64_t>(call.count)) call.d_output[i + k] = sums[k];
    }
  }
}

// Rows of a lane, four items each: eight make a tile of 8192 items.
inline constexpr int kLargeTileRows = 8;

// Of any alignment.
template <class Scan, int kRows>
std::size_t scan_tiles_state_count(std::uint64_t count) {
  return Scan::state_count(tile_count(count, 3, kTileThreads * 4 * kRows));
}

template <class Scan, int kRows>
std::size_t scan_tiles_scratch_bytes(std::uint64_t count) {
  return kTicketBytes + 2 * scan_tiles_state_count<Scan, kRows>(count) * sizeof(std::uint64_t);
}

template <class Scan, int kRows, class Sum>
void launch_scan_tiles(const ScanArrays<Sum>& arrays, void* d_scratch, void* stream) {
  if (arrays.count == 0) return;
  const std::size_t state_count = scan_tiles_state_count<Scan, kRows>(arrays.count);
  const int skew = chunk_skew(arrays.d_input);
  const auto output = reinterpret_cast<std::uintptr_t>(arrays.d_output);
  std::byte* const d_bytes = static_cast<std::byte*>(d_scratch);
  const ScanCall<Sum> call{arrays.d_input,
                           arrays.d_output,
                           arrays.count,
                           skew,
                           (output - skew * sizeof(Sum)) % 16 == 0,
                           arrays.kind == Kind::inclusive,
                           reinterpret_cast<std::uint32_t*>(d_bytes),
                           reinterpret_cast<std::uint64_t*>(d_bytes + kTicketBytes),
                           state_count};
  const std::uint64_t tiles = tile_count(arrays.count, skew, kTileThreads * 4 * kRows);
  const std::size_t bytes = kTicketBytes + kParts<Sum> * state_count * sizeof(std::uint64_t);
  launch_with_state(scan_tiles<Scan, Sum, kRows>, "scan_tiles", call, tiles, kTileThreads, d_scratch, bytes,
                    stream);
}

}  // namespace cu264::scan
