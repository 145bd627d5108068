// Selective encryption of a finished stream, and the way back.
#include <algorithm>
#include <string>

#include "core/cavlc_tables.h"
#include "cu264/status.h"
#include "protect/block_cipher.h"
#include "protect/encode_cipher.h"
#include "protect/nal_tool.h"

namespace cu264::protect {
namespace {

constexpr std::uint8_t kAuthenticated = 1;

std::uint8_t bits_of(const EncryptionParts& parts) {
  return static_cast<std::uint8_t>((parts.signs ? 1 : 0) | (parts.modes ? 2 : 0) | (parts.codewords ? 4 : 0));
}

// HMAC over the nonce, a picture's number and its slices, each with its length.
class PictureDigest {
 public:
  explicit PictureDigest(const StreamKeys& keys) : hmac_(keys.authentication_key()), nonce_(keys.nonce()) {}

  void begin(std::uint32_t picture) {
    hmac_.begin();
    add_number<8>(nonce_);
    add_number<4>(picture);
  }
  void add(ByteSpan unit) {
    add_number<8>(unit.size());
    hmac_.add(unit);
  }
  Digest take() { return hmac_.take(); }

 private:
  template <int bytes>
  void add_number(std::uint64_t value) {
    std::uint8_t digits[bytes];
    for (int i = 0; i < bytes; ++i) digits[i] = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
    hmac_.add(digits);
  }

  Hmac hmac_;
  std::uint64_t nonce_;
};

// A cipher of its own for each slice that is under way: libcrypto's contexts are not to be shared.
class CipherJob : public SliceJob {
 public:
  CipherJob(const ProtectionKey& key, std::uint64_t nonce, const EncryptionParts& parts, bool decrypt,
            std::uint64_t& encrypted_bits)
      : keys_(key, nonce), cipher_(keys_, parts, decrypt), encrypted_bits_(encrypted_bits) {}

  void run() override {
    cipher_.begin_slice(slice, rbsp);
    parse(cipher_);
  }
  bool finish() override {
    encrypted_bits_ += cipher_.encrypted_bits();
    return true;
  }

 private:
  StreamKeys keys_;
  BlockCipher cipher_;
  std::uint64_t& encrypted_bits_;  // of all slices that are finished
};

class Encryptor : public NalTool {
 public:
  Encryptor(const ProtectionKey& key, const EncryptionOptions& options, std::uint64_t nonce)
      : key_(key), options_(options), keys_(key, nonce) {
    if (!options.parts.any()) {
      throw Error(ErrorCode::invalid_argument, "nothing to encrypt", "name signs, modes or codewords");
    }
    if (options.authenticate) digest_.emplace(keys_);
  }

 private:
  bool message(const Message& message) override {
    if (message.kind != MessageKind::encryption) return false;
    throw Error(ErrorCode::bad_input, "the stream is encrypted already", "decrypt it first");
  }
  Bytes begin_picture() override {
    if (digest_) digest_->begin(picture());
    if (picture() != 0) return {};
    return encryption_message(keys_, options_.parts, options_.authenticate);
  }
  std::unique_ptr<SliceJob> make_job() override {
    return std::make_unique<CipherJob>(key_, keys_.nonce(), options_.parts, false, encrypted_bits_);
  }
  void written(const Slice&, ByteSpan unit) override {
    if (digest_) digest_->add(unit);
  }
  Bytes end_picture() override {
    if (!digest_) return {};
    Message message;
    message.kind = MessageKind::authentication;
    message.picture = picture();
    message.digest = digest_->take();
    return sei_nal(message);
  }
  Bytes end_stream() override { return {}; }
  void add_counts(StreamCounts& counts) const override { counts.encrypted_bits = encrypted_bits_; }

  ProtectionKey key_;
  EncryptionOptions options_;
  StreamKeys keys_;
  std::uint64_t encrypted_bits_ = 0;
  std::optional<PictureDigest> digest_;  // where asked for
};

class Decryptor : public NalTool {
 public:
  explicit Decryptor(const ProtectionKey& key) : key_(key) {}

 private:
  bool message(const Message& message) override {
    if (message.kind == MessageKind::authentication) {
      expected_ = message;
      return true;
    }
    if (message.kind != MessageKind::encryption) return false;
    keys_ = checked_keys(key_, message);
    const std::uint8_t parts = message.settings[0];
    parts_ = {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0};
    digest_.reset();
    if ((message.settings[1] & kAuthenticated) != 0) digest_.emplace(*keys_);
    restart_pictures();
    return true;
  }
  std::unique_ptr<SliceJob> make_job() override {
    if (!keys_) {
      throw Error(ErrorCode::bad_input, "the stream is not encrypted, or its begin is missing",
                  "only what cu264 encrypted can be decrypted");
    }
    return std::make_unique<CipherJob>(key_, keys_->nonce(), parts_, true, encrypted_bits_);
  }
  Bytes begin_picture() override {
    if (digest_) digest_->begin(picture());
    return {};
  }
  void written(const Slice& slice, ByteSpan) override {
    if (digest_) digest_->add(slice.nal->unit);
  }
  Bytes end_picture() override {
    if (!digest_) return {};
    const Digest digest = digest_->take();
    if (!expected_ || expected_->picture != picture() || !equal_in_constant_time(digest, expected_->digest)) {
      throw Error(ErrorCode::bad_input, "picture " + std::to_string(picture()) + " fails its authentication",
                  "it was changed after it was encrypted");
    }
    expected_.reset();
    return {};
  }
  Bytes end_stream() override { return {}; }
  void add_counts(StreamCounts& counts) const override { counts.encrypted_bits = encrypted_bits_; }

  ProtectionKey key_;
  std::unique_ptr<StreamKeys> keys_;
  EncryptionParts parts_;
  std::uint64_t encrypted_bits_ = 0;
  std::optional<Message> expected_;
  std::optional<PictureDigest> digest_;  // where the stream is authenticated
};

}  // namespace

Bytes encryption_message(const StreamKeys& keys, const EncryptionParts& parts, bool authenticated) {
  Message message = new_message(MessageKind::encryption, keys);
  message.settings[0] = bits_of(parts);
  message.settings[1] = authenticated ? kAuthenticated : 0;
  return sei_nal(message);
}

std::unique_ptr<StreamTool> make_encryptor(const EncoderEncryption& encryption) {
  return std::make_unique<Encryptor>(encryption.key, EncryptionOptions{encryption.parts, false},
                                     encryption.nonce ? *encryption.nonce : random_nonce());
}
}  // namespace cu264::protect

namespace cu264 {

EncryptionParts encryption_strength(int strength) {
  if (strength < 1 || strength > 3) {
    throw Error(ErrorCode::invalid_argument, "there is no strength " + std::to_string(strength), "1, 2 or 3");
  }
  return {true, strength >= 2, strength >= 3};
}

std::unique_ptr<StreamTool> make_encryptor(const ProtectionKey& key, const EncryptionOptions& options) {
  return std::make_unique<protect::Encryptor>(key, options, protect::random_nonce());
}

std::unique_ptr<StreamTool> make_decryptor(const ProtectionKey& key) {
  return std::make_unique<protect::Decryptor>(key);
}

}  // namespace cu264
