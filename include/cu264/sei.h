// Supplemental enhancement information: what a stream says beside its pictures (H.264 annex D), such as
// closed captions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cu264 {

// Payload types of H.264 D.1.1.
inline constexpr int kSeiUserDataRegistered = 4;    // by ITU-T T.35: the payload begins with a country code
inline constexpr int kSeiUserDataUnregistered = 5;  // the payload begins with a UUID

// Puts an SEI message of any size into an access unit, such as packet.data.vector(): before its first slice
// and after the messages that are there already. An access unit without slices, which Config::device_output
// gives, has it at its end. The encoder knows nothing of these bytes; Frame::added_bytes tells it how many
// will come.
void insert_sei(std::vector<std::uint8_t>& access_unit, int payload_type,
                std::span<const std::uint8_t> payload);

// Puts several messages of one type there, in this order and with the bytes of one call for each, in the time
// of one.
void insert_sei(std::vector<std::uint8_t>& access_unit, int payload_type,
                std::span<const std::vector<std::uint8_t>> payloads);

// The bytes by which insert_sei makes an access unit with slices larger.
std::size_t sei_bytes(int payload_type, std::span<const std::uint8_t> payload);

}  // namespace cu264
