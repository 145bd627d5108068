// Adds and removes the emulation prevention of whole NAL units (H.264 7.4.1).
#pragma once

#include <cstdint>

#include "common/bitstream/nal_unit.h"

namespace cu264::bitstream {

// Writes to `out` the payload after the unit's header byte, without emulation prevention and with
// kRbspPadding zero bytes after it. Both functions reuse the memory of `out`.
void unescape(ByteSpan unit, Bytes& out);
// Appends the header byte and the payload (without its padding) with emulation prevention. A payload with
// trailing bits does not end in a zero byte.
void append_escaped(Bytes& out, std::uint8_t header, ByteSpan rbsp);
// The same for a payload that may end in zero bytes. A NAL unit must not end in one, so an 03 follows them.
void append_escaped_with_end(Bytes& out, std::uint8_t header, ByteSpan rbsp);

}  // namespace cu264::bitstream
