// Stage `pack` of CABAC on the GPU: the coded slices of a batch become NAL units, one after another in
// one byte stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "core/slice_header.h"
#include "entropy/cabac/slice_bits_layout.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::entropy {

// Device memory of launch_pack_cabac_slices. A launch owns all of it until it ends.
struct CabacPackMemory {
  void* scratch = nullptr;  // cabac_pack_scratch_bytes()
  std::uint8_t* stream = nullptr;
  std::uint64_t capacity = 0;  // bytes of `stream`
};

std::size_t cabac_pack_scratch_bytes(int pictures, int mb_width, int mb_height, int slices);

// The most bytes that a picture can take in the stream.
std::size_t max_packed_cabac_bytes(int mb_width, int mb_height, int slices);

// `d_headers` is [picture][slice], without cabac_alignment_one_bit; `d_records` and `d_slice_bits` are laid
// out by slice_bits_layout.h. Asynchronous on `stream`. Throws cu264::Error if a launch is refused.
void launch_pack_cabac_slices(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                              const CabacSliceRecord* d_records, const std::uint32_t* d_slice_bits,
                              const CabacPackMemory& memory, PackedPicture* d_pictures, cudaStream_t stream);

}  // namespace cu264::entropy
