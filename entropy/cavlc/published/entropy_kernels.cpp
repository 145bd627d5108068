#include "entropy/cavlc/published/entropy_kernels.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "core/block.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/published/cavlc_su.h"
#include "entropy/cavlc/published/cavlcu.h"
#include "entropy/cavlc/published/join_blocks.h"

namespace cu264::entropy {
namespace {

// The codes of the blocks, which both coders leave in the first part of their memory.
BlockCodes take_block_codes(Arena& arena, int pictures, int mb_width, int mb_height) {
  const std::size_t blocks =
      static_cast<std::size_t>(pictures) * mb_width * mb_height * core::kBlocksPerMacroblock;
  BlockCodes codes;
  codes.words = arena.take<std::uint32_t>(blocks * kBlockWords);
  codes.lengths = arena.take<std::uint16_t>(blocks);
  return codes;
}

struct CavlcSuMemory {
  BlockCodes codes;
  PackedBlocks packed;
  std::uint8_t* scratch = nullptr;
};

CavlcSuMemory take_cavlc_su(Arena& arena, int pictures, int mb_width, int mb_height) {
  CavlcSuMemory memory;
  memory.codes = take_block_codes(arena, pictures, mb_width, mb_height);
  memory.packed.words = arena.take<std::uint32_t>(pictures * packed_block_words(mb_width, mb_height));
  memory.packed.bits = arena.take<std::uint64_t>(static_cast<std::size_t>(pictures));
  memory.scratch = arena.take(cavlc_su_scratch_bytes(pictures, mb_width, mb_height));
  return memory;
}

std::size_t cavlc_su_bytes(int pictures, int mb_width, int mb_height) {
  Arena arena(nullptr);
  take_cavlc_su(arena, pictures, mb_width, mb_height);
  return arena.bytes();
}

void launch_cavlc_su_groups(const core::BatchView& batch, const CodeScratch&, void* own,
                            const GroupBits& bits, cudaStream_t stream) {
  Arena arena(own);
  const CavlcSuMemory memory = take_cavlc_su(arena, batch.pictures, batch.mb_width, batch.mb_height);
  launch_cavlc_su(batch, memory.scratch, memory.codes, memory.packed, stream);
  launch_join(batch, memory.codes, bits, stream);
}

std::size_t cavlcu_bytes(int pictures, int mb_width, int mb_height) {
  Arena arena(nullptr);
  take_block_codes(arena, pictures, mb_width, mb_height);
  arena.take(cavlcu_scratch_bytes(pictures, mb_width, mb_height));
  return arena.bytes();
}

void launch_cavlcu_groups(const core::BatchView& batch, const CodeScratch& scratch, void* own,
                          const GroupBits& bits, cudaStream_t stream) {
  Arena arena(own);
  const BlockCodes codes = take_block_codes(arena, batch.pictures, batch.mb_width, batch.mb_height);
  const std::size_t bytes = cavlcu_scratch_bytes(batch.pictures, batch.mb_width, batch.mb_height);
  std::uint8_t* const hand_over = arena.take(bytes);
  check_cuda(cudaMemsetAsync(hand_over, 0, bytes, stream), "cudaMemsetAsync");
  launch_cavlcu(batch, scratch.zeros_and_runs, hand_over, codes, stream);
  launch_join(batch, codes, bits, stream);
}

}  // namespace

const EntropyKernel kCavlcSu{"cavlc_su", cavlc_su_bytes, launch_cavlc_su_groups};
const EntropyKernel kCavlcu{"cavlcu", cavlcu_bytes, launch_cavlcu_groups};

}  // namespace cu264::entropy
