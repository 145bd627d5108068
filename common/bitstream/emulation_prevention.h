// Emulation prevention (H.264 7.4.1) of whole NAL units, in both directions.
#pragma once

#include <cstdint>

#include "common/bitstream/nal_unit.h"

namespace cu264::bitstream {

// The payload behind the unit's header byte, without emulation prevention, and kRbspPadding zero bytes more.
// Both functions reuse `out`'s memory.
void unescape(ByteSpan unit, Bytes& out);
// Appends the header byte and the payload (without its padding) with emulation prevention.
void append_escaped(Bytes& out, std::uint8_t header, ByteSpan rbsp);

}  // namespace cu264::bitstream
