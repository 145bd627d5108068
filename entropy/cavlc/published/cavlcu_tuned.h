// CAVLCU, tuned: the single kernel and the hand-over between thread blocks of the paper (cavlcu.h), with the
// masks, tables and level coder of the encoder's own kernel. docs/papers.md lists what differs from the
// paper. The encoder uses code_batch.h; this coder is for comparison only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "entropy/cavlc/published/block_codes.h"

namespace cu264::entropy {

// Bytes of scratch for batches of up to `pictures`. The scratch must be aligned to 256 and hold zeros before
// its first use. Every launch leaves it ready for the next one.
std::size_t cavlcu_tuned_scratch_bytes(int pictures, int mb_width, int mb_height);

// Reads macroblocks and levels; it computes total_coeff itself. `zeros_and_runs` is the table of
// zeros_and_runs.h. Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_cavlcu_tuned(const core::BatchView& batch, const std::uint32_t* zeros_and_runs, void* scratch,
                         const BlockCodes& codes, cudaStream_t stream);

}  // namespace cu264::entropy
