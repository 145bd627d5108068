// What a block has behind its levels, total_zeros and every run_before (H.264 9.2.3), from a table in device
// memory by where its levels are.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace cu264::entropy {

// Entries by where the levels of a block are that is not full (bit k for coding position k), chroma DC blocks
// behind the others: bits << 5 | their number.
inline constexpr std::uint32_t kChromaDcZerosAndRuns = 0x10000;
inline constexpr std::size_t kZerosAndRunsEntries = kChromaDcZerosAndRuns + 16;

// Writes the table. Asynchronous on `stream`; throws cu264::Error if the launch is refused.
void launch_make_zeros_and_runs(std::uint32_t* d_table, cudaStream_t stream);

}  // namespace cu264::entropy
