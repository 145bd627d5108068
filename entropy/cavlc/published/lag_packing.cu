#include "entropy/cavlc/published/lag_packing.h"

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/scan/device_scan.h"

namespace cu264::entropy {
namespace {

using core::kBlocksPerMacroblock;

constexpr int kThreads = 256, kWarps = kThreads / 32;

// A tile is kThreads consecutive blocks of a picture.
struct Packing {
  std::uint32_t blocks;           // of a picture
  std::uint32_t tiles;            // of a picture
  std::size_t words;              // of a picture's packed codes
  std::uint32_t* tile_bits;       // [picture][tile]
  std::uint64_t* tile_positions;  // [picture][tile], counted through all pictures
  PackedBlocks packed;

  __device__ std::uint64_t position(std::uint32_t picture, std::uint32_t tile) const {
    const std::uint64_t* const d_first = tile_positions + std::size_t{picture} * tiles;
    return d_first[tile] - d_first[0];
  }
};

// The length of the thread's block; the thread block is (tile, picture).
__device__ std::uint32_t length_of(const Packing& packing, const std::uint16_t* d_lengths,
                                   std::size_t& block) {
  const std::uint32_t in_picture = blockIdx.x * kThreads + threadIdx.x;
  block = std::size_t{blockIdx.y} * packing.blocks + in_picture;
  return in_picture < packing.blocks ? d_lengths[block] : 0;
}

__global__ void __launch_bounds__(kThreads)
    sum_lengths(const __grid_constant__ Packing packing, const std::uint16_t* d_lengths) {
  __shared__ WarpTotals<std::uint32_t, kWarps> s_totals;
  std::size_t block;
  std::uint32_t all = 0;
  scan_threads<kWarps>(length_of(packing, d_lengths, block), 0u, all, s_totals, Plus());
  if (threadIdx.x == 0) packing.tile_bits[std::size_t{blockIdx.y} * packing.tiles + blockIdx.x] = all;
}

// Clears the words that begin in the tile, into which lag_pack ORs.
__global__ void __launch_bounds__(kThreads) clear_words(const __grid_constant__ Packing packing) {
  const std::uint64_t begin = packing.position(blockIdx.y, blockIdx.x);
  const std::uint64_t end = begin + packing.tile_bits[std::size_t{blockIdx.y} * packing.tiles + blockIdx.x];
  const bool last = blockIdx.x + 1 == packing.tiles;
  std::uint32_t* const d_words = packing.packed.words + blockIdx.y * packing.words;
  for (std::uint64_t word = (begin + 31) / 32 + threadIdx.x; 32 * word < end; word += kThreads)
    d_words[word] = 0;
  if (last && threadIdx.x == 0) packing.packed.bits[blockIdx.y] = end;
}

template <class Codes>
__global__ void __launch_bounds__(kThreads)
    lag_pack(const __grid_constant__ Packing packing, const __grid_constant__ Codes codes) {
  __shared__ WarpTotals<std::uint32_t, kWarps> s_totals;
  std::size_t block;
  std::uint32_t all = 0;
  const std::uint32_t length = length_of(packing, codes.lengths, block);
  const std::uint64_t position =
      packing.position(blockIdx.y, blockIdx.x) + scan_threads<kWarps>(length, 0u, all, s_totals, Plus());
  std::uint32_t* d_to = packing.packed.words + blockIdx.y * packing.words + position / 32;
  const int shift = static_cast<int>(position % 32);
  for (std::uint32_t bit = 0; bit < length; bit += 32, ++d_to) {
    const std::uint32_t word = codes.word(block, static_cast<int>(bit / 32));
    const std::uint32_t high = word >> shift, low = __funnelshift_r(0, word, shift);
    if (high != 0) atomicOr(d_to, high);
    if (low != 0) atomicOr(d_to + 1, low);
  }
}

std::uint32_t blocks_of(int mb_width, int mb_height) {
  return static_cast<std::uint32_t>(mb_width * mb_height * kBlocksPerMacroblock);
}

// The scratch has the arrays of `packing` and, returned, that of the scan.
void* carve(Arena& arena, Packing& packing, int pictures) {
  packing.tiles = (packing.blocks + kThreads - 1) / kThreads;
  const std::size_t tiles = static_cast<std::size_t>(pictures) * packing.tiles;
  packing.tile_bits = arena.take<std::uint32_t>(tiles);
  packing.tile_positions = arena.take<std::uint64_t>(tiles);
  return arena.take(scan::scan_scratch_bytes(tiles));
}

template <class Codes>
void launch(const LagPackingShape& shape, const Codes& codes, void* scratch, const PackedBlocks& packed,
            cudaStream_t stream) {
  Packing packing{};
  packing.blocks = blocks_of(shape.mb_width, shape.mb_height);
  packing.words = packed_block_words(shape.mb_width, shape.mb_height);
  packing.packed = packed;
  Arena arena(scratch);
  void* const scan_scratch = carve(arena, packing, shape.pictures);
  const dim3 tiles(packing.tiles, static_cast<unsigned>(shape.pictures));
  sum_lengths<<<tiles, kThreads, 0, stream>>>(packing, codes.lengths);
  check_launch("sum_lengths");
  const std::uint64_t all = static_cast<std::uint64_t>(shape.pictures) * packing.tiles;
  const scan::ScanArrays<std::uint64_t> sums{packing.tile_bits, packing.tile_positions, all,
                                             scan::Kind::exclusive};
  scan::launch_scan(sums, scan_scratch, stream);
  clear_words<<<tiles, kThreads, 0, stream>>>(packing);
  check_launch("clear_words");
  lag_pack<<<tiles, kThreads, 0, stream>>>(packing, codes);
  check_launch("lag_pack");
}

}  // namespace

std::size_t packed_block_words(int mb_width, int mb_height) {
  return static_cast<std::size_t>(mb_width) * mb_height * kMacroblockWords + 1;
}

std::size_t lag_packing_scratch_bytes(int pictures, int mb_width, int mb_height) {
  Packing packing{};
  packing.blocks = blocks_of(mb_width, mb_height);
  Arena arena(nullptr);
  carve(arena, packing, pictures);
  return arena.bytes();
}

void launch_lag_packing(const LagPackingShape& shape, const BlockCodes& codes, void* scratch,
                        const PackedBlocks& packed, cudaStream_t stream) {
  launch(shape, codes, scratch, packed, stream);
}
void launch_lag_packing(const LagPackingShape& shape, const ShortCodes& codes, void* scratch,
                        const PackedBlocks& packed, cudaStream_t stream) {
  launch(shape, codes, scratch, packed, stream);
}

}  // namespace cu264::entropy
