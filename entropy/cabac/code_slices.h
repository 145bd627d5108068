// CABAC's arithmetic coder on the GPU in serial form: one lane codes a whole slice. The encoder codes in
// chunks (chunk_job.h); benchmarks and tests compare that with this.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/device_batch.h"
#include "entropy/cabac/item_pool.h"
#include "entropy/cabac/slice_bits_layout.h"

namespace cu264::entropy {

// Codes all slices, whose items the pool must hold in round 0 (launch_binarise). From the batch it reads the
// shape, the parameters and, for I_PCM, the source pictures. The more slices there are, the more lanes of a
// warp code one each; `lanes`, a power of two up to 32, overrides that number. Asynchronous on `stream`.
// Throws cu264::Error if the launch is refused.
void launch_code_slices(const core::BatchView& batch, const ItemPool& pool, CabacSliceRecord* d_records,
                        std::uint32_t* d_slice_bits, cudaStream_t stream, int lanes = 0);

}  // namespace cu264::entropy
