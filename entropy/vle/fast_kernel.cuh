// The kernel of the fast encoder.
//
// A block takes one tile after the other by ticket. Its encoding warps code their parts of a tile in their
// stages and write them one tile later, when their position has become known, so that warps hardly ever wait
// for other blocks. One more warp takes the tickets, adds up lengths and finds the positions.
#pragma once

#include <cstdint>
#include <cuda/atomic>
#include <cuda/barrier>

#include "entropy/vle/device_encoder.h"
#include "entropy/vle/fast.h"
#include "entropy/vle/fast_positions.cuh"
#include "entropy/vle/fast_stage.cuh"

namespace cu264::vle::fast {

constexpr int kMaxWarps = 31;

struct KernelCall {
  const std::uint8_t* input;
  std::uint64_t size;
  const CodeTable* table;
  std::uint8_t* output;
  std::uint64_t capacity;
  EncodeResult* result;
  std::uint64_t* chunk_index;
  std::uint32_t* ticket;     // zero before the launch
  std::uint64_t* positions;  // zeros before the launch
  std::uint32_t tiles;
  std::uint32_t full_tiles;  // the tiles that the input fills
};

// The messages between the warps of a block. Everything exists twice, for the block's tiles in turn. Tile i
// of the block is coded before round i of `coded` ends; round i of `placed` brings the position of tile i -
// 1 and the number of tile i + 1.
struct alignas(128) Mail {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  struct WarpCode {
    std::uint32_t bits, tail;
  };

  Barrier coded[2], placed[2];
  std::uint32_t tiles[2], first_tile;
  WarpCode codes[2][kMaxWarps];
  WarpPlace places[2][kMaxWarps];

  __device__ void begin(int warps) {
    for (int i = 0; i < 2; ++i) {
      init(&coded[i], warps);
      init(&placed[i], 32);
    }
  }
  __device__ static void arrive(Barrier* barriers, std::uint32_t round) {
    (void)barriers[round % 2].arrive();
  }
  __device__ static void wait(Barrier* barriers, std::uint32_t round) {
    barriers[round % 2].wait_parity(round / 2 % 2 != 0);
  }
};

// The 32 bits before symbol `start`, computed by a warp. Codes have at least one bit, so that 32 symbols are
// enough.
template <class Table>
__device__ inline std::uint32_t bits_before(const std::uint8_t* input, std::uint64_t start,
                                            const Table& table, int lane) {
  const std::uint32_t word = start == 0 ? 0 : table.template look_up<0>(input[start - 32 + lane]);
  const std::uint32_t length = word & 31;
  std::uint32_t to_end = length;  // bits from the symbol's first bit to `start`
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t other = __shfl_down_sync(kAllLanes, to_end, distance);
    if (lane + distance < 32) to_end += other;
  }
  const std::uint32_t after = to_end - length;
  std::uint32_t bits = length == 0 || after >= 32 ? 0 : word >> (32 - length) << after;
  for (int distance = 16; distance != 0; distance /= 2) bits |= __shfl_xor_sync(kAllLanes, bits, distance);
  return bits;
}

// The sum of the values of lane 0 to the calling lane.
__device__ inline std::uint32_t sum_up_to(std::uint32_t value) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    // The shuffle's predicate says whether there is such a lane.
    asm volatile(
        "{ .reg .pred there; .reg .u32 other;"
        "  shfl.sync.up.b32 other|there, %0, %1, 0, 0xffffffff;"
        "  @there add.u32 %0, %0, other; }"
        : "+r"(value)
        : "r"(distance));
  }
  return value;
}

__device__ inline std::uint32_t take_ticket(std::uint32_t* ticket) {
  return cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*ticket).fetch_add(
      1, cuda::memory_order_relaxed);
}

// The warp that takes tickets and finds positions.
template <int kThreadSymbols, class Table>
__device__ inline void place_tiles(const KernelCall& call, Mail& mail, const Table& table, int lane,
                                   int warps, std::uint32_t tile) {
  TilePositions positions(call.positions);
  const std::uint64_t tile_symbols = static_cast<std::uint64_t>(warps) * 32 * kThreadSymbols;
  std::uint32_t next = lane == 0 ? take_ticket(call.ticket) : 0;
  if (lane == 0) mail.tiles[1] = next;
  Mail::arrive(mail.placed, 0);
  next = __shfl_sync(kAllLanes, next, 0);
  for (std::uint32_t i = 0; tile < call.tiles; ++i) {
    const std::uint32_t before = bits_before(call.input, tile * tile_symbols, table, lane);
    Mail::wait(mail.coded, i);
    Mail::WarpCode code{};
    if (lane < warps) code = mail.codes[i % 2][lane];
    const std::uint32_t up_to = sum_up_to(code.bits);
    const std::uint32_t tile_bits = __shfl_sync(kAllLanes, up_to, 31);
    positions.add(tile, tile_bits, lane);
    // The ticket is taken only now, so that a block never holds two tiles that it has not begun.
    std::uint32_t after_next = lane == 0 ? take_ticket(call.ticket) : 0;
    const std::uint64_t position = positions.find(tile, tile_bits, lane);

    std::uint32_t head = __shfl_up_sync(kAllLanes, code.tail, 1);
    if (lane == 0) head = before;
    if (lane < warps) mail.places[i % 2][lane] = {position + up_to - code.bits, head};
    if (lane == 0) {
      mail.tiles[i % 2] = after_next;
      if (tile == call.tiles - 1) call.result->bits = position + tile_bits;
    }
    Mail::arrive(mail.placed, i + 1);
    tile = next;
    next = __shfl_sync(kAllLanes, after_next, 0);
  }
}

// One of the warps that encode.
template <int kThreadSymbols, class Table>
class EncodingWarp {
 public:
  __device__ EncodingWarp(const KernelCall& call, Mail& mail, const Table& table, std::uint32_t* stage,
                          int warp, int lane, int warps)
      : call_(call),
        mail_(mail),
        table_(table),
        stage_(stage),
        warp_(warp),
        lane_(lane),
        tile_symbols_(warps * kWarpSymbols),
        first_(warp * kWarpSymbols + lane * kThreadSymbols),
        aligned_(reinterpret_cast<std::uintptr_t>(call.input) % 16 == 0),
        memory_(call.output, call.capacity) {}

  __device__ void run(std::uint32_t tile) {
    Work before{}, now{};  // for the block's tiles i - 2 and i - 1
    for (std::uint32_t i = 0;; ++i) {
      Symbols<kThreadSymbols> symbols;
      const std::uint64_t start = std::uint64_t{tile} * tile_symbols_ + first_;
      const bool shares = aligned_ && tile < call_.full_tiles;
      if (shares) {
        symbols.load_share(call_.input + (start - lane_ * kThreadSymbols), lane_);
      } else if (tile < call_.tiles && start + kThreadSymbols <= call_.size) {
        symbols.load(call_.input, call_.size, start);
      }
      if (before.busy) write(before, i % 2);
      before = now;
      now.busy = tile < call_.tiles;
      if (now.busy) {
        if (shares) symbols.exchange(Stage<kThreadSymbols>::set(stage_, i % 2), lane_);
        encode(now, tile, start, symbols, i % 2);
        if (lane_ == 31) Mail::arrive(mail_.coded, i);
      } else if (!before.busy) {
        break;
      }
      // Lane 31 arrives for the warp here, too.
      Mail::wait(mail_.placed, i);
      if (lane_ == 31) {
        tile = mail_.tiles[(i + 1) % 2];
        before.place = mail_.places[(i + 1) % 2][warp_];
      }
      tile = __shfl_sync(kAllLanes, tile, 31);
      before.place.position = __shfl_sync(kAllLanes, before.place.position, 31);
      before.place.head = __shfl_sync(kAllLanes, before.place.head, 31);
    }
  }

 private:
  static constexpr int kWarpSymbols = 32 * kThreadSymbols;
  struct Work {
    bool busy;
    std::uint32_t tile;
    PlacedThreadCode code;
    WarpPlace place;
  };

  __device__ void encode(Work& work, std::uint32_t tile, std::uint64_t start,
                         const Symbols<kThreadSymbols>& symbols, int parity) {
    std::uint32_t* const column = Stage<kThreadSymbols>::set(stage_, parity) + lane_;
    ThreadCode code{};
    if (tile < call_.full_tiles || start + kThreadSymbols <= call_.size) {
      code = encode_thread(symbols, table_, column);
    } else if (start < call_.size) {
      code = encode_rest(call_.input + start, static_cast<int>(call_.size - start), table_, column);
    }
    if (code.missing != 0) {
      cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(call_.result->missing)
          .store(1, cuda::memory_order_relaxed);
    }
    __syncwarp();
    const std::uint32_t up_to = sum_up_to(code.bits);
    if (lane_ == 31) mail_.codes[parity][warp_] = {up_to, code.tail};
    work.tile = tile;
    const bool last_tile = tile == call_.tiles - 1;
    work.code = {code.bits, code.tail, up_to - code.bits, last_tile,
                 last_tile && start < call_.size && call_.size - start <= kThreadSymbols};
  }

  __device__ void write(const Work& work, int parity) {
    write_warp_code<kThreadSymbols>(Stage<kThreadSymbols>::set(stage_, parity), lane_, work.code, work.place,
                                    memory_);
    if (call_.chunk_index != nullptr && lane_ % (kChunkSymbols / kThreadSymbols) == 0) {
      const std::uint64_t start = std::uint64_t{work.tile} * tile_symbols_ + first_;
      if (start < call_.size)
        call_.chunk_index[start / kChunkSymbols] = work.place.position + work.code.offset;
    }
  }

  const KernelCall& call_;
  Mail& mail_;
  const Table table_;
  std::uint32_t* const stage_;
  const int warp_, lane_;
  const std::uint32_t tile_symbols_;
  const std::uint32_t first_;  // index in a tile of the thread's first symbol
  const bool aligned_;
  const StreamMemory memory_;
};

template <int kThreadSymbols, int kRow>
struct Layout {
  static constexpr int kStageBytes = Stage<kThreadSymbols>::kWords * 4;
  static constexpr int shared_bytes(int warps) {
    return SharedTable<kRow>::kBytes + warps * kStageBytes + static_cast<int>(sizeof(Mail));
  }
};

// A thread block has at most kWarps encoding warps and one more. It has Layout::shared_bytes of dynamic
// shared memory.
template <int kThreadSymbols, int kRow, int kWarps>
__global__ void __launch_bounds__(32 * (kWarps + 1), 1)
    encode_kernel(const __grid_constant__ KernelCall call) {
  using Table = SharedTable<kRow>;
  // The shuffle tells the compiler that the value is the same in all lanes.
  const int warp = __shfl_sync(kAllLanes, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  const int warps = blockDim.x / 32 - 1;
  Mail& mail = *reinterpret_cast<Mail*>(shared_memory() + Table::kBytes);
  char* const stages = shared_memory() + Table::kBytes + sizeof(Mail);

  Table::fill(*call.table);
#if __CUDA_ARCH__ >= 900
  // The memory that the preceding kernel zeroes is needed from here on.
  cudaGridDependencySynchronize();
#endif
  if (threadIdx.x == 0) {
    mail.begin(warps);
    mail.first_tile = take_ticket(call.ticket);
  }
  __syncthreads();
  const Table table(lane);
  const std::uint32_t tile = mail.first_tile;
  if (warp == warps) {
    place_tiles<kThreadSymbols>(call, mail, table, lane, warps, tile);
  } else {
    auto* const stage =
        reinterpret_cast<std::uint32_t*>(stages + warp * Layout<kThreadSymbols, kRow>::kStageBytes);
    EncodingWarp<kThreadSymbols, Table>(call, mail, table, stage, warp, lane, warps).run(tile);
  }
}

}  // namespace cu264::vle::fast
