#include "entropy/cavlc/published/entropy_kernels.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/published/block_codes.h"
#include "entropy/cavlc/published/cavlc_su.h"
#include "entropy/cavlc/published/cavlcu_tuned.h"
#include "entropy/cavlc/published/join_blocks.h"
#include "entropy/cavlc/published/raster_input.h"

namespace cu264::entropy {
namespace {

struct CavlcSuMemory {
  ShortCodes codes;
  void *input = nullptr, *scratch = nullptr;
};

CavlcSuMemory take_cavlc_su(Arena& arena, int pictures, int mb_width, int mb_height) {
  const std::size_t blocks = block_code_count(pictures, mb_width, mb_height);
  CavlcSuMemory memory;
  memory.codes.shorts = arena.take<std::uint16_t>(blocks * kBlockShorts);
  memory.codes.overflow = arena.take<std::uint16_t>(blocks * kOverflowShorts);
  memory.codes.lengths = arena.take<std::uint16_t>(blocks);
  memory.input = arena.take(raster_input_bytes(pictures, mb_width, mb_height));
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
  const RasterInput input = launch_raster_input(batch, memory.input, stream);
  launch_cavlc_su(input, memory.scratch, memory.codes, stream);
  launch_join(batch, memory.codes, bits, stream);
}

std::size_t cavlcu_tuned_bytes(int pictures, int mb_width, int mb_height) {
  Arena arena(nullptr);
  take_block_codes(arena, block_code_count(pictures, mb_width, mb_height));
  arena.take(cavlcu_tuned_scratch_bytes(pictures, mb_width, mb_height));
  return arena.bytes();
}

BlockCodes launch_cavlcu_tuned_blocks(const core::BatchView& batch, const CodeScratch& scratch, void* own,
                                      cudaStream_t stream) {
  Arena arena(own);
  const BlockCodes codes =
      take_block_codes(arena, block_code_count(batch.pictures, batch.mb_width, batch.mb_height));
  const std::size_t bytes = cavlcu_tuned_scratch_bytes(batch.pictures, batch.mb_width, batch.mb_height);
  std::uint8_t* const hand_over = arena.take(bytes);
  check_cuda(cudaMemsetAsync(hand_over, 0, bytes, stream), "cudaMemsetAsync");
  launch_cavlcu_tuned(batch, scratch.zeros_and_runs, hand_over, codes, stream);
  return codes;
}

void launch_cavlcu_tuned_groups(const core::BatchView& batch, const CodeScratch& scratch, void* own,
                                const GroupBits& bits, cudaStream_t stream) {
  launch_join(batch, launch_cavlcu_tuned_blocks(batch, scratch, own, stream), bits, stream);
}

}  // namespace

const EntropyKernel kCavlcSu{"cavlc_su", cavlc_su_bytes, launch_cavlc_su_groups};
const EntropyKernel kCavlcuTuned{"cavlcu_tuned", cavlcu_tuned_bytes, launch_cavlcu_tuned_groups,
                                 launch_cavlcu_tuned_blocks};

}  // namespace cu264::entropy
