// The user_data_unregistered SEI messages (H.264 D.1.6) by which the tools know their streams again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/bitstream/nal_unit.h"
#include "protect/keys.h"

namespace cu264::protect {

enum class MessageKind : std::uint8_t { encryption = 1, watermark = 2, hidden_data = 3, authentication = 4 };

inline constexpr std::uint8_t kMessageVersion = 1;

// Behind the UUID: kind, version, then for `authentication` the picture's number and its HMAC, else the
// nonce, the key check and the tool's own bytes.
struct Message {
  MessageKind kind = MessageKind::encryption;
  std::uint8_t version = kMessageVersion;
  std::uint64_t nonce = 0;
  std::array<std::uint8_t, 8> key_check{};
  std::array<std::uint8_t, 8> settings{};
  std::uint32_t picture = 0;
  Digest digest{};
};

// The message in a NAL unit of its own, with a start code.
Bytes sei_nal(const Message& message);
// Nothing: the unit is not one of ours. Throws Error(bad_input) for one of another version or a damaged one.
std::optional<Message> read_sei_nal(const bitstream::NalUnit& nal);

}  // namespace cu264::protect
