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

// HMAC over a picture's number and its slices, each with its length.
class PictureDigest {
 public:
  void add(ByteSpan unit) {
    for (int i = 0; i < 8; ++i)
      input_.push_back(static_cast<std::uint8_t>(std::uint64_t{unit.size()} >> (56 - 8 * i)));
    input_.insert(input_.end(), unit.begin(), unit.end());
  }
  Digest take(const StreamKeys& keys, std::uint32_t picture) {
    std::uint8_t begin[12];
    for (int i = 0; i < 8; ++i) begin[i] = static_cast<std::uint8_t>(keys.nonce() >> (56 - 8 * i));
    for (int i = 0; i < 4; ++i) begin[8 + i] = static_cast<std::uint8_t>(picture >> (24 - 8 * i));
    const Digest digest = hmac_sha256(keys.authentication_key(), {begin, input_});
    input_.clear();
    return digest;
  }

 private:
  Bytes input_;
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
  }

 private:
  bool message(const Message& message) override {
    if (message.kind != MessageKind::encryption) return false;
    throw Error(ErrorCode::bad_input, "the stream is encrypted already", "decrypt it first");
  }
  Bytes begin_picture() override {
    if (picture() != 0) return {};
    return encryption_message(keys_, options_.parts, options_.authenticate);
  }
  std::unique_ptr<SliceJob> make_job() override {
    return std::make_unique<CipherJob>(key_, keys_.nonce(), options_.parts, false, encrypted_bits_);
  }
  void written(const Slice&, ByteSpan unit) override {
    if (options_.authenticate) digest_.add(unit);
  }
  Bytes end_picture() override {
    if (!options_.authenticate) return {};
    Message message;
    message.kind = MessageKind::authentication;
    message.picture = picture();
    message.digest = digest_.take(keys_, picture());
    return sei_nal(message);
  }
  Bytes end_stream() override { return {}; }
  void add_counts(StreamCounts& counts) const override { counts.encrypted_bits = encrypted_bits_; }

  ProtectionKey key_;
  EncryptionOptions options_;
  StreamKeys keys_;
  std::uint64_t encrypted_bits_ = 0;
  PictureDigest digest_;
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
    authenticated_ = (message.settings[1] & kAuthenticated) != 0;
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
  void written(const Slice& slice, ByteSpan) override {
    if (authenticated_) digest_.add(slice.nal->unit);
  }
  Bytes end_picture() override {
    if (!authenticated_) return {};
    const Digest digest = digest_.take(*keys_, picture());
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
  bool authenticated_ = false;
  std::optional<Message> expected_;
  PictureDigest digest_;
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
