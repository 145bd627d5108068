#include "protect/keys.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "protect/fixed_nonce.h"

namespace cu264::protect {
namespace {

thread_local std::optional<std::uint64_t> fixed_nonce;

ByteSpan text(std::string_view characters) {
  return {reinterpret_cast<const std::uint8_t*>(characters.data()), characters.size()};
}

}  // namespace

FixedNonce::FixedNonce(std::uint64_t nonce) {
  fixed_nonce = nonce;
}

FixedNonce::~FixedNonce() {
  fixed_nonce.reset();
}

std::uint64_t random_nonce() {
  if (fixed_nonce) return *fixed_nonce;
  std::uint8_t bytes[8];
  fill_at_random(bytes);
  std::uint64_t nonce = 0;
  std::memcpy(&nonce, bytes, sizeof nonce);
  return nonce;
}

Digest hmac_sha256(ByteSpan key, std::initializer_list<ByteSpan> parts) {
  Hmac hmac(key);
  hmac.begin();
  for (const ByteSpan part : parts) hmac.add(part);
  return hmac.take();
}

// The keys are made in place, so that no copy remains in memory.
StreamKeys::StreamKeys(const ProtectionKey& key, std::uint64_t nonce)
    : nonce_(nonce),
      keystream_key_(hmac_sha256(key.bytes(), {text("cu264 keystream")})),
      authentication_key_(hmac_sha256(key.bytes(), {text("cu264 authentication, version 2")})),
      first_version_authentication_key_(hmac_sha256(key.bytes(), {text("cu264 authentication")})) {
  std::uint8_t nonce_bytes[8];
  for (int i = 0; i < 8; ++i) nonce_bytes[i] = static_cast<std::uint8_t>(nonce >> (56 - 8 * i));
  const Digest check = hmac_sha256(key.bytes(), {text("cu264 key check"), nonce_bytes});
  std::copy_n(check.begin(), first_version_check_.size(), first_version_check_.begin());
  cipher_.emplace(keystream_key_);
}

StreamKeys::~StreamKeys() {
  wipe(keystream_key_.data(), keystream_key_.size());
  wipe(authentication_key_.data(), authentication_key_.size());
  wipe(first_version_authentication_key_.data(), first_version_authentication_key_.size());
}

}  // namespace cu264::protect
