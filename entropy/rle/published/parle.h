// PARLE (after Balevic) as published: mask, scan, compact, scatter, one kernel each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "entropy/rle/device_encode.h"

namespace cu264::rle {

// Inputs of less than 2^32 symbols, for each of which it takes 8 bytes of scratch, aligned to 256. The same
// runs as launch_encode's. Throws cu264::Error if the input is longer or a launch is refused.
std::size_t parle_scratch_bytes(std::uint64_t size);
void launch_parle(const EncodeArrays<std::uint8_t>& arrays, void* d_scratch, void* stream);
void launch_parle(const EncodeArrays<std::int32_t>& arrays, void* d_scratch, void* stream);

}  // namespace cu264::rle
