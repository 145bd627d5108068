// Stage `code` on the GPU: CAVLC of every block and the header of every macroblock of a batch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

struct CodeScratch {
  const std::uint32_t* zeros_and_runs;  // the table of zeros_and_runs.h
  std::uint32_t* ticket;                // zero before the first launch; every launch leaves it so
  void* own;                            // code_scratch_bytes() of memory, aligned to 256
};
std::size_t code_scratch_bytes(const GroupLayout& layout);

// Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_code(const core::BatchView& batch, const CodeScratch& scratch, const GroupBits& bits,
                 cudaStream_t stream);

// The same for batches with BatchView::motion, to which launch_code passes them on.
void launch_code_p(const core::BatchView& batch, const CodeScratch& scratch, const GroupBits& bits,
                   cudaStream_t stream);

}  // namespace cu264::entropy
