// All that is asked of libcrypto. protect/without_libcrypto/refusal.cpp takes the place of this file in a
// library that does not link libcrypto.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <string>

#include "cu264/status.h"
#include "protect/keys.h"

namespace cu264::protect {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw Error(ErrorCode::encode_failure, std::string("libcrypto failed: ") + what);
}

std::uint32_t swapped(std::uint32_t word) {
  return __builtin_bswap32(word);
}

}  // namespace

void fill_at_random(std::span<std::uint8_t> bytes) {
  require(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1, "no random numbers");
}

void fill_with_secret(std::span<std::uint8_t> bytes) {
  require(RAND_priv_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1, "no random numbers");
}

void Hmac::ContextDeleter::operator()(evp_mac_ctx_st* context) const {
  EVP_MAC_CTX_free(context);
}

Hmac::Hmac(ByteSpan key) : key_(key.begin(), key.end()) {
  EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  context_.reset(EVP_MAC_CTX_new(mac));
  EVP_MAC_free(mac);  // the context keeps it
  char sha256[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
                                   OSSL_PARAM_construct_end()};
  require(context_ && EVP_MAC_CTX_set_params(context_.get(), parameters) == 1, "HMAC");
}

Hmac::~Hmac() {
  wipe(key_.data(), key_.size());
}

// The key is passed again because OpenSSL 3.0.2 and older do not start anew without it.
void Hmac::begin() {
  static constexpr unsigned char none = 0;  // gives an empty key an address
  const unsigned char* const key = key_.empty() ? &none : key_.data();
  require(EVP_MAC_init(context_.get(), key, key_.size(), nullptr) == 1, "HMAC");
}

void Hmac::add(ByteSpan bytes) {
  require(EVP_MAC_update(context_.get(), bytes.data(), bytes.size()) == 1, "HMAC");
}

Digest Hmac::take() {
  Digest digest;
  std::size_t size = 0;
  require(EVP_MAC_final(context_.get(), digest.data(), &size, digest.size()) == 1 && size == digest.size(),
          "HMAC");
  return digest;
}

bool equal_in_constant_time(ByteSpan a, ByteSpan b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void KeystreamCipher::ContextDeleter::operator()(evp_cipher_ctx_st* context) const {
  EVP_CIPHER_CTX_free(context);
}

// The counters are not consecutive, so CTR mode is done as ECB on the counters.
KeystreamCipher::KeystreamCipher(const Digest& key) : context_(EVP_CIPHER_CTX_new()) {
  require(context_ &&
              EVP_EncryptInit_ex(context_.get(), EVP_aes_256_ecb(), nullptr, key.data(), nullptr) == 1 &&
              EVP_CIPHER_CTX_set_padding(context_.get(), 0) == 1,
          "AES-256");
}

void KeystreamCipher::keystream(std::span<AesBlock> blocks) const {
  for (AesBlock& block : blocks) {
    for (std::uint32_t& word : block.words) word = swapped(word);
  }
  auto* const bytes = reinterpret_cast<unsigned char*>(blocks.data());
  int written = 0;
  require(
      EVP_EncryptUpdate(context_.get(), bytes, &written, bytes, static_cast<int>(blocks.size_bytes())) == 1 &&
          written == static_cast<int>(blocks.size_bytes()),
      "AES-256");
  for (AesBlock& block : blocks) {
    for (std::uint32_t& word : block.words) word = swapped(word);
  }
}

}  // namespace cu264::protect
