// The stages `code` and `pack` of CABAC on the GPU (docs/cabac.md): binarisation, the arithmetic coder, which
// is parallel inside the slices where that is possible, and the packer.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "core/slice_header.h"
#include "entropy/cabac/string_layout.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::entropy {

// Device memory, aligned to 256. It need not be initialised.
struct CabacMemory {
  void* scratch = nullptr;  // cabac_scratch_bytes(): belongs to a launch until it ends
  // cabac_chunk_bytes(): belongs to a launch, too, and may overlap the batch's levels. It is written after
  // they have been binarised.
  void* chunks = nullptr;
  std::uint8_t* stream = nullptr;  // cabac_stream_bytes()
};

std::size_t cabac_scratch_bytes(int pictures, int mb_width, int mb_height, int slices);
std::size_t cabac_chunk_bytes(int pictures, int mb_width, int mb_height, int slices);
std::size_t cabac_stream_bytes(int pictures, int mb_width, int mb_height, int slices);

// A lane codes a whole slice or a chunk of one; the bytes are the same. Slices that are longer than their
// windows are never coded in chunks.
enum class ArithmeticWay { in_chunks, by_slice };

// `d_headers` is [picture][slice], without cabac_alignment_one_bit. PackedPicture tells all bits of the
// slices as residual_bits, and what windows its slices ask for. A slice that its window does not hold is
// coded serially, many times slower. Larger windows leave room for a part of the pictures at a time. So
// `size` decides about speed; the bytes are the same. Asynchronous on `stream`. Throws cu264::Error if a
// launch is refused.
void launch_cabac(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                  const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                  WindowSize size = WindowSize::ordinary, ArithmeticWay way = ArithmeticWay::in_chunks);

}  // namespace cu264::entropy
