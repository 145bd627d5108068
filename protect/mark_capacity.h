// Computes how much payload an encoder's watermark can have.
#pragma once

#include <cstdint>

#include "cu264/protect.h"

namespace cu264::protect {

// Returns how many bytes of payload `carriers` marked blocks hold with a probability of 99 %. `density` says
// how many of 65536 blocks are marked, on which it depends how evenly the bits are drawn.
std::uint64_t mark_capacity(std::uint64_t carriers, std::uint32_t density, WatermarkSpread spread);

}  // namespace cu264::protect
