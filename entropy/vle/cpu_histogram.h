// Counts how often each byte value occurs in host memory.
#pragma once

#include <cstdint>
#include <span>

#include "cu264/vle_types.h"

namespace cu264::vle {

Histogram count_serial(std::span<const std::uint8_t> input);

// The same with all threads of the current oneTBB arena.
Histogram count_parallel(std::span<const std::uint8_t> input);

}  // namespace cu264::vle
