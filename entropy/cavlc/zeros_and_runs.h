// The codes that follow a block's levels, total_zeros and every run_before (H.264 9.2.3), from a table in
// device memory that is indexed by the positions of the levels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace cu264::entropy {

// Entries are bits << 5 | number of bits. The index has bit k set where coding position k holds a level; the
// block is not full. The entries of chroma DC blocks follow those of all others.
inline constexpr std::uint32_t kChromaDcZerosAndRuns = 0x10000;
inline constexpr std::size_t kZerosAndRunsEntries = kChromaDcZerosAndRuns + 16;

// Writes the table. Asynchronous on `stream`; throws cu264::Error if the launch is refused.
void launch_make_zeros_and_runs(std::uint32_t* d_table, cudaStream_t stream);

}  // namespace cu264::entropy
