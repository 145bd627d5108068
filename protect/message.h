// The messages by which the tools recognise their streams. They are user_data_unregistered SEI messages
// (H.264 D.1.6), each in a NAL unit of its own before the slices that it describes. The one that ends an
// authenticated stream follows the last slice, where no SEI message may stand (7.4.1.2.3); it is in a NAL
// unit of an unspecified type, which decoders ignore (table 7-1).
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
  authentication = 4,  // for one picture
  stream_end = 5
};

// Version 1 is still read. Its key check covers the nonce alone, and its pictures' codes cover neither
// settings nor parameter sets nor the end of the stream.
inline constexpr std::uint8_t kFirstVersion = 1, kMessageVersion = 2;

using Settings = std::array<std::uint8_t, 8>;

// The message that begins a protection has a nonce, settings, and `code`, the HMAC over them, their kind and
// their version; version 1 has a key check of eight bytes instead. The message of a picture has its number,
// that of the end the number of pictures, and both have the HMAC.
struct Message {
  MessageKind kind = MessageKind::encryption;
  std::uint8_t version = kMessageVersion;
  std::uint64_t nonce = 0;
  Settings settings{};
  std::array<std::uint8_t, 8> key_check{};
  std::uint64_t pictures = 0;
  Digest code{};
};

// Returns the message in a NAL unit, with a start code.
Bytes message_nal(const Message& message);
// Returns nothing if the unit is not a message of these tools. Throws Error(bad_input) for a message of a
// later version or a damaged one.
std::optional<Message> read_message(const bitstream::NalUnit& nal);

// Makes the message that begins a protection under the keys' nonce.
Message new_message(MessageKind kind, const StreamKeys& keys, const Settings& settings);
// Returns the keys of the stream that `message` describes. Throws Error(bad_input) for a wrong key and for
// settings that were changed.
std::unique_ptr<StreamKeys> checked_keys(const ProtectionKey& key, const Message& message);

}  // namespace cu264::protect
