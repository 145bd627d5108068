// A payload's frame consists of its length and its CRC-32, four bytes each, most significant first, and then
// its bytes. The frame of a watermark has no length.
#pragma once

#include <cstdint>

#include "common/bitstream/nal_unit.h"

namespace cu264::protect {

using bitstream::Bytes;
using bitstream::ByteSpan;

inline constexpr std::size_t kFrameHeaderBytes = 8;

// CRC-32 of ISO/IEC 3309 (HDLC).
std::uint32_t crc32(ByteSpan bytes);

// Throws Error(bad_input) for an empty payload, or one of 256 MiB and more.
Bytes frame_of(ByteSpan payload);
Bytes mark_frame_of(ByteSpan payload);
inline constexpr std::uint32_t kMarkFrameHeaderBytes = 4;

// Throws Error(bad_input) with this remedy if the stream had fewer carriers than the frame has bits.
void check_room(ByteSpan frame, std::size_t header_bytes, std::uint64_t carriers, const char* remedy);

struct FrameHeader {
  std::uint32_t length = 0;
  std::uint32_t crc = 0;
};
FrameHeader read_frame_header(ByteSpan header);

inline constexpr std::uint32_t kMaxPayloadBytes = 1u << 28;
// The bound for a watermark that an encoder spreads with protect/mark_code.h is lower.
inline constexpr std::uint32_t kMaxCodedPayloadBytes = 1u << 24;

}  // namespace cu264::protect
