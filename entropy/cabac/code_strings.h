// The arithmetic coder of CABAC on the GPU, serial: the items of each slice become its string. A lane codes a
// slice.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/device_batch.h"
#include "entropy/cabac/binarise.h"
#include "entropy/cabac/string_layout.h"

namespace cu264::entropy {

// Both are asynchronous on `stream` and throw cu264::Error if the launch is refused. Of the batch they read
// its shape, its parameters and, for I_PCM, its source pictures; launch_code_long_strings reads all of it.

// Codes all slices whose window holds their items (launch_binarise). Few lanes of a warp code a slice each
// where there are few slices, many where there are many; `lanes`, a power of two up to 32, decides otherwise.
void launch_code_strings(const core::BatchView& batch, const std::uint16_t* d_items, StringRecord* d_records,
                         std::uint32_t* d_strings, cudaStream_t stream, int lanes = 0,
                         WindowSize windows = WindowSize::ordinary);

// Codes the slices with more items than their windows hold, a warp each, which binarises as many as that, and
// one of whose lanes codes them, in turn. Such slices are rare: noise at low QPs.
void launch_code_long_strings(const core::BatchView& batch, const BinariseScratch& scratch,
                              std::uint16_t* d_items, StringRecord* d_records, std::uint32_t* d_strings,
                              cudaStream_t stream, WindowSize windows = WindowSize::ordinary);

}  // namespace cu264::entropy
