#include "protect/keys.h"

#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string>

#include "cu264/status.h"
#include "protect/fixed_nonce.h"

namespace cu264 {
namespace {

constexpr const char* kKeyRemedy = "a key is 32 bytes, or 64 hexadecimal digits";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Wipes memory when it goes out of scope.
struct Wiped {
  void* memory;
  std::size_t size;
  ~Wiped() { OPENSSL_cleanse(memory, size); }
};

// `source` says where the digits come from; the digits themselves never appear in a message.
ProtectionKey key_of_hex(std::string_view hex, const std::string& source) {
  while (!hex.empty() && (hex.back() == '\n' || hex.back() == '\r')) hex.remove_suffix(1);
  std::array<std::uint8_t, ProtectionKey::kBytes> bytes;
  const Wiped wiped{bytes.data(), bytes.size()};
  if (hex.size() != 2 * bytes.size()) {
    throw Error(ErrorCode::invalid_argument, source + " is no key: its length is wrong", kKeyRemedy);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      throw Error(ErrorCode::invalid_argument, source + " is no key: not all its characters are digits",
                  kKeyRemedy);
    }
    bytes[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return ProtectionKey(bytes);
}

}  // namespace

ProtectionKey::ProtectionKey(std::span<const std::uint8_t, kBytes> bytes) {
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

ProtectionKey::~ProtectionKey() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

ProtectionKey ProtectionKey::from_hex(std::string_view hex) {
  return key_of_hex(hex, "the text");
}

// It does not use a stream, whose buffer would keep the key.
ProtectionKey ProtectionKey::from_file(const std::string& path) {
  // The buffer holds one character more than a key and its line end can have.
  char text[2 * kBytes + 3];
  const Wiped wiped{text, sizeof text};
  std::size_t size = 0;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw Error(ErrorCode::bad_input, path + ": the key file cannot be read");
  ssize_t got = 0;
  while (size < sizeof text) {
    got = ::read(file, text + size, sizeof text - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  ::close(file);
  if (got < 0) throw Error(ErrorCode::bad_input, path + ": the key file cannot be read");
  if (size != kBytes) return key_of_hex({text, size}, path);
  if (std::all_of(text, text + size, [](char c) { return digit(c) >= 0; })) {
    throw Error(ErrorCode::invalid_argument, path + " is no key: it holds 32 hexadecimal digits, half a key",
                "a key is 64 hexadecimal digits, or 32 bytes that are not text");
  }
  return ProtectionKey(
      std::span<const std::uint8_t, kBytes>(reinterpret_cast<const std::uint8_t*>(text), kBytes));
}

bool ProtectionKey::file_is_open_to_others(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

ProtectionKey ProtectionKey::random() {
  std::array<std::uint8_t, kBytes> bytes;
  const Wiped wiped{bytes.data(), bytes.size()};
  if (RAND_priv_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw Error(ErrorCode::encode_failure, "libcrypto failed: no random numbers");
  }
  return ProtectionKey(bytes);
}

void ProtectionKey::write_new_file(const std::string& path) const {
  char text[2 * kBytes + 1];
  const Wiped wiped{text, sizeof text};
  for (std::size_t i = 0; i < kBytes; ++i) {
    text[2 * i] = "0123456789abcdef"[bytes_[i] >> 4];
    text[2 * i + 1] = "0123456789abcdef"[bytes_[i] & 15];
  }
  text[2 * kBytes] = '\n';
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) {
    const bool exists = errno == EEXIST;
    throw Error(ErrorCode::bad_output,
                path + (exists ? ": there is a file of this name already" : ": the key file cannot be made"),
                exists ? "a key is never overwritten: name another file"
                       : "name a file in a folder that can be written");
  }
  const bool written =
      ::write(file, text, sizeof text) == static_cast<ssize_t>(sizeof text) && ::fsync(file) == 0;
  if (::close(file) != 0 || !written) {
    ::unlink(path.c_str());
    throw Error(ErrorCode::bad_output, path + ": the key file cannot be written", "no file was left");
  }
}

ProtectionKey ProtectionKey::from_environment() {
  const char* const hex = std::getenv("CU264_KEY");
  if (hex == nullptr || *hex == 0) {
    throw Error(ErrorCode::invalid_argument, "there is no key",
                "give --key-file, or CU264_KEY in the environment");
  }
  return key_of_hex(hex, "CU264_KEY");
}

}  // namespace cu264

namespace cu264::protect {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw Error(ErrorCode::encode_failure, std::string("libcrypto failed: ") + what);
}

ByteSpan text(std::string_view characters) {
  return {reinterpret_cast<const std::uint8_t*>(characters.data()), characters.size()};
}

std::uint32_t swapped(std::uint32_t word) {
  return __builtin_bswap32(word);
}

}  // namespace

namespace {
thread_local std::optional<std::uint64_t> fixed_nonce;
}

FixedNonce::FixedNonce(std::uint64_t nonce) {
  fixed_nonce = nonce;
}

FixedNonce::~FixedNonce() {
  fixed_nonce.reset();
}

std::uint64_t random_nonce() {
  if (fixed_nonce) return *fixed_nonce;
  std::uint64_t nonce = 0;
  require(RAND_bytes(reinterpret_cast<unsigned char*>(&nonce), sizeof nonce) == 1, "no random numbers");
  return nonce;
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
  OPENSSL_cleanse(key_.data(), key_.size());
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

Digest hmac_sha256(ByteSpan key, std::initializer_list<ByteSpan> parts) {
  Hmac hmac(key);
  hmac.begin();
  for (const ByteSpan part : parts) hmac.add(part);
  return hmac.take();
}

void wipe(void* memory, std::size_t size) {
  OPENSSL_cleanse(memory, size);
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
  OPENSSL_cleanse(keystream_key_.data(), keystream_key_.size());
  OPENSSL_cleanse(authentication_key_.data(), authentication_key_.size());
  OPENSSL_cleanse(first_version_authentication_key_.data(), first_version_authentication_key_.size());
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
