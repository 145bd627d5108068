// Lag packing (Su et al., section 3.3 of the CAVLCU paper): once all blocks are coded, their positions follow
// from their lengths, and all codes are moved there at once. It is a part of CAVLC_SU. CAVLCU leaves the
// codes of blocks as they are; with this after it, it does as much as CAVLC_SU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "entropy/cavlc/published/block_codes.h"

namespace cu264::entropy {

// The codes of a picture's blocks, one after the other in coding order.
struct PackedBlocks {
  std::uint32_t* words = nullptr;  // [picture][packed_block_words()], most significant bit first
  std::uint64_t* bits = nullptr;   // [picture]
};

std::size_t packed_block_words(int mb_width, int mb_height);

// Bytes of scratch for batches of up to `pictures`. The scratch must be aligned to 256.
std::size_t lag_packing_scratch_bytes(int pictures, int mb_width, int mb_height);

struct LagPackingShape {
  int pictures, mb_width, mb_height;
};

// No macroblock may have more than 3200 bits. Asynchronous on `stream`. Throws cu264::Error if a launch is
// refused.
void launch_lag_packing(const LagPackingShape& shape, const BlockCodes& codes, void* scratch,
                        const PackedBlocks& packed, cudaStream_t stream);
void launch_lag_packing(const LagPackingShape& shape, const ShortCodes& codes, void* scratch,
                        const PackedBlocks& packed, cudaStream_t stream);

}  // namespace cu264::entropy
