// Binarisation of a batch on the GPU: the items of all macroblocks, a round at a time (item_pool.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/arena.h"
#include "core/device_batch.h"
#include "entropy/cabac/item_pool.h"
#include "entropy/cabac/slice_bits_layout.h"

namespace cu264::entropy {

// Where the items of a group of macroblocks lie in their slice.
struct GroupPlace {
  std::uint32_t begin = 0, count = 0;
};

// Device memory of binarisation, which belongs to a batch until its last round.
struct BinariseScratch {
  GroupPlace* places = nullptr;       // [picture][slice][group]
  std::uint64_t* sums = nullptr;      // of groups of macroblocks, by slice
  std::uint64_t* segments = nullptr;  // that groups begin
  std::uint32_t* ticket = nullptr;
  std::size_t cleared_bytes = 0;  // from `sums` on, with `segments` and `ticket`
};
BinariseScratch carve_binarise(Arena& arena, int pictures, int mb_width, int mb_height, int slices);

// Round 0 counts the items of all macroblocks and fills the records except for their bits. Each round writes
// its items to the pool and pads those of a slice to a multiple of eight. Asynchronous on `stream`. Throws
// cu264::Error if a launch is refused.
void launch_binarise(const core::BatchView& batch, const BinariseScratch& scratch,
                     CabacSliceRecord* d_records, const ItemPool& pool, std::uint32_t round,
                     cudaStream_t stream);

}  // namespace cu264::entropy
