// Binarisation of a batch on the GPU: every macroblock's items, in the windows of string_layout.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/arena.h"
#include "core/device_batch.h"
#include "entropy/cabac/string_layout.h"

namespace cu264::entropy {

// Device memory of binarisation, which a later batch may overwrite once the batch's items are written.
struct BinariseScratch {
  std::uint32_t* counts = nullptr;  // [picture][mb]: number of items
  std::uint32_t* begins = nullptr;  // [picture][mb]: index in the slice of the macroblock's first item
  std::uint64_t* sums = nullptr;    // of groups of macroblocks, by slice
  std::uint32_t* ticket = nullptr;
  std::size_t sum_count = 0;
};
BinariseScratch carve_binarise(Arena& arena, int pictures, int mb_width, int mb_height, int slices);

// Counts the items of all macroblocks and fills the records but for their bits. Writes the items of slices
// whose window holds them, padded to a multiple of eight. Asynchronous on `stream`. Throws cu264::Error if a
// launch is refused.
void launch_binarise(const core::BatchView& batch, const BinariseScratch& scratch, StringRecord* d_records,
                     std::uint16_t* d_items, cudaStream_t stream, WindowSize windows = WindowSize::ordinary);

}  // namespace cu264::entropy
