// Work on the device that writes memory long after it was enqueued.
#pragma once

#include <cstddef>

namespace cu264::parity {

// Copies device memory on a stream (a cudaStream_t), after about as many microseconds.
void copy_late(void* to, const void* from, std::size_t bytes, int microseconds, void* stream);

}  // namespace cu264::parity
