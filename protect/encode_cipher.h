// Selective encryption inside an encoder: of a slice between its reconstruction and its coding. The stream is
// the one that make_encryptor would make of the plain one.
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <cstdint>

#include "core/coded_picture.h"
#include "cu264/protect.h"
#include "protect/keys.h"

namespace cu264::protect {

// As a NAL unit, without authentication.
Bytes encryption_message(const StreamKeys& keys, const EncryptionParts& parts);

// The stream tools with that nonce, for tests.
std::unique_ptr<StreamTool> make_encryptor(const EncoderEncryption& encryption, std::uint64_t nonce);
std::unique_ptr<StreamTool> make_encryptor(const ProtectionKey& key, const EncryptionOptions& options,
                                           std::uint64_t nonce);

class EncodeCipher {
 public:
  // Throws Error(invalid_argument) where nothing is to be encrypted.
  explicit EncodeCipher(const EncoderEncryption& encryption);

  EncryptionParts parts() const { return parts_; }
  const StreamKeys& keys() const { return keys_; }
  Bytes message() const;  // as a NAL unit

  // Changes the slice's levels and modes. Several threads at once.
  void encrypt_slice(const core::CodedPictureView& view, int slice, std::uint32_t picture) const;

 private:
  EncryptionParts parts_;
  StreamKeys keys_;
  // One for each thread that encrypts, made when it first does.
  mutable tbb::enumerable_thread_specific<KeystreamCipher> ciphers_;
};

}  // namespace cu264::protect
