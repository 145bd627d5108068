#include "protect/sei.h"

#include <algorithm>

#include "common/bitstream/emulation_prevention.h"
#include "common/bitstream/rbsp.h"
#include "cu264/status.h"

namespace cu264::protect {
namespace {

constexpr std::uint8_t kUserDataUnregistered = 5;
constexpr std::array<std::uint8_t, 16> kUuid{0x8f, 0x2c, 0x71, 0xd4, 0x0b, 0x5e, 0x4a, 0x96,
                                             0xb3, 0x1a, 0xc2, 0x64, 0x9d, 0xe7, 0x50, 0x3f};
constexpr std::size_t kStreamMessageBytes = 16 + 2 + 8 + 8 + 8;
constexpr std::size_t kAuthenticationBytes = 16 + 2 + 4 + 32;

void put_number(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint64_t get_number(ByteSpan bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace

Bytes sei_nal(const Message& message) {
  const bool authentication = message.kind == MessageKind::authentication;
  Bytes rbsp{kUserDataUnregistered,
             static_cast<std::uint8_t>(authentication ? kAuthenticationBytes : kStreamMessageBytes)};
  rbsp.insert(rbsp.end(), kUuid.begin(), kUuid.end());
  rbsp.push_back(static_cast<std::uint8_t>(message.kind));
  rbsp.push_back(message.version);
  if (authentication) {
    put_number(rbsp, message.picture, 4);
    rbsp.insert(rbsp.end(), message.digest.begin(), message.digest.end());
  } else {
    put_number(rbsp, message.nonce, 8);
    rbsp.insert(rbsp.end(), message.key_check.begin(), message.key_check.end());
    rbsp.insert(rbsp.end(), message.settings.begin(), message.settings.end());
  }
  rbsp.push_back(0x80);
  Bytes nal{0, 0, 0, 1};
  bitstream::append_escaped(nal, bitstream::kNalSei, rbsp);
  return nal;
}

std::optional<Message> read_sei_nal(const bitstream::NalUnit& nal) {
  Bytes rbsp;
  bitstream::unescape(nal.unit, rbsp);
  rbsp.resize(rbsp.size() - bitstream::kRbspPadding);
  if (rbsp.size() < 2 + kUuid.size() + 2 || rbsp[0] != kUserDataUnregistered) return std::nullopt;
  if (!std::equal(kUuid.begin(), kUuid.end(), rbsp.begin() + 2)) return std::nullopt;
  Message message;
  message.kind = static_cast<MessageKind>(rbsp[18]);
  message.version = rbsp[19];
  if (message.version != kMessageVersion) {
    throw Error(ErrorCode::bad_input, "the stream was protected by another version of cu264",
                "use that version");
  }
  const bool authentication = message.kind == MessageKind::authentication;
  const std::size_t size = authentication ? kAuthenticationBytes : kStreamMessageBytes;
  if (message.kind < MessageKind::encryption || message.kind > MessageKind::authentication ||
      rbsp[1] != size || rbsp.size() != size + 3) {
    throw Error(ErrorCode::bad_input, "a message of cu264's protection is damaged",
                "the stream must be whole");
  }
  const ByteSpan body(rbsp.data() + 20, size - 18);
  if (authentication) {
    message.picture = static_cast<std::uint32_t>(get_number(body.first(4)));
    std::copy_n(body.begin() + 4, message.digest.size(), message.digest.begin());
  } else {
    message.nonce = get_number(body.first(8));
    std::copy_n(body.begin() + 8, message.key_check.size(), message.key_check.begin());
    std::copy_n(body.begin() + 16, message.settings.size(), message.settings.begin());
  }
  return message;
}

}  // namespace cu264::protect
