// CAVLCU as a kernel of the encoder (Config::entropy). Its codes of blocks are joined to groups, or packed as
// they are.
#include <cuda_runtime_api.h>

#include <cstddef>

#include "common/cuda/arena.h"
#include "entropy/cavlc/published/cavlcu.h"
#include "entropy/cavlc/published/entropy_kernels.h"
#include "entropy/cavlc/published/join_blocks.h"
#include "entropy/cavlc/published/raster_input.h"

namespace cu264::entropy {
namespace {

struct CavlcuMemory {
  BlockCodes codes;
  void *input = nullptr, *scratch = nullptr;
};

CavlcuMemory take_cavlcu(Arena& arena, int pictures, int mb_width, int mb_height) {
  CavlcuMemory memory;
  memory.codes = take_block_codes(arena, block_code_count(pictures, mb_width, mb_height));
  memory.input = arena.take(raster_input_bytes(pictures, mb_width, mb_height));
  memory.scratch = arena.take(cavlcu_scratch_bytes(pictures, mb_width, mb_height));
  return memory;
}

std::size_t cavlcu_bytes(int pictures, int mb_width, int mb_height) {
  Arena arena(nullptr);
  take_cavlcu(arena, pictures, mb_width, mb_height);
  return arena.bytes();
}

BlockCodes launch_cavlcu_blocks(const core::BatchView& batch, const CodeScratch&, void* own,
                                cudaStream_t stream) {
  Arena arena(own);
  const CavlcuMemory memory = take_cavlcu(arena, batch.pictures, batch.mb_width, batch.mb_height);
  const RasterInput input = launch_raster_input(batch, memory.input, stream);
  launch_prepare_cavlcu(batch.pictures, batch.mb_width, batch.mb_height, memory.scratch, stream);
  launch_cavlcu(input, CavlcuBlocks::all, memory.scratch, memory.codes, stream);
  return memory.codes;
}

void launch_cavlcu_groups(const core::BatchView& batch, const CodeScratch& scratch, void* own,
                          const GroupBits& bits, cudaStream_t stream) {
  launch_join(batch, launch_cavlcu_blocks(batch, scratch, own, stream), bits, stream);
}

}  // namespace

const EntropyKernel kCavlcu{"cavlcu", cavlcu_bytes, launch_cavlcu_groups, launch_cavlcu_blocks};

}  // namespace cu264::entropy
