// The fast encoder's kernel.
//
// A block takes tile after tile by ticket. Its encoding warps code their part of a tile in their stage, then
// write the tile before, whose place has become known meanwhile: no warp waits for another block. One more
// warp takes the tickets, adds up lengths, and finds the places. Warps speak through mailboxes alone; there
// is no barrier.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "entropy/vle/device_encoder.h"
#include "entropy/vle/fast.h"
#include "entropy/vle/fast_mailbox.cuh"
#include "entropy/vle/fast_positions.cuh"
#include "entropy/vle/fast_stage.cuh"

namespace cu264::vle::fast {

constexpr int kMostWarps = 31;

struct Mail {
  std::uint32_t first_tile;
  Mailbox tickets[2];
  Mailbox codes[2][kMostWarps];      // from the encoding warps: length of a warp-code and its last 32 bits
  Mailbox positions[2][kMostWarps];  // to them: where the warp-code begins
  Mailbox heads[2][kMostWarps];      // and the 32 bits before

  // By all threads of the block, before a barrier.
  __device__ void clear() {
    for (int i = threadIdx.x; i < 2 * kMostWarps; i += blockDim.x) {
      if (i < 2) tickets[i].clear();
      codes[i % 2][i / 2].clear();
      positions[i % 2][i / 2].clear();
      heads[i % 2][i / 2].clear();
    }
  }
};

struct KernelCall {
  const std::uint8_t* input;
  std::uint64_t size;
  const CodeTable* table;
  std::uint8_t* output;
  std::uint64_t capacity;
  EncodeResult* result;
  std::uint64_t* chunk_index;
  std::uint32_t* ticket;     // zero
  std::uint64_t* positions;  // zeros
  std::uint32_t tiles;
};

// The 32 bits before symbol `start`, by a warp; codes are at least one bit long, so 32 symbols are enough.
template <class Table>
__device__ inline std::uint32_t bits_before(const std::uint8_t* input, std::uint64_t start,
                                            const Table& table, int lane) {
  const std::uint32_t word = start == 0 ? 0 : table.template look_up<0>(input[start - 32 + lane]);
  const std::uint32_t length = word & 31;
  std::uint32_t to_end = length;  // from the symbol's first bit
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_down_sync(kAllLanes, to_end, distance);
    if (lane + distance < 32) to_end += other;
  }
  const std::uint32_t behind = to_end - length;
  std::uint32_t bits = length == 0 || behind >= 32 ? 0 : word >> (32 - length) << behind;
  for (int distance = 16; distance != 0; distance /= 2) bits |= __shfl_xor_sync(kAllLanes, bits, distance);
  return bits;
}

// The warp that takes tickets and finds places.
template <int kThreadSymbols, class Table>
__device__ inline void place_tiles(const KernelCall& call, Mail& mail, const Table& table, int lane,
                                   int warps, std::uint32_t tile) {
  const auto take = [&] {
    std::uint32_t ticket = 0;
    if (lane == 0) {
      ticket = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*call.ticket)
                   .fetch_add(1, cuda::memory_order_relaxed);
    }
    return ticket;
  };
  const auto all = [](std::uint32_t value) { return __shfl_sync(kAllLanes, value, 0); };
  TilePositions positions(call.positions);
  const std::uint64_t tile_symbols = static_cast<std::uint64_t>(warps) * 32 * kThreadSymbols;

  if (lane == 0) mail.tickets[0].post(0, tile);
  std::uint32_t next = all(take());
  if (lane == 0) mail.tickets[1].post(1, next);
  for (std::uint32_t i = 0; tile < call.tiles; ++i) {
    const std::uint32_t before = bits_before(call.input, tile * tile_symbols, table, lane);
    const std::uint64_t code = lane < warps ? mail.codes[i % 2][lane].take(i) : 0;
    const auto bits = static_cast<std::uint32_t>(code >> 32);
    std::uint32_t up_to = bits;
    for (int distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t other = __shfl_up_sync(kAllLanes, up_to, distance);
      if (lane >= distance) up_to += other;
    }
    const std::uint32_t tile_bits = __shfl_sync(kAllLanes, up_to, 31);
    positions.add(tile, tile_bits, lane);
    // Only now, so that a block never holds two tiles that it has not begun.
    const std::uint32_t after_next = take();
    const std::uint64_t position = positions.find(tile, tile_bits, lane);

    std::uint32_t head = __shfl_up_sync(kAllLanes, static_cast<std::uint32_t>(code), 1);
    if (lane == 0) head = before;
    if (lane < warps) {
      mail.positions[i % 2][lane].post(i, position + up_to - bits);
      mail.heads[i % 2][lane].post(i, head);
    }
    if (lane == 0) {
      mail.tickets[i % 2].post(i + 2, after_next);
      if (tile == call.tiles - 1) call.result->bits = position + tile_bits;
    }
    tile = next;
    next = all(after_next);
  }
}

template <int kThreadSymbols, class Table>
__device__ inline void encode_tiles(const KernelCall& call, Mail& mail, const Table& table,
                                    std::uint32_t* stage, int warp, int lane, int warps, std::uint32_t tile) {
  constexpr int kWarpSymbols = 32 * kThreadSymbols;
  const StreamMemory memory(call.output, call.capacity);
  const auto start_of = [&](std::uint32_t tile) {
    return (static_cast<std::uint64_t>(tile) * warps + warp) * kWarpSymbols + lane * kThreadSymbols;
  };
  const auto begin = [&](std::uint32_t tile, std::uint64_t& start, Symbols<kThreadSymbols>& symbols) {
    start = start_of(tile);
    if (tile < call.tiles && call.size >= kThreadSymbols && start <= call.size - kThreadSymbols) {
      symbols.load(call.input, call.size, start);
    }
  };

  Symbols<kThreadSymbols> symbols;
  std::uint64_t start = 0, start_before = 0;
  begin(tile, start, symbols);
  PlacedThreadCode before{};
  for (std::uint32_t i = 0;; ++i) {
    PlacedThreadCode placed{};
    const bool more = tile < call.tiles;
    const std::uint64_t start_here = start;
    if (more) {
      std::uint32_t* column = Stage<kThreadSymbols>::set(stage, i % 2) + lane;
      ThreadCode code{};
      if (start < call.size) {
        const std::uint64_t left = call.size - start;
        if (left >= kThreadSymbols) {
          code = encode_thread(symbols, table, column);
        } else {
          code = encode_rest(call.input + start, static_cast<int>(left), table, column);
        }
        placed.last = left <= kThreadSymbols;
        if (code.missing) {
          cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(call.result->missing)
              .store(1, cuda::memory_order_relaxed);
        }
      }
      __syncwarp();
      std::uint32_t up_to = code.bits;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const std::uint32_t other = __shfl_up_sync(kAllLanes, up_to, distance);
        if (lane >= distance) up_to += other;
      }
      if (lane == 31) mail.codes[i % 2][warp].post(i, static_cast<std::uint64_t>(up_to) << 32 | code.tail);
      placed.bits = code.bits;
      placed.tail = code.tail;
      placed.offset = up_to - code.bits;
      tile = static_cast<std::uint32_t>(mail.tickets[(i + 1) % 2].take(i + 1));
      begin(tile, start, symbols);
    }
    if (i != 0) {
      const std::uint32_t last = i - 1;
      WarpPlace place;
      place.position = mail.positions[last % 2][warp].take(last);
      place.head = static_cast<std::uint32_t>(mail.heads[last % 2][warp].take(last));
      write_warp_code<kThreadSymbols>(Stage<kThreadSymbols>::set(stage, last % 2), lane, before, place,
                                      memory);
      if (call.chunk_index != nullptr && start_before % kChunkSymbols == 0 && start_before < call.size) {
        call.chunk_index[start_before / kChunkSymbols] = place.position + before.offset;
      }
    }
    if (!more) break;
    before = placed;
    start_before = start_here;
  }
}

template <int kThreadSymbols, int kRow>
struct Layout {
  static constexpr int kStageBytes = Stage<kThreadSymbols>::kWords * 4;
  static constexpr int shared_bytes(int warps) {
    return SharedTable<kRow>::kBytes + warps * kStageBytes + static_cast<int>(sizeof(Mail));
  }
};

// Thread blocks of kWarps encoding warps at most and one more; dynamic shared memory of Layout::shared_bytes.
template <int kThreadSymbols, int kRow, int kWarps>
__global__ void __launch_bounds__(32 * (kWarps + 1), 1)
    encode_kernel(const __grid_constant__ KernelCall call) {
  using Table = SharedTable<kRow>;
  extern __shared__ __align__(256) char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32 - 1;
  char* const stages = shared + Table::kBytes;
  Mail& mail = *reinterpret_cast<Mail*>(stages + warps * Layout<kThreadSymbols, kRow>::kStageBytes);

  mail.clear();
  Table::fill(shared, *call.table);
#if __CUDA_ARCH__ >= 900
  // What the kernel before sets to zero is needed from here on.
  cudaGridDependencySynchronize();
#endif
  if (threadIdx.x == 0) {
    mail.first_tile = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*call.ticket)
                          .fetch_add(1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  const Table table(shared, lane);
  const std::uint32_t tile = mail.first_tile;
  if (warp == warps) {
    place_tiles<kThreadSymbols>(call, mail, table, lane, warps, tile);
  } else {
    auto* stage = reinterpret_cast<std::uint32_t*>(stages + warp * Layout<kThreadSymbols, kRow>::kStageBytes);
    encode_tiles<kThreadSymbols>(call, mail, table, stage, warp, lane, warps, tile);
  }
}

}  // namespace cu264::vle::fast
