// What the kernels that pack slices share.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {

// A thread-code: 16 words, as GVLE's 16 segments of up to 32 bits. A block of CAVLCU has as many.
inline constexpr int kThreadWords = 16, kThreadBits = 32 * kThreadWords;

// The threads of a block, which take a block-input together: eight macroblocks of 28 codes each, or a group.
inline constexpr int kPackThreads = 224, kPackWarps = kPackThreads / 32;

struct SlicePackJob {
  PackJob pack;
  std::uint32_t* ticket = nullptr;                // zero at first, as are `scan` and `rbsp`
  std::uint64_t* scan = nullptr;                  // [picture][slice][scan_elements] of GvleScan
  std::uint32_t* rbsp = nullptr;                  // [picture][slice][rbsp_words], most significant bit first
  std::uint32_t* escapes = nullptr;               // [picture][slice][piece]
  std::size_t scan_elements = 0, rbsp_words = 0;  // of a slice
  std::uint32_t block_inputs = 0;                 // of a slice
  int pieces = 0;                                 // of a slice, for emulation prevention

  __host__ __device__ std::uint32_t slices() const {
    return static_cast<std::uint32_t>(pack.batch.pictures) * static_cast<std::uint32_t>(pack.batch.slices);
  }
  __device__ SliceRecord& slice(std::uint32_t slice_index) const { return pack.scratch.slices[slice_index]; }
  __device__ std::uint32_t* rbsp_of(std::uint32_t slice_index) const {
    return rbsp + slice_index * rbsp_words;
  }
};

// The macroblocks of a slice.
struct SliceSpan {
  int picture, slice;
  std::size_t first;  // of all macroblocks of the batch
  int macroblocks;

  __device__ SliceSpan(const core::BatchView& batch, std::uint32_t slice_index)
      : picture(static_cast<int>(slice_index) / batch.slices),
        slice(static_cast<int>(slice_index) % batch.slices) {
    const int row = core::slice_first_row(slice, batch.slices, batch.mb_height);
    const int end = core::slice_first_row(slice + 1, batch.slices, batch.mb_height);
    first = static_cast<std::size_t>(picture) * batch.macroblocks_per_picture() + row * batch.mb_width;
    macroblocks = (end - row) * batch.mb_width;
  }
};

// Emulation prevention and NAL units, which the papers do not cover: bytes are escaped once all of them are
// known, and the packed slices lie one after another.
void launch_escape(const SlicePackJob& job, cudaStream_t stream);

}  // namespace cu264::entropy
