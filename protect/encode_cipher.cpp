#include "protect/encode_cipher.h"

#include <algorithm>
#include <cstddef>

#include "core/mb_syntax.h"
#include "protect/level_cipher.h"

namespace cu264::protect {
namespace {

using core::MacroblockRecord;

// Encrypts the macroblocks of one slice.
class SliceCipher {
 public:
  SliceCipher(const core::CodedPictureView& view, int slice, const KeystreamCipher& cipher,
              std::uint64_t nonce, std::uint32_t picture)
      : view_(view),
        first_(core::slice_first_row(slice, view.slices, view.mb_height) * view.mb_width),
        end_(core::slice_first_row(slice + 1, view.slices, view.mb_height) * view.mb_width),
        cipher_(cipher),
        nonce_(nonce),
        picture_(picture) {}

  void levels(const EncryptionParts& parts) const {
    for (int mb = first_; mb < end_; ++mb) {
      encrypt_levels(view_.macroblocks[mb],
                     view_.total_coeff + static_cast<std::ptrdiff_t>(mb) * core::kTotalCoeffStride,
                     view_.levels + static_cast<std::ptrdiff_t>(mb) * core::kLevelsPerMacroblock, parts.signs,
                     parts.codewords, [&](AesBlock* key, int count) {
                       for (int i = 0; i < count; ++i) key[i] = counter(mb, static_cast<std::uint32_t>(i));
                       if (count > 0) cipher_.keystream({key, static_cast<std::size_t>(count)});
                     });
    }
  }

  void modes() const {
    for (int mb = end_ - 1; mb >= first_; --mb) {
      AesBlock key = counter(mb, kKeystreamModes);
      cipher_.keystream({&key, 1});
      MacroblockRecord& record = view_.macroblocks[mb];
      encrypt_mode_codes(record, left(mb), above(mb), key);
      encrypt_other_modes(record, left(mb) != nullptr, above(mb) != nullptr, key);
    }
    for (int mb = first_; mb < end_; ++mb) decode_mode_codes(view_.macroblocks[mb], left(mb), above(mb));
  }

 private:
  AesBlock counter(int mb, std::uint32_t block) const {
    return keystream_counter(nonce_, picture_, static_cast<std::uint32_t>(mb), KeystreamUse::encryption,
                             block);
  }
  const MacroblockRecord* left(int mb) const {
    return mb % view_.mb_width != 0 ? view_.macroblocks + mb - 1 : nullptr;
  }
  const MacroblockRecord* above(int mb) const {
    return mb - view_.mb_width >= first_ ? view_.macroblocks + mb - view_.mb_width : nullptr;
  }

  const core::CodedPictureView& view_;
  const int first_, end_;
  const KeystreamCipher& cipher_;
  const std::uint64_t nonce_;
  const std::uint32_t picture_;
};

}  // namespace

EncodeCipher::EncodeCipher(const EncoderEncryption& encryption)
    : parts_(encryption.parts),
      keys_(encryption.key, random_nonce()),
      ciphers_([this] { return KeystreamCipher(keys_.keystream_key()); }) {
  if (!parts_.any()) {
    throw Error(ErrorCode::invalid_argument, "nothing to encrypt", "name signs, modes or codewords");
  }
}

Bytes EncodeCipher::message() const {
  return encryption_message(keys_, parts_);
}

void EncodeCipher::encrypt_slice(const core::CodedPictureView& view, int slice, std::uint32_t picture) const {
  const SliceCipher cipher(view, slice, ciphers_.local(), keys_.nonce(), picture);
  if (parts_.signs || parts_.codewords) cipher.levels(parts_);
  if (parts_.modes) cipher.modes();
}

}  // namespace cu264::protect
