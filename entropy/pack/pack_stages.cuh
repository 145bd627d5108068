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
  std::uint32_t escapes = 0;
  std::uint32_t mbs[3] = {};  // by MacroblockKind
  std::uint32_t broken = 0;   // a macroblock had too many bits

  // rbsp_trailing_bits begin with a one (H.264 7.3.2.11).
  __host__ __device__ std::uint64_t rbsp_bytes() const { return bits / 8 + 1; }
  __host__ __device__ std::uint32_t tiles() const {
    return static_cast<std::uint32_t>((rbsp_bytes() + kTileBytes - 1) / kTileBytes);
  }
};

// A slice's tiles lie where they would if every macroblock before it had kRowWords words and every slice
// began two tiles late, for its header, its trailing bits and what its last tile leaves empty: a place for
// each, whatever the others need.
__host__ __device__ inline std::size_t first_tile(std::size_t mbs_before, std::size_t slices_before) {
  return mbs_before * kRowWords / kTileWords + 2 * slices_before;
}

struct PackScratch {
  CodedBits coded;
  std::uint64_t* positions = nullptr;  // [picture][mb], in bits from the start of the slice's RBSP
  SliceRecord* slices = nullptr;       // [picture][slice]
  std::uint32_t* rbsp = nullptr;       // [tile][kTileWords]
  std::int32_t* tile_mbs = nullptr;    // [tile]; the last macroblock to begin at or before it, or the first
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
  __device__ std::size_t first_tile_of(int picture, int slice) const {
    const std::size_t p = static_cast<std::size_t>(picture);
    return first_tile(p * batch.macroblocks_per_picture() + first_mb(slice), p * batch.slices + slice);
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
