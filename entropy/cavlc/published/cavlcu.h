// CAVLCU as Fuentes-Alventosa et al. published it (The Journal of Supercomputing 78, 2022), for all kinds of
// blocks. The encoder uses code_batch.h; this form stays for comparison.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "entropy/cavlc/published/block_codes.h"

namespace cu264::entropy {

// Scratch for batches of up to `pictures`; aligned to 256, all zeros before its first use. Every launch
// leaves it ready for the next one.
std::size_t cavlcu_scratch_bytes(int pictures, int mb_width, int mb_height);

// Reads macroblocks and levels; total_coeff it counts itself. `zeros_and_runs` is the table of
// zeros_and_runs.h. Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_cavlcu(const core::BatchView& batch, const std::uint32_t* zeros_and_runs, void* scratch,
                   const BlockCodes& codes, cudaStream_t stream);

}  // namespace cu264::entropy
