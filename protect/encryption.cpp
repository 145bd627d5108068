// Selective encryption of a finished stream, and its decryption.
#include <algorithm>
#include <string>

#include "cu264/status.h"
#include "protect/block_cipher.h"
#include "protect/cabac_cipher.h"
#include "protect/encode_cipher.h"
#include "protect/nal_tool.h"
#include "protect/stream_verifier.h"

namespace cu264::protect {
namespace {

std::uint8_t bits_of(const EncryptionParts& parts) {
  return static_cast<std::uint8_t>((parts.signs ? 1 : 0) | (parts.modes ? 2 : 0) | (parts.codewords ? 4 : 0) |
                                   (parts.suffixes ? 8 : 0));
}

EncryptionParts parts_of(const Message& message) {
  const std::uint8_t parts = message.settings[0];
  return {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0, (parts & 8) != 0};
}

Message begin_message(const StreamKeys& keys, const EncryptionParts& parts, bool authenticated) {
  return new_message(MessageKind::encryption, keys,
                     {bits_of(parts), authenticated ? kAuthenticated : std::uint8_t{0}});
}

// A bin with a context decides the state, and so the length, of those that follow. Signs and suffixes are
// bypassed; modes and places are not.
void check_cabac_parts(const EncryptionParts& parts) {
  if (!parts.modes && !parts.codewords) return;
  throw Error(ErrorCode::bad_input, "the stream has CABAC entropy coding",
              "encrypt its signs and suffixes: modes and codewords need CAVLC");
}

// Suffixes of CAVLC carry hidden data, which can be read before decryption and after it.
void check_cavlc_parts(const EncryptionParts& parts) {
  if (!parts.suffixes) return;
  throw Error(ErrorCode::bad_input, "the stream has CAVLC entropy coding",
              "encrypt its signs, modes and codewords: suffixes need CABAC");
}

// Each slice that is under way has its own cipher, because libcrypto's contexts must not be shared.
class CipherJob : public SliceJob {
 public:
  CipherJob(const ProtectionKey& key, std::uint64_t nonce, const EncryptionParts& parts, bool decrypt,
            std::uint64_t& encrypted_bits)
      : keys_(key, nonce),
        parts_(parts),
        cipher_(keys_, parts, decrypt),
        cabac_cipher_(keys_, parts),
        encrypted_bits_(encrypted_bits) {}

  void run() override {
    if (slice.sets.pps.cabac) {
      check_cabac_parts(parts_);
      cabac_cipher_.begin_slice(slice.picture);
      return change_levels(cabac_cipher_);
    }
    check_cavlc_parts(parts_);
    cipher_.begin_slice(slice, rbsp);
    parse(cipher_);
  }
  bool finish() override {
    if (slice.sets.pps.cabac)
      encrypted_bits_ += (parts_.signs ? coefficients() : 0) + (parts_.suffixes ? suffix_bits() : 0);
    else
      encrypted_bits_ += cipher_.encrypted_bits();
    return true;
  }

 private:
  StreamKeys keys_;
  EncryptionParts parts_;
  BlockCipher cipher_;
  CabacCipher cabac_cipher_;
  std::uint64_t& encrypted_bits_;  // the sum over all finished slices
};

class Encryptor : public NalTool {
 public:
  Encryptor(const ProtectionKey& key, const EncryptionOptions& options, std::uint64_t nonce)
      : key_(key), options_(options), keys_(key, nonce) {
    if (!options.parts.any()) {
      throw Error(ErrorCode::invalid_argument, "nothing to encrypt",
                  "name signs, suffixes, modes or codewords");
    }
    message_ = begin_message(keys_, options.parts, options.authenticate);
    if (options.authenticate) authenticator_.start(keys_, message_);
  }

  Bytes last_units() override {
    ended_ = true;
    if (!options_.authenticate) return {};
    Bytes last = take_held();
    const Bytes end =
        code_nal(MessageKind::stream_end, total_pictures(), authenticator_.end_stream(total_pictures()));
    last.insert(last.end(), end.begin(), end.end());
    return last;
  }

 private:
  void inspect(const bitstream::NalUnits& part) override {
    if (options_.authenticate) authenticator_.between_units(part);
  }
  void inspect_outside(const bitstream::NalUnits& sets) override { inspect(sets); }
  // The decryptor asks for that.
  bool returns_whole_units() const override { return options_.authenticate; }
  void check_cabac() const override { check_cabac_parts(options_.parts); }
  bool message(const Message& message) override {
    if (message.kind == MessageKind::watermark || message.kind == MessageKind::hidden_data) return false;
    throw Error(ErrorCode::bad_input, "the stream is encrypted already", "decrypt it first");
  }
  Bytes begin_picture() override {
    if (options_.authenticate) authenticator_.begin_picture(picture());
    return picture() == 0 ? message_nal(message_) : Bytes{};
  }
  std::unique_ptr<SliceJob> make_job() override {
    return std::make_unique<CipherJob>(key_, keys_.nonce(), options_.parts, false, encrypted_bits_);
  }
  void written(const Slice&, ByteSpan unit) override {
    if (options_.authenticate) authenticator_.slice(unit);
  }
  void written(const bitstream::NalUnit& nal) override {
    if (options_.authenticate) authenticator_.other_unit(nal);
  }
  Bytes end_picture() override {
    if (!options_.authenticate) return {};
    return code_nal(MessageKind::authentication, picture(), authenticator_.end_picture());
  }
  Bytes end_stream() override {
    if (options_.authenticate && !ended_) {
      throw Error(ErrorCode::invalid_argument, "the authenticated stream was not ended",
                  "append what last_units() returns");
    }
    return {};
  }
  void add_counts(StreamCounts& counts) const override { counts.encrypted_bits = encrypted_bits_; }

  static Bytes code_nal(MessageKind kind, std::uint64_t pictures, const Digest& code) {
    Message message;
    message.kind = kind, message.pictures = pictures, message.code = code;
    return message_nal(message);
  }

  ProtectionKey key_;
  EncryptionOptions options_;
  StreamKeys keys_;
  Message message_;
  Authenticator authenticator_;
  bool ended_ = false;
  std::uint64_t encrypted_bits_ = 0;
};

class Decryptor : public NalTool {
 public:
  Decryptor(const ProtectionKey& key, const DecryptionOptions& options)
      : key_(key), verifier_(key, options) {}

 private:
  void inspect(const bitstream::NalUnits& part) override { verifier_.check(part); }
  void inspect_outside(const bitstream::NalUnits& sets) override { verifier_.check_outside(sets); }
  bool message(const Message& message) override {
    return message.kind != MessageKind::watermark && message.kind != MessageKind::hidden_data;
  }
  void check_cabac() const override {}  // whatever was encrypted can be decrypted
  std::unique_ptr<SliceJob> make_job() override {
    const Message& message = verifier_.protection();  // every slice follows this message
    return std::make_unique<CipherJob>(key_, message.nonce, parts_of(message), true, encrypted_bits_);
  }
  Bytes end_stream() override {
    verifier_.finish();
    return {};
  }
  void add_counts(StreamCounts& counts) const override { counts.encrypted_bits = encrypted_bits_; }

  ProtectionKey key_;
  StreamVerifier verifier_;
  std::uint64_t encrypted_bits_ = 0;
};

}  // namespace

Bytes encryption_message(const StreamKeys& keys, const EncryptionParts& parts) {
  return message_nal(begin_message(keys, parts, false));
}

std::unique_ptr<StreamTool> make_encryptor(const EncoderEncryption& encryption, std::uint64_t nonce) {
  return std::make_unique<Encryptor>(encryption.key, EncryptionOptions{encryption.parts, false}, nonce);
}

std::unique_ptr<StreamTool> make_encryptor(const ProtectionKey& key, const EncryptionOptions& options,
                                           std::uint64_t nonce) {
  return std::make_unique<Encryptor>(key, options, nonce);
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

std::unique_ptr<StreamTool> make_decryptor(const ProtectionKey& key, const DecryptionOptions& options) {
  return std::make_unique<protect::Decryptor>(key, options);
}

}  // namespace cu264
