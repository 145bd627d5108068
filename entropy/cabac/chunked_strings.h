// The arithmetic coder of CABAC on the GPU, parallel inside the slices: a lane codes a chunk of a slice. The
// strings are those of code_strings.h, to the bit (docs/cabac.md).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "entropy/cabac/string_layout.h"

namespace cu264::entropy {

// How a batch is cut; benchmarks and tests choose others than the best.
struct ChunkShape {
  int items_log2 = 0;  // items of a chunk, 10 to 12
  int lanes_log2 = 0;  // chunks of a warp, 0 to 5
};

// Returns the shape for a batch of so many macroblocks with such windows.
ChunkShape chunk_shape(std::size_t macroblocks, WindowSize windows = WindowSize::ordinary);

// Device memory for all batches of up to so many pictures.
std::size_t chunk_scratch_bytes(int pictures, int mb_width, int mb_height, int slices,
                                WindowSize windows = WindowSize::ordinary);

// Codes the slices that their windows hold. A batch has fewer than 2^32 macroblocks.
// `d_scratch`, aligned to 256, belongs to the launch until it ends. Asynchronous on `stream`. Throws
// cu264::Error if a launch is refused.
void launch_code_strings_in_chunks(const core::BatchView& batch, const std::uint16_t* d_items,
                                   StringRecord* d_records, std::uint32_t* d_strings, void* d_scratch,
                                   ChunkShape shape, cudaStream_t stream,
                                   WindowSize windows = WindowSize::ordinary);

}  // namespace cu264::entropy
