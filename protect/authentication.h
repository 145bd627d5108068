// The authentication codes of an encrypted stream, for the tool that makes them and the one that checks them.
// Each is an HMAC-SHA256 under a key that serves nothing else. It covers a label, the nonce, version and
// settings of the protection, and then:
// - for a picture: its number, the SEI messages since the picture before, and for each slice the active
// sequence and picture parameter sets and the slice as it is in the stream, encrypted;
// - for the end: the number of pictures, and the SEI messages behind the last one.
// The codes do not cover access unit delimiters, filler data, parameter sets that no slice refers to, units
// of types that decoders ignore, and what a container says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "protect/message.h"

namespace cu264::protect {

// The first fields of a slice header (7.3.3).
struct SliceBegin {
  std::uint32_t first_mb = 0;
  std::uint32_t pps_id = 0;
};
SliceBegin read_slice_begin(ByteSpan unit);

class Authenticator {
 public:
  // Starts with `message`, which begins the protection.
  void start(const StreamKeys& keys, const Message& message);
  bool started() const { return hmac_.has_value(); }

  // These calls follow the order of the stream. `other_unit` takes all units but slices and the protection's
  // own messages.
  void other_unit(const bitstream::NalUnit& nal);
  void begin_picture(std::uint64_t picture);
  void slice(ByteSpan unit);
  Digest end_picture() { return hmac_->take(); }
  Digest end_stream(std::uint64_t pictures);

 private:
  void begin(const char* label, std::uint64_t number);
  void add_number(std::uint64_t value);
  void add(ByteSpan bytes);

  struct Pps {
    int sps_id = 0;
    Bytes unit;
  };
  std::array<Bytes, 32> sps_;  // NAL units; an empty one has not been in the stream so far
  std::array<Pps, 256> pps_;
  Bytes messages_;  // those since the last picture began, each with its length
  std::uint64_t nonce_ = 0;
  std::uint8_t version_ = 0;
  Settings settings_{};
  std::optional<Hmac> hmac_;
};

}  // namespace cu264::protect
