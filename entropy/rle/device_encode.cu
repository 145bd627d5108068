// Run-length coding in one pass. A tile marks its heads, ranks them, and learns by GVLE's scan how many came
// before; a run's length is the distance of its head from the next, so that each tile writes the lengths of
// the runs that end in it.
#include "common/cuda/error_check.h"
#include "cu264/rle.h"
#include "entropy/rle/device_encode.h"
#include "entropy/rle/last_heads.cuh"
#include "entropy/scan/inter_block_scan.cuh"
#include "entropy/scan/state_launch.cuh"
#include "entropy/scan/tile.cuh"

namespace cu264::rle {
namespace {

using namespace scan;

template <class T>
struct EncodeCall {
  EncodeArrays<T> arrays;
  int skew;  // of the input
  std::uint32_t* d_ticket;
  std::uint64_t* d_state;
  LastHeads last_heads;
  std::uint32_t tiles;
};

// Rows of a lane: 16 or 32 symbols.
template <class T>
constexpr int kEncodeRows = sizeof(T) == 1 ? 2 : 4;
template <class T>
constexpr int kEncodeTile = kTileThreads* kEncodeRows<T>* kChunkItems<T>;

// Which of a chunk's symbols differ from the one before.
template <class T>
__device__ __forceinline__ unsigned changes(const uint4& chunk, unsigned previous_word) {
  const unsigned words[5] = {previous_word, chunk.x, chunk.y, chunk.z, chunk.w};
  unsigned marks = 0;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if constexpr (sizeof(T) == 1) {
      const unsigned before = __funnelshift_l(words[w], words[w + 1], 8);
      marks |= bits_of_bytes(__vsetne4(words[w + 1], before)) << 4 * w;
    } else {
      marks |= static_cast<unsigned>(words[w + 1] != words[w]) << w;
    }
  }
  return marks;
}

// The symbol before item `first` at the top of a word, where changes() wants it.
template <class T>
__device__ __forceinline__ unsigned word_before(const EncodeArrays<T>& arrays, std::int64_t first) {
  if (first <= 0 || first > static_cast<std::int64_t>(arrays.size)) return 0;
  return static_cast<unsigned>(arrays.d_input[first - 1]) << (32 - 8 * sizeof(T));
}

template <class T>
__global__ void __launch_bounds__(kTileThreads) encode_tiles(const __grid_constant__ EncodeCall<T> call) {
  constexpr int kItems = kChunkItems<T>, kRows = kEncodeRows<T>, kRow = 32 * kItems;
  __shared__ std::uint32_t s_ticket;
  __shared__ unsigned s_warp_marks[kTileWarps];
  __shared__ std::uint64_t s_before, s_open;
  __shared__ uint4 s_chunks[kEncodeTile<T> / kItems];
  __shared__ std::uint16_t s_heads[kEncodeTile<T>];  // positions in the tile
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const EncodeArrays<T>& arrays = call.arrays;
  const std::uint32_t tile = take_ticket(call.d_ticket, s_ticket);
  const std::int64_t tile_first = static_cast<std::int64_t>(tile) * kEncodeTile<T> - call.skew;
  const int in_tile = warp * kRows * kRow + lane * kItems;
  const std::int64_t first = tile_first + in_tile;
  const bool inside =
      tile_first >= 0 && tile_first + kEncodeTile<T> <= static_cast<std::int64_t>(arrays.size);

  uint4 chunks[kRows];
  load_chunks<T>(arrays.d_input, arrays.size, first, inside, chunks);
  unsigned marks[kRows], ranks[kRows];
  unsigned row_end = lane == 0 ? word_before(arrays, first) : 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    const unsigned previous = __shfl_up_sync(kAllLanes, chunks[row].w, 1);
    marks[row] = changes<T>(chunks[row], lane == 0 ? row_end : previous);
    row_end = __shfl_sync(kAllLanes, chunks[row].w, 31);
    const std::int64_t i = first + row * kRow;
    if (!inside) marks[row] &= items_inside(i, arrays.size, kItems);
    // Cuts, the beginning among them.
    const std::int64_t cut = (i + kItems - 1) & ~static_cast<std::int64_t>(kCut - 1);
    if (cut >= i && cut >= 0 && cut < static_cast<std::int64_t>(arrays.size)) marks[row] |= 1u << (cut - i);
    s_chunks[(in_tile + row * kRow) / kItems] = chunks[row];
  }
  const unsigned heads = rank_marks(marks, ranks, s_warp_marks);
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    unsigned rank = ranks[row];
    for (unsigned left = marks[row]; left != 0; left &= left - 1)
      s_heads[rank++] = static_cast<std::uint16_t>(in_tile + row * kRow + __ffs(static_cast<int>(left)) - 1);
    // The last of the tile tells at once.
    if (marks[row] != 0 && rank == heads)
      call.last_heads.note(tile, true, static_cast<std::uint64_t>(tile_first + s_heads[heads - 1]));
  }
  if (heads == 0 && threadIdx.x == 0) call.last_heads.note(tile, false, 0);
  const bool last_tile = tile + 1 == call.tiles;
  if (warp == 0) {
    const std::uint64_t before = InterBlockScan{call.d_state}(tile, heads);
    if (lane == 0) s_before = before;
  } else if (warp == 1 && tile > 0 && (heads > 0 || last_tile)) {
    const std::uint64_t open = call.last_heads.before(tile);
    if (lane == 0) s_open = open;
  }
  __syncthreads();

  const std::uint64_t before = s_before;
  const T* const s_symbols = reinterpret_cast<const T*>(s_chunks);
  T* const d_symbols = arrays.d_symbols + before;
  std::uint32_t* const d_ended = arrays.d_lengths + before - 1;
  for (unsigned i = threadIdx.x; i < heads; i += kTileThreads) {
    const unsigned head = s_heads[i];
    d_symbols[i] = s_symbols[head];
    if (i > 0)
      d_ended[i] = head - s_heads[i - 1];
    else if (before > 0)
      d_ended[0] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(tile_first + head) - s_open);
  }
  if (last_tile && threadIdx.x == 0) {
    const std::uint64_t head =
        heads > 0 ? static_cast<std::uint64_t>(tile_first + s_heads[heads - 1]) : s_open;
    d_ended[heads] = static_cast<std::uint32_t>(arrays.size - head);
    *arrays.d_runs = before + heads;
  }
}

template <class T>
void launch(const EncodeArrays<T>& arrays, void* d_scratch, void* stream) {
  if (arrays.size == 0) {
    check_cuda(cudaMemsetAsync(arrays.d_runs, 0, sizeof(std::uint64_t), static_cast<cudaStream_t>(stream)),
               "cudaMemsetAsync");
    return;
  }
  const int skew = chunk_skew(arrays.d_input);
  const std::uint64_t tiles = tile_count(arrays.size, skew, kEncodeTile<T>);
  const std::size_t states = InterBlockScan::state_count(tiles);
  std::byte* const d_bytes = static_cast<std::byte*>(d_scratch);
  std::uint64_t* const d_state = reinterpret_cast<std::uint64_t*>(d_bytes + kTicketBytes);
  const EncodeCall<T> call{arrays,
                           skew,
                           reinterpret_cast<std::uint32_t*>(d_bytes),
                           d_state,
                           {d_state + states},
                           static_cast<std::uint32_t>(tiles)};
  launch_with_state(encode_tiles<T>, "encode_tiles", call, tiles, kTileThreads, d_scratch,
                    kTicketBytes + (states + tiles) * sizeof(std::uint64_t), stream);
}

}  // namespace

std::size_t encode_scratch_bytes(std::uint64_t size) {
  const std::uint64_t most = tile_count(size, 16, kEncodeTile<std::int32_t>);  // the smaller tile
  return kTicketBytes + 2 * InterBlockScan::state_count(most) * sizeof(std::uint64_t);
}
void launch_encode(const EncodeArrays<std::uint8_t>& arrays, void* d_scratch, void* stream) {
  launch(arrays, d_scratch, stream);
}
void launch_encode(const EncodeArrays<std::int32_t>& arrays, void* d_scratch, void* stream) {
  launch(arrays, d_scratch, stream);
}

}  // namespace cu264::rle
