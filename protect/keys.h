// Keys and what libcrypto makes of them: keystream, key check, authentication codes, random nonces.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "cu264/protect.h"
#include "protect/aes.h"
#include "protect/rbsp.h"

struct evp_cipher_ctx_st;

namespace cu264::protect {

using Digest = std::array<std::uint8_t, 32>;

std::uint64_t random_nonce();

// HMAC-SHA256 of the parts put together.
Digest hmac_sha256(ByteSpan key, std::initializer_list<ByteSpan> parts);
bool equal_in_constant_time(ByteSpan a, ByteSpan b);

// One stream's keys, derived from the user's, so that no key serves two algorithms.
class StreamKeys {
 public:
  StreamKeys(const ProtectionKey& key, std::uint64_t nonce);
  ~StreamKeys();
  StreamKeys(const StreamKeys&) = delete;
  StreamKeys& operator=(const StreamKeys&) = delete;

  std::uint64_t nonce() const { return nonce_; }
  // Tells a wrong key from the right one; tells nothing of the key.
  const std::array<std::uint8_t, 8>& check() const { return check_; }
  const Digest& keystream_key() const { return keystream_key_; }
  const Digest& authentication_key() const { return authentication_key_; }

  // Counter blocks to keystream blocks, in place. The words are turned to memory order and back.
  void keystream(std::span<AesBlock> blocks) const;

 private:
  struct CipherDeleter {
    void operator()(evp_cipher_ctx_st* context) const;
  };

  std::uint64_t nonce_;
  Digest keystream_key_, authentication_key_;
  std::array<std::uint8_t, 8> check_;
  std::unique_ptr<evp_cipher_ctx_st, CipherDeleter> cipher_;
};

}  // namespace cu264::protect
