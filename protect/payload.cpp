#include "protect/payload.h"

#include <string>

#include "cu264/status.h"

namespace cu264::protect {
namespace {

void put(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

std::uint32_t get(ByteSpan bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3];
}

}  // namespace

std::uint32_t crc32(ByteSpan bytes) {
  std::uint32_t crc = ~0u;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~crc;
}

Bytes frame_of(ByteSpan payload) {
  if (payload.empty()) throw Error(ErrorCode::bad_input, "the payload is empty");
  if (payload.size() > kMaxPayloadBytes)
    throw Error(ErrorCode::bad_input, "the payload is larger than 256 MiB");
  Bytes frame;
  put(frame, static_cast<std::uint32_t>(payload.size()));
  put(frame, crc32(payload));
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

Bytes mark_frame_of(ByteSpan payload) {
  const Bytes frame = frame_of(payload);
  return {frame.begin() + kFrameHeaderBytes - kMarkFrameHeaderBytes, frame.end()};
}

FrameHeader read_frame_header(ByteSpan header) {
  return {get(header.first(4)), get(header.subspan(4, 4))};
}

void check_room(ByteSpan frame, std::size_t header_bytes, std::uint64_t carriers, const char* remedy) {
  if (carriers >= 8 * frame.size()) return;
  const std::uint64_t bytes = carriers / 8;
  throw Error(ErrorCode::bad_input,
              "the payload of " + std::to_string(frame.size() - header_bytes) +
                  " bytes is too large: this stream can hold " +
                  std::to_string(bytes < header_bytes ? 0 : bytes - header_bytes),
              remedy);
}

}  // namespace cu264::protect
