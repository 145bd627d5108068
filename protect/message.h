// The messages by which the tools know their streams again: user_data_unregistered SEI messages (H.264
// D.1.6), each in a NAL unit of its own before the slices that it speaks of. The one that ends an
// authenticated stream follows the last slice, where no SEI message may stand (7.4.1.2.3), in a NAL unit of
// an unspecified type, which decoders ignore (table 7-1).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "protect/keys.h"

namespace cu264::protect {

enum class MessageKind : std::uint8_t {
  encryption = 1,
  watermark = 2,
  hidden_data = 3,
  authentication = 4,  // of a picture
  stream_end = 5
};

// Version 1 is still read. Its nonce alone is covered by the key check, and its pictures' codes cover neither
// settings nor parameter sets nor the end of the stream.
inline constexpr std::uint8_t kFirstVersion = 1, kMessageVersion = 2;

using Settings = std::array<std::uint8_t, 8>;

// Of a protection that begins: nonce, settings, and `code`, the HMAC over them, their kind and version; in
// version 1 a key check of eight bytes instead. Of a picture and of the end: its number or their count, and
// the HMAC.
struct Message {
  MessageKind kind = MessageKind::encryption;
  std::uint8_t version = kMessageVersion;
  std::uint64_t nonce = 0;
  Settings settings{};
  std::array<std::uint8_t, 8> key_check{};
  std::uint64_t pictures = 0;
  Digest code{};
};

// In a NAL unit, with a start code.
Bytes message_nal(const Message& message);
// Nothing: the unit is not one of ours. Throws Error(bad_input) for one of a later version or a damaged one.
std::optional<Message> read_message(const bitstream::NalUnit& nal);

// A protection that begins under the keys' nonce.
Message new_message(MessageKind kind, const StreamKeys& keys, const Settings& settings);
// The keys of the stream that `message` describes; throws Error(bad_input) for a wrong key, and for settings
// that were changed.
std::unique_ptr<StreamKeys> checked_keys(const ProtectionKey& key, const Message& message);

}  // namespace cu264::protect
