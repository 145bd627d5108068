#include "entropy/cavlc/published/lag_packing.h"

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {
namespace {

using core::kBlocksPerMacroblock;

constexpr int kThreads = 128, kScanThreads = 1024;

// Each thread block takes one picture. This kernel also clears the words into which lag_pack ORs.
__global__ void __launch_bounds__(kScanThreads)
    place_blocks(std::size_t blocks, const std::uint16_t* d_lengths, std::uint64_t* d_positions,
                 const __grid_constant__ PackedBlocks packed, std::size_t packed_words) {
  __shared__ WarpTotals<std::uint32_t, kScanThreads / 32> s_totals;
  const std::size_t base = blockIdx.x * blocks;
  std::uint64_t position = 0;
  for (std::size_t chunk = 0; chunk < blocks; chunk += 4 * kScanThreads) {
    std::uint32_t lengths[4], sum = 0, all = 0;
    const std::size_t own = chunk + 4 * threadIdx.x;
    for (int i = 0; i < 4; ++i) {
      lengths[i] = own + i < blocks ? d_lengths[base + own + i] : 0;
      sum += lengths[i];
    }
    std::uint64_t at = position + scan_threads<kScanThreads / 32>(sum, 0u, all, s_totals, Plus());
    for (int i = 0; i < 4; ++i) {
      if (own + i < blocks) d_positions[base + own + i] = at;
      at += lengths[i];
    }
    position += all;
    __syncthreads();
  }
  std::uint32_t* const d_words = packed.words + blockIdx.x * packed_words;
  for (std::size_t word = threadIdx.x; word <= position / 32; word += kScanThreads) d_words[word] = 0;
  if (threadIdx.x == 0) packed.bits[blockIdx.x] = position;
}

template <class Codes>
__global__ void __launch_bounds__(kThreads)
    lag_pack(std::size_t all_blocks, std::size_t blocks, const __grid_constant__ Codes codes,
             const std::uint64_t* d_positions, std::uint32_t* d_packed, std::size_t packed_words) {
  const std::size_t block = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (block >= all_blocks) return;
  const int length = codes.lengths[block];
  const std::uint64_t position = d_positions[block];
  std::uint32_t* d_to = d_packed + block / blocks * packed_words + position / 32;
  const int shift = static_cast<int>(position % 32);
  for (int bit = 0; bit < length; bit += 32, ++d_to) {
    const std::uint32_t word = codes.word(block, bit / 32);
    const std::uint32_t high = word >> shift, low = __funnelshift_r(0, word, shift);
    if (high != 0) atomicOr(d_to, high);
    if (low != 0) atomicOr(d_to + 1, low);
  }
}

template <class Codes>
void launch(const LagPackingShape& shape, const Codes& codes, void* scratch, const PackedBlocks& packed,
            cudaStream_t stream) {
  const std::size_t blocks =
      static_cast<std::size_t>(shape.mb_width) * shape.mb_height * kBlocksPerMacroblock;
  const std::size_t all = blocks * shape.pictures;
  const std::size_t words = packed_block_words(shape.mb_width, shape.mb_height);
  auto* const positions = static_cast<std::uint64_t*>(scratch);
  place_blocks<<<static_cast<unsigned>(shape.pictures), kScanThreads, 0, stream>>>(blocks, codes.lengths,
                                                                                   positions, packed, words);
  check_launch("place_blocks");
  lag_pack<<<static_cast<unsigned>((all + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      all, blocks, codes, positions, packed.words, words);
  check_launch("lag_pack");
}

}  // namespace

std::size_t packed_block_words(int mb_width, int mb_height) {
  return static_cast<std::size_t>(mb_width) * mb_height * kMacroblockWords + 1;
}

std::size_t lag_packing_scratch_bytes(int pictures, int mb_width, int mb_height) {
  Arena arena(nullptr);
  arena.take<std::uint64_t>(static_cast<std::size_t>(pictures) * mb_width * mb_height * kBlocksPerMacroblock);
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
