// Counts how often each byte value occurs in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cu264::vle {

// Writes 256 counts. The input may have any size and alignment, and nothing outside it is read. Asynchronous
// on `stream` (a cudaStream_t), without scratch. Throws Error if a launch is refused.
void launch_histogram(const std::uint8_t* d_input, std::size_t size, std::uint64_t* d_counts, void* stream);

}  // namespace cu264::vle
