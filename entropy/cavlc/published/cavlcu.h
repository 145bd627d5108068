// CAVLCU as Fuentes-Alventosa et al. published it (The Journal of Supercomputing 78, 2022), step by step as
// sections 4.1 to 4.6 describe it and extended to all kinds of blocks. docs/papers.md lists what differs.
// cavlcu_tuned.h is a faster form. The encoder uses code_batch.h unless Config::entropy asks for this coder.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "entropy/cavlc/published/block_codes.h"
#include "entropy/cavlc/published/raster_input.h"

namespace cu264::entropy {

enum class CavlcuBlocks {
  luma,  // the 16 luma blocks of a macroblock, which are all that the paper's kernel codes
  all
};

// Bytes of scratch for batches of up to `pictures`. The scratch must be aligned to 256.
std::size_t cavlcu_scratch_bytes(int pictures, int mb_width, int mb_height);

// Prepares a scratch: clears the arrays of the hand-over and writes the tables. Every launch_cavlcu leaves it
// ready for the next one with the same shape. Asynchronous on `stream`; throws cu264::Error if a launch is
// refused.
void launch_prepare_cavlcu(int pictures, int mb_width, int mb_height, void* scratch, cudaStream_t stream);

// Codes the blocks; with CavlcuBlocks::luma, the codes of other blocks are not written. Asynchronous on
// `stream`; throws cu264::Error if the launch is refused.
void launch_cavlcu(const RasterInput& input, CavlcuBlocks blocks, void* scratch, const BlockCodes& codes,
                   cudaStream_t stream);

}  // namespace cu264::entropy
