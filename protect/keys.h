// Keys, and what is computed from them: keystream, key check, authentication codes, random nonces.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

#include "common/bitstream/nal_unit.h"
#include "cu264/protect.h"
#include "protect/aes.h"

struct evp_cipher_ctx_st;
struct evp_mac_ctx_st;

namespace cu264::protect {

using bitstream::Bytes;
using bitstream::ByteSpan;

using Digest = std::array<std::uint8_t, 32>;

// Throw Error(encode_failure) if there are no random numbers. Keys are drawn apart from what becomes public.
void fill_at_random(std::span<std::uint8_t> bytes);
void fill_with_secret(std::span<std::uint8_t> bytes);

std::uint64_t random_nonce();

// Computes HMAC-SHA256 (RFC 2104) of one message after another, in the same memory.
class Hmac {
 public:
  explicit Hmac(ByteSpan key);
  ~Hmac();
  Hmac(const Hmac&) = delete;
  Hmac& operator=(const Hmac&) = delete;

  void begin();
  void add(ByteSpan bytes);
  Digest take();

 private:
  struct ContextDeleter {
    void operator()(evp_mac_ctx_st* context) const;
  };
  Bytes key_;
  std::unique_ptr<evp_mac_ctx_st, ContextDeleter> context_;
};

// Returns the code of the concatenated parts.
Digest hmac_sha256(ByteSpan key, std::initializer_list<ByteSpan> parts);
bool equal_in_constant_time(ByteSpan a, ByteSpan b);
// Overwrites a secret that is no longer needed. A compiler may not optimise this away.
void wipe(void* memory, std::size_t size);

// Encrypts counters with AES-256. One thread at a time may use it, because libcrypto's contexts must not be
// shared.
class KeystreamCipher {
 public:
  explicit KeystreamCipher(const Digest& key);

  // Turns counter blocks into keystream blocks, in place. The words are brought to memory order for that, and
  // back.
  void keystream(std::span<AesBlock> blocks) const;

 private:
  struct ContextDeleter {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  std::unique_ptr<evp_cipher_ctx_st, ContextDeleter> context_;
};

// Tells the purpose of a message authentication code by the first bytes that it covers: the label and a zero
// byte.
inline ByteSpan domain(const char* label) {
  return {reinterpret_cast<const std::uint8_t*>(label), std::strlen(label) + 1};
}

// The keys of one stream, derived from the user's key, so that no key serves two algorithms.
class StreamKeys {
 public:
  StreamKeys(const ProtectionKey& key, std::uint64_t nonce);
  ~StreamKeys();
  StreamKeys(const StreamKeys&) = delete;
  StreamKeys& operator=(const StreamKeys&) = delete;

  std::uint64_t nonce() const { return nonce_; }
  const Digest& keystream_key() const { return keystream_key_; }
  const Digest& authentication_key() const { return authentication_key_; }
  // The key check in messages of version 1 (protect/message.h). It tells a wrong key from the right one and
  // reveals nothing of the key.
  const std::array<std::uint8_t, 8>& first_version_check() const { return first_version_check_; }
  const Digest& first_version_authentication_key() const { return first_version_authentication_key_; }

  void keystream(std::span<AesBlock> blocks) const { cipher_->keystream(blocks); }

 private:
  std::uint64_t nonce_;
  Digest keystream_key_, authentication_key_, first_version_authentication_key_;
  std::array<std::uint8_t, 8> first_version_check_;
  std::optional<KeystreamCipher> cipher_;
};

}  // namespace cu264::protect
