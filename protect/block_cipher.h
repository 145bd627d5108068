// Applies protect/cipher.h to the macroblocks of a slice, in the slice's own RBSP.
#pragma once

#include <cstdint>

#include "cu264/protect.h"
#include "protect/key_layout.h"
#include "protect/keys.h"
#include "protect/nal_tool.h"
#include "protect/slice_parser.h"

namespace cu264::protect {

class BlockCipher : public MacroblockVisitor {
 public:
  // `keys` must outlive this object.
  BlockCipher(const StreamKeys& keys, EncryptionParts parts, bool decrypt)
      : keys_(keys), parts_(parts), decrypt_(decrypt) {}

  void begin_slice(const Slice& slice, Bytes& rbsp);
  void macroblock(const MacroblockSyntax& mb) override;

  // The number of bits of the slice that the keystream could change.
  std::uint64_t encrypted_bits() const { return encrypted_bits_; }

 private:
  void make_keystream(const MacroblockSyntax& mb);
  BlockKey key_of(const BlockSyntax& block) const;
  void luma_modes(const MacroblockSyntax& mb);
  void other_modes(const MacroblockSyntax& mb);
  void signs(const BlockSyntax& block, std::uint32_t key);
  void places(const BlockSyntax& block, std::uint64_t key);

  const StreamKeys& keys_;
  EncryptionParts parts_;
  bool decrypt_;
  Bytes* rbsp_ = nullptr;
  std::uint32_t picture_ = 0;
  int first_mb_ = 0, mb_width_ = 1;
  KeyLayout layout_;
  AesBlock keystream_[kMaxKeyBlocks + 1];  // first for the levels, then for the modes
  const AesBlock* mode_key_ = keystream_;
  std::uint64_t encrypted_bits_ = 0;
};

}  // namespace cu264::protect
