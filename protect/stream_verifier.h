// Checks an encrypted stream before any of it is decrypted: it must begin with a protection of these tools
// and, if it is authenticated, each picture, the order of the pictures and the end must be those that were
// encrypted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cu264/protect.h"
#include "protect/authentication.h"

namespace cu264::protect {

// The second setting of an encryption message.
inline constexpr std::uint8_t kAuthenticated = 1;

class StreamVerifier {
 public:
  StreamVerifier(const ProtectionKey& key, const DecryptionOptions& options) : key_(key), options_(options) {}

  // Takes one or more whole access units. Throws Error(bad_input) if they were changed, or do not begin where
  // the part does.
  void check(const bitstream::NalUnits& part);
  // Takes the parameter sets outside of the stream.
  void check_outside(const bitstream::NalUnits& sets);
  // Call this after the last units.
  void finish() const;

  // The message that began the protection. It exists once a slice was checked.
  const Message& protection() const { return *protection_; }

 private:
  void check_units(const bitstream::NalUnits& part);
  void message(const Message& message);
  void begin_protection(const Message& message);
  void slice(const bitstream::NalUnit& nal);
  void other_unit(const bitstream::NalUnit& nal);
  void begin_picture();
  void end_picture();
  void end_stream(const Message& message);
  bool authenticated() const { return authenticator_.started() || first_version_.has_value(); }

  ProtectionKey key_;
  DecryptionOptions options_;
  std::optional<Message> protection_;
  std::unique_ptr<StreamKeys> keys_;
  Authenticator authenticator_;
  std::optional<Hmac> first_version_;  // in an authenticated stream of version 1
  std::optional<Message> expected_;    // for the picture that is about to begin or is under way
  bool in_picture_ = false, ended_ = false;
  std::uint64_t pictures_ = 0;  // the number that began so far
  bool apart_ = false;          // whether a part ended between a picture and what belongs before it
};

}  // namespace cu264::protect
