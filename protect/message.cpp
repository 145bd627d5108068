#include "protect/message.h"

#include <algorithm>

#include "common/bitstream/emulation_prevention.h"
#include "common/bitstream/rbsp.h"
#include "cu264/status.h"

namespace cu264::protect {
namespace {

constexpr std::uint8_t kUserDataUnregistered = 5;
constexpr int kNalStreamEnd = 31;
constexpr std::array<std::uint8_t, 16> kUuid{0x8f, 0x2c, 0x71, 0xd4, 0x0b, 0x5e, 0x4a, 0x96,
                                             0xb3, 0x1a, 0xc2, 0x64, 0x9d, 0xe7, 0x50, 0x3f};
constexpr std::size_t kHeadBytes = kUuid.size() + 2;  // includes kind and version

void put_number(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// Reads values from the front.
class Fields {
 public:
  explicit Fields(ByteSpan bytes) : rest_(bytes) {}
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : rest_.first(bytes)) value = value << 8 | byte;
    rest_ = rest_.subspan(bytes);
    return value;
  }
  template <std::size_t size>
  void bytes(std::array<std::uint8_t, size>& out) {
    std::copy_n(rest_.begin(), size, out.begin());
    rest_ = rest_.subspan(size);
  }

 private:
  ByteSpan rest_;
};

bool begins_protection(MessageKind kind) {
  return kind <= MessageKind::hidden_data;
}

// The size of UUID, kind, version and the fields that follow; nothing if there is no such message.
std::size_t message_bytes(MessageKind kind, std::uint8_t version) {
  const bool first = version == kFirstVersion;
  switch (kind) {
    case MessageKind::encryption:
    case MessageKind::watermark:
    case MessageKind::hidden_data:
      return kHeadBytes + 8 + 8 + (first ? 8 : 32);
    case MessageKind::authentication:
      return kHeadBytes + (first ? 4 : 8) + 32;
    case MessageKind::stream_end:
      return first ? 0 : kHeadBytes + 8 + 32;
  }
  return 0;
}

Digest code_of(const StreamKeys& keys, const Message& message) {
  Bytes input;
  put_number(input, static_cast<std::uint8_t>(message.kind), 1);
  put_number(input, message.version, 1);
  put_number(input, message.nonce, 8);
  input.insert(input.end(), message.settings.begin(), message.settings.end());
  return hmac_sha256(keys.authentication_key(), {domain("cu264 message"), input});
}

[[noreturn]] void damaged() {
  throw Error(ErrorCode::bad_input, "a message of cu264's protection is damaged", "the stream must be whole");
}

}  // namespace

Bytes message_nal(const Message& message) {
  const bool end = message.kind == MessageKind::stream_end;
  Bytes rbsp;
  if (!end) {
    rbsp = {kUserDataUnregistered, static_cast<std::uint8_t>(message_bytes(message.kind, message.version))};
  }
  rbsp.insert(rbsp.end(), kUuid.begin(), kUuid.end());
  rbsp.push_back(static_cast<std::uint8_t>(message.kind));
  rbsp.push_back(message.version);
  if (begins_protection(message.kind)) {
    put_number(rbsp, message.nonce, 8);
    rbsp.insert(rbsp.end(), message.settings.begin(), message.settings.end());
  } else {
    put_number(rbsp, message.pictures, 8);
  }
  rbsp.insert(rbsp.end(), message.code.begin(), message.code.end());
  rbsp.push_back(0x80);
  Bytes nal;
  bitstream::append_nal(nal, 0, end ? kNalStreamEnd : bitstream::kNalSei, rbsp, true);
  return nal;
}

std::optional<Message> read_message(const bitstream::NalUnit& nal) {
  const bool end = nal.type() == kNalStreamEnd;
  if (!end && nal.type() != bitstream::kNalSei) return std::nullopt;
  const std::size_t begin = end ? 0 : 2;  // skips payload type and size
  Bytes rbsp;
  bitstream::unescape(nal.unit, rbsp);
  rbsp.resize(rbsp.size() - bitstream::kRbspPadding);
  if (rbsp.size() < begin + kHeadBytes || (!end && rbsp[0] != kUserDataUnregistered)) return std::nullopt;
  const ByteSpan body(rbsp.data() + begin, rbsp.size() - begin);
  if (!std::equal(kUuid.begin(), kUuid.end(), body.begin())) return std::nullopt;
  Message message;
  message.kind = static_cast<MessageKind>(body[16]);
  message.version = body[17];
  if (message.version < kFirstVersion || message.version > kMessageVersion) {
    throw Error(ErrorCode::bad_input, "the stream was protected by another version of cu264",
                "use that version");
  }
  const std::size_t size = message_bytes(message.kind, message.version);
  // A message is coded in exactly one way, so anything that follows it or is coded differently was put there
  // by somebody else.
  if (nal.unit[0] != nal.type() || size == 0 || end != (message.kind == MessageKind::stream_end) ||
      body.size() != size + 1 || body[size] != 0x80 || (!end && rbsp[1] != size)) {
    damaged();
  }
  Fields fields(body.subspan(kHeadBytes));
  const bool first = message.version == kFirstVersion;
  if (!begins_protection(message.kind)) {
    message.pictures = fields.number(first ? 4 : 8);
    fields.bytes(message.code);
  } else {
    message.nonce = fields.number(8);
    if (first) fields.bytes(message.key_check);
    fields.bytes(message.settings);
    if (!first) fields.bytes(message.code);
  }
  return message;
}

Message new_message(MessageKind kind, const StreamKeys& keys, const Settings& settings) {
  Message message;
  message.kind = kind;
  message.nonce = keys.nonce();
  message.settings = settings;
  message.code = code_of(keys, message);
  return message;
}

std::unique_ptr<StreamKeys> checked_keys(const ProtectionKey& key, const Message& message) {
  auto keys = std::make_unique<StreamKeys>(key, message.nonce);
  const bool right = message.version == kFirstVersion
                         ? equal_in_constant_time(keys->first_version_check(), message.key_check)
                         : equal_in_constant_time(code_of(*keys, message), message.code);
  if (!right) {
    throw Error(ErrorCode::bad_input, "the key is not the one the stream was protected with",
                "give the right key; if it is, the stream's message was changed");
  }
  return keys;
}

}  // namespace cu264::protect
