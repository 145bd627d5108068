// CAVLCU as Fuentes-Alventosa et al. published it (The Journal of Supercomputing 78, 2022), extended to all
// kinds of blocks. The encoder uses code_batch.h; this coder is for comparison only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "entropy/cavlc/published/block_codes.h"

namespace cu264::entropy {

// Bytes of scratch for batches of up to `pictures`. The scratch must be aligned to 256 and hold zeros before
// its first use. Every launch leaves it ready for the next one.
std::size_t cavlcu_scratch_bytes(int pictures, int mb_width, int mb_height);

// Reads macroblocks and levels; it computes total_coeff itself. `zeros_and_runs` is the table of
// zeros_and_runs.h. Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_cavlcu(const core::BatchView& batch, const std::uint32_t* zeros_and_runs, void* scratch,
                   const BlockCodes& codes, cudaStream_t stream);

}  // namespace cu264::entropy
