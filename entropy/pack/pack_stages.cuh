// The steps of `pack` and what they hand on, all of it in device memory.
//
//   place   every macroblock's bit position in its slice, every slice's length
//   build   the slices' RBSPs, in tiles of whole words; emulation prevention bytes are counted
//   write   start codes, NAL unit headers and escaped payloads to their places in the stream
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/device_batch.h"
#include "entropy/cavlc/coded_bits.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::entropy {

// A thread builds a word (most significant bit first), a thread block a tile.
inline constexpr int kTileWords = 256;
inline constexpr int kTileBytes = 4 * kTileWords;

struct SliceRecord {
  std::uint64_t bits = 0;  // of the RBSP without trailing bits
  std::uint64_t header_bits = 0;
  std::uint64_t offset = 0;  // of its NAL unit in the stream
  std::uint32_t first_tile = 0;
  std::uint32_t escapes = 0;
  std::uint32_t mbs[3] = {};  // by MacroblockKind
  std::uint32_t broken = 0;   // a macroblock had too many bits

  // rbsp_trailing_bits begin with a one (H.264 7.3.2.11).
  __host__ __device__ std::uint64_t rbsp_bytes() const { return bits / 8 + 1; }
  __host__ __device__ std::uint32_t tiles() const {
    return static_cast<std::uint32_t>((rbsp_bytes() + kTileBytes - 1) / kTileBytes);
  }
};

struct PackScratch {
  CodedBits coded;
  std::uint64_t* positions = nullptr;     // [picture][mb], in bits from the start of the slice's RBSP
  SliceRecord* slices = nullptr;          // [picture][slice]
  std::uint32_t* rbsp = nullptr;          // [tile][kTileWords]
  std::uint32_t* tile_escapes = nullptr;  // [tile]; after build: of the slice's tiles before this one
};

struct PackJob {
  core::BatchView batch;
  const SliceHeaderBits* headers = nullptr;
  std::uint32_t first_parity = 0;  // of the batch's first picture
  PackScratch scratch;
  std::uint8_t* stream = nullptr;
  std::uint64_t capacity = 0;
  PackedPicture* pictures = nullptr;

  __device__ const SliceHeaderBits& header(int picture, int slice) const {
    return headers[2 * slice + ((first_parity + picture) & 1)];
  }
  __device__ SliceRecord& slice(int picture, int slice) const {
    return scratch.slices[static_cast<std::size_t>(picture) * batch.slices + slice];
  }
  // First macroblock of a slice; of slice `slices`: the picture's end.
  __device__ int first_mb(int slice) const {
    return core::slice_first_row(slice, batch.slices, batch.mb_height) * batch.mb_width;
  }
};

void launch_place(const PackJob& job, cudaStream_t stream);
void launch_build(const PackJob& job, cudaStream_t stream);
void launch_write(const PackJob& job, cudaStream_t stream);

}  // namespace cu264::entropy
