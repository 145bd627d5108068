// CAVLC_SU: the GPU coder of Su et al. (2011, 2014) as described in the CAVLCU paper, which compares itself
// with it: two scans, coding by component, lag packing. For comparison only; the encoder uses code_batch.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "entropy/cavlc/published/block_codes.h"

namespace cu264::entropy {

// The codes of a picture's blocks, one after the other in coding order.
struct PackedBlocks {
  std::uint32_t* words = nullptr;  // [picture][packed_block_words()], most significant bit first
  std::uint64_t* bits = nullptr;   // [picture]
};

std::size_t packed_block_words(int mb_width, int mb_height);

// Scratch for batches of up to `pictures`; aligned to 256.
std::size_t cavlc_su_scratch_bytes(int pictures, int mb_width, int mb_height);

// Reads macroblocks and levels; total_coeff it counts itself. No macroblock may have more than 3200 bits.
// Asynchronous on `stream`. Throws cu264::Error if a launch is refused.
void launch_cavlc_su(const core::BatchView& batch, void* scratch, const BlockCodes& codes,
                     const PackedBlocks& packed, cudaStream_t stream);

}  // namespace cu264::entropy
