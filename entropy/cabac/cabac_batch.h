// The stages `code` and `pack` of CABAC on the GPU (docs/cabac.md): binarisation, the arithmetic coder, which
// is parallel inside the slices, and the packer.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "core/slice_header.h"
#include "entropy/cabac/item_pool.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::entropy {

// Device memory, aligned to 256, which belongs to a launch until it ends. It need not be initialised.
struct CabacMemory {
  int pictures = 0;                // for which it was measured
  void* scratch = nullptr;         // cabac_scratch_bytes()
  std::uint8_t* stream = nullptr;  // cabac_stream_bytes(): what codes the chunks lies there at first
};

// The bytes for any batch of up to this many pictures. `inter`: the batches have BatchView::motion.
std::size_t cabac_scratch_bytes(int pictures, int mb_width, int mb_height, int slices, bool inter = false);
std::size_t cabac_stream_bytes(int pictures, int mb_width, int mb_height, int slices);

// `d_headers` is [picture][slice], without cabac_alignment_one_bit. PackedPicture reports all bits of the
// slices as residual_bits. `layout`, for tests, must not need more room than the default one; it affects
// speed but not the bytes. Asynchronous on `stream`. Throws cu264::Error if a launch is refused.
void launch_cabac(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                  const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                  const PoolLayout* layout = nullptr);

}  // namespace cu264::entropy
