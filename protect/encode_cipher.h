// Selective encryption inside an encoder: a slice is encrypted between its reconstruction and its coding. The
// resulting stream is the one that make_encryptor would make of the plain one.
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <cstdint>

#include "core/coded_picture.h"
#include "cu264/protect.h"
#include "protect/keys.h"

namespace cu264::protect {

// Returns the message as a NAL unit, for a stream without authentication.
Bytes encryption_message(const StreamKeys& keys, const EncryptionParts& parts);

// These make the stream tools with a given nonce, for tests.
std::unique_ptr<StreamTool> make_encryptor(const EncoderEncryption& encryption, std::uint64_t nonce);
std::unique_ptr<StreamTool> make_encryptor(const ProtectionKey& key, const EncryptionOptions& options,
                                           std::uint64_t nonce);

class EncodeCipher {
 public:
  // Throws Error(invalid_argument) if nothing is to be encrypted.
  explicit EncodeCipher(const EncoderEncryption& encryption);

  EncryptionParts parts() const { return parts_; }
  const StreamKeys& keys() const { return keys_; }
  Bytes message() const;  // as a NAL unit

  // Changes the slice's levels and modes. Several threads may call it at once.
  void encrypt_slice(const core::CodedPictureView& view, int slice, std::uint32_t picture) const;

 private:
  EncryptionParts parts_;
  StreamKeys keys_;
  // Each thread that encrypts has one, made at its first call.
  mutable tbb::enumerable_thread_specific<KeystreamCipher> ciphers_;
};

}  // namespace cu264::protect
