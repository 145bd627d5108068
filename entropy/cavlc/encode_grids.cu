// Encodes grids of blocks. A thread codes a block with the block coder of the encoder's own kernel, and a
// thread block joins the codes of a tile of consecutive blocks in shared memory. A scan of the tiles' lengths
// (entropy/scan) tells where they begin in the stream, and a second kernel shifts them there.
#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "core/cavlc_block.h"
#include "cu264/status.h"
#include "entropy/cavlc/block_coder.cuh"
#include "entropy/cavlc/grid_kernels.h"
#include "entropy/scan/device_scan.h"

namespace cu264::cavlc {
namespace {

constexpr int kThreads = 128;  // and blocks of a tile
constexpr int kWarps = kThreads / 32;
constexpr int kBlockWords = (kMaxBlockBits + 31) / 32;
constexpr int kTileWords = kThreads * kMaxBlockBits / 32;
static_assert(kThreads * kMaxBlockBits % 32 == 0);

struct Tiles {
  std::uint64_t blocks;  // of all grids
  std::uint64_t count;
  std::uint32_t* words;      // [tile][kTileWords]; the last word in use is filled up with zeros
  std::uint32_t* bits;       // [tile]
  std::uint64_t* positions;  // [tile], in the stream
};

__device__ void fail(DeviceResult* d_result, ErrorCode code) {
  atomicMax(&d_result->failure, static_cast<unsigned>(code));
}

// Returns whether all levels are within kMaxLevel.
__device__ bool in_range(const entropy::BlockLevels& levels) {
  const std::uint32_t pairs[8] = {levels.low.x,  levels.low.y,  levels.low.z,  levels.low.w,
                                  levels.high.x, levels.high.y, levels.high.z, levels.high.w};
  bool good = true;
#pragma unroll
  for (const std::uint32_t pair : pairs) {
    const int first = static_cast<std::int16_t>(pair), second = static_cast<int>(pair) >> 16;
    good = good && abs(first) <= kMaxLevel && abs(second) <= kMaxLevel;
  }
  return good;
}

// Words of a block's code in shared memory; equal words of all blocks lie side by side.
struct CodeStore {
  std::uint32_t* s_words;
  __device__ __forceinline__ void operator()(int index, std::uint32_t word) const {
    s_words[index * kThreads] = word;
  }
};

// The shared memory of a tile's threads.
struct TileMemory {
  entropy::LevelCodes level_codes;
  entropy::TokenCodes token_codes;
  std::uint32_t codes[kBlockWords * kThreads];
  std::uint32_t words[kTileWords + 1];
  std::uint8_t counts[kThreads];
  std::uint32_t first_in_grid;
  WarpTotals<std::uint32_t, kWarps> totals;
};

// nC of a thread's block (9.2.1), whose number in its grid is in_grid.
__device__ int computed_nC(const Grids& grids, const entropy::BlockLevels* d_block, std::uint32_t in_grid,
                           const std::uint8_t* s_counts, std::uint32_t pair) {
  const auto width = static_cast<std::uint32_t>(grids.width);
  const auto count_at = [&](std::uint32_t distance) -> int {
    if (threadIdx.x >= distance) return s_counts[threadIdx.x - distance];
    const entropy::BlockLevels levels = entropy::load_levels(d_block - distance);
    return __popc(entropy::level_signs(levels, pair).nonzero);
  };
  return core::nc_from_neighbours(in_grid % width > 0 ? count_at(1) : -1,
                                  in_grid >= width ? count_at(width) : -1);
}

__global__ void __launch_bounds__(kThreads)
    encode_tiles(const __grid_constant__ DeviceEncode call, const __grid_constant__ Tiles tiles,
                 const std::uint32_t* d_zeros_and_runs) {
  __shared__ __align__(entropy::LevelCodes::kAlignment) TileMemory s;
  __shared__ __align__(32) std::uint8_t s_levels[kWarps * entropy::StagedLevels::kWarpBytes];
  s.level_codes.fill<kThreads>();
  s.token_codes.fill<kThreads>();
  const std::uint64_t tile = blockIdx.x, first = tile * kThreads, block = first + threadIdx.x;
  const auto grid_blocks = static_cast<std::uint32_t>(call.grids.width) * call.grids.height;
  if (threadIdx.x == 0) s.first_in_grid = static_cast<std::uint32_t>(first % grid_blocks);

  const bool exists = block < tiles.blocks;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const auto* const d_block = reinterpret_cast<const entropy::BlockLevels*>(call.d_levels) + block;
  const std::uint32_t pair = entropy::pair_of_ones();
  entropy::BlockLevels levels;
  if (exists) levels = entropy::load_levels(d_block);
  const entropy::LevelSigns signs = entropy::level_signs(levels, pair);
  const entropy::StagedLevels staged(
      entropy::StagedLevels::address(s_levels + warp * entropy::StagedLevels::kWarpBytes, lane));
  staged.store(levels);
  s.counts[threadIdx.x] = static_cast<std::uint8_t>(__popc(signs.nonzero));
  // The lowest bit of `nonzero` above its sixteen unused ones stands for level 15.
  const bool too_many = call.grids.levels == 15 && (signs.nonzero & 0x10000u) != 0;
  if (too_many || !in_range(levels)) fail(call.d_result, ErrorCode::invalid_argument);
  __syncthreads();

  const std::uint32_t in_grid = (s.first_in_grid + threadIdx.x) % grid_blocks;
  const entropy::SharedTokens tokens(s.token_codes);
  const entropy::SharedAddress level_codes = s.level_codes.address();
  std::uint32_t length = 0;
  if (exists) {
    int nC = 0;
    if (call.d_nC != nullptr) {
      nC = call.d_nC[block];
      if (nC > 16) fail(call.d_result, ErrorCode::invalid_argument);
    } else {
      nC = computed_nC(call.grids, d_block, in_grid, s.counts, pair);
    }
    const int column = core::coeff_token_column(nC);
    entropy::BlockSink<CodeStore> sink{CodeStore{s.codes + threadIdx.x}};
    if (signs.nonzero != 0) {
      const auto most = [&] { return call.grids.levels; };
      const entropy::BlockTables<entropy::SharedTokens> tables{d_zeros_and_runs, level_codes, tokens};
      const entropy::BlockSymbols symbols = entropy::symbols_of(tables, signs, column, most);
      entropy::put_token_and_levels(sink, tables, staged, symbols);
      sink.put_last(entropy::true_end(symbols, most));
    } else {
      const core::CodeWord token = tokens(column, 0, 0).code;
      sink.queue.start(token.bits, token.length);
    }
    sink.make_room();
    sink.store(sink.words, entropy::left_aligned(sink.queue.low, sink.queue.count));
    length = static_cast<std::uint32_t>(32 * sink.words + sink.queue.count);
  }

  std::uint32_t bits = 0;
  const std::uint32_t position = scan_threads<kWarps>(length, 0u, bits, s.totals, Plus());
  for (std::uint32_t word = threadIdx.x; word <= bits / 32; word += kThreads) s.words[word] = 0;
  __syncthreads();
  const std::uint32_t shift = position % 32;
  for (std::uint32_t i = 0; 32 * i < length; ++i) {
    const std::uint32_t word = s.codes[i * kThreads + threadIdx.x];
    const std::uint32_t high = word >> shift, low = __funnelshift_r(0, word, shift);
    if (high != 0) atomicOr(&s.words[position / 32 + i], high);
    if (low != 0) atomicOr(&s.words[position / 32 + i + 1], low);
  }
  // The second kernel adds the tile's position.
  if (exists && in_grid == 0) call.d_index[block / grid_blocks] = position;
  if (threadIdx.x == 0) tiles.bits[tile] = bits;
  __syncthreads();
  std::uint32_t* const d_words = tiles.words + tile * kTileWords;
  for (std::uint32_t word = threadIdx.x; 32 * word < bits; word += kThreads) d_words[word] = s.words[word];
}

// 32 bits of a tile from position `bit` on. Bits beyond its last word are zero.
__device__ std::uint32_t word_at(const Tiles& tiles, std::uint64_t tile, std::uint32_t bit) {
  const std::uint32_t* const d_words = tiles.words + tile * kTileWords;
  const std::uint32_t bits = tiles.bits[tile], word = bit / 32;
  const std::uint32_t high = 32 * word < bits ? d_words[word] : 0;
  const std::uint32_t low = 32 * (word + 1) < bits ? d_words[word + 1] : 0;
  return __funnelshift_l(low, high, bit % 32);
}

// A word of the stream is written by the tile in which it ends. Every tile but the last has at least one bit
// for each of its blocks, so no word has bits of more than two tiles.
static_assert(kThreads >= 32);

__global__ void __launch_bounds__(kThreads)
    move_tiles(const __grid_constant__ DeviceEncode call, const __grid_constant__ Tiles tiles) {
  const std::uint64_t tile = blockIdx.x, position = tiles.positions[tile];
  const std::uint64_t end = position + tiles.bits[tile];
  const bool last = tile + 1 == tiles.count;
  const std::uint64_t words = last ? (end + 31) / 32 : end / 32, capacity = call.capacity / 4;
  auto* const d_stream = reinterpret_cast<std::uint32_t*>(call.d_stream);
  for (std::uint64_t word = position / 32 + threadIdx.x; word < words && word < capacity; word += kThreads) {
    std::uint32_t value;
    if (32 * word >= position) {
      value = word_at(tiles, tile, static_cast<std::uint32_t>(32 * word - position));
    } else {
      const auto before = static_cast<std::uint32_t>(position - 32 * word);
      value = word_at(tiles, tile - 1, tiles.bits[tile - 1] - before) | word_at(tiles, tile, 0) >> before;
    }
    d_stream[word] = __byte_perm(value, 0, 0x0123);
  }
  const auto grid_blocks = static_cast<std::uint32_t>(call.grids.width) * call.grids.height;
  const std::uint64_t block = tile * kThreads + threadIdx.x;
  if (block < tiles.blocks && block % grid_blocks == 0) call.d_index[block / grid_blocks] += position;
  if (threadIdx.x != 0 || !last) return;
  call.d_index[call.grids.count] = end;
  call.d_result->bits = end;
  if (words > capacity) fail(call.d_result, ErrorCode::bad_output);
}

struct GridScratch {
  std::uint32_t* zeros_and_runs;
  Tiles tiles;
  void* scan;
};

GridScratch carve(Arena& arena, const Grids& grids) {
  GridScratch scratch{};
  scratch.tiles.blocks = grids.blocks();
  scratch.tiles.count = (grids.blocks() + kThreads - 1) / kThreads;
  scratch.zeros_and_runs = arena.take<std::uint32_t>(entropy::kZerosAndRunsEntries);
  scratch.tiles.words = arena.take<std::uint32_t>(scratch.tiles.count * kTileWords);
  scratch.tiles.bits = arena.take<std::uint32_t>(scratch.tiles.count);
  scratch.tiles.positions = arena.take<std::uint64_t>(scratch.tiles.count);
  scratch.scan = arena.take(scan::scan_scratch_bytes(scratch.tiles.count));
  return scratch;
}

}  // namespace

std::size_t encode_scratch_bytes(const Grids& grids) {
  Arena arena(nullptr);
  carve(arena, grids);
  return arena.bytes();
}

void launch_encode_grids(const DeviceEncode& call, void* d_scratch, void* stream) {
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  check_cuda(cudaMemsetAsync(call.d_result, 0, sizeof(DeviceResult), cuda_stream), "cudaMemsetAsync");
  if (call.grids.blocks() == 0) {
    check_cuda(cudaMemsetAsync(call.d_index, 0, sizeof(std::uint64_t), cuda_stream), "cudaMemsetAsync");
    return;
  }
  Arena arena(d_scratch);
  const GridScratch scratch = carve(arena, call.grids);
  const auto tiles = static_cast<unsigned>(scratch.tiles.count);
  entropy::launch_make_zeros_and_runs(scratch.zeros_and_runs, cuda_stream);
  encode_tiles<<<tiles, kThreads, 0, cuda_stream>>>(call, scratch.tiles, scratch.zeros_and_runs);
  check_launch("encode_tiles");
  scan::launch_scan({scratch.tiles.bits, scratch.tiles.positions, scratch.tiles.count, scan::Kind::exclusive},
                    scratch.scan, stream);
  move_tiles<<<tiles, kThreads, 0, cuda_stream>>>(call, scratch.tiles);
  check_launch("move_tiles");
}

}  // namespace cu264::cavlc
