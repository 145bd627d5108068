// The keystream of CABAC slices. Sign n of a macroblock, in the order of the stream, takes bit n of the
// macroblock's AES blocks 0 to 2, and suffix bit n takes bit n of the blocks from 3 on; bit b is bit b mod 32
// of word b div 32. A macroblock has at most 3200 bits (H.264 A.3.1), so 25 blocks suffice for suffixes; in a
// damaged stream bits may be left over, which stay as they are.
#pragma once

#include <cstdint>

#include "cu264/protect.h"
#include "protect/cabac_slice.h"
#include "protect/keys.h"

namespace cu264::protect {

class CabacCipher : public LevelFlips {
 public:
  // `keys` must outlive this object.
  CabacCipher(const StreamKeys& keys, const EncryptionParts& parts) : keys_(keys), parts_(parts) {}

  void begin_slice(std::uint32_t picture) { picture_ = picture; }
  void begin_macroblock(int address) override {
    macroblock_ = static_cast<std::uint32_t>(address);
    signs_ = {0, 0};
    suffixes_ = {kSignBlocks, kSignBlocks * kBits};
  }
  std::uint64_t signs(int count) override {
    if (!parts_.signs) return 0;
    std::uint64_t bits = 0;
    for (int i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(next(signs_)) << i;
    return bits;
  }
  bool suffix_bit() override {
    return parts_.suffixes && suffixes_.used < kMaxBlocks * kBits && next(suffixes_) != 0;
  }

 private:
  static constexpr std::uint32_t kBits = 128;                           // of an AES block
  static constexpr std::uint32_t kSignBlocks = 3, kMaxBlocks = 3 + 25;  // a macroblock has at most 384 levels

  struct Stream {
    std::uint32_t made = 0, used = 0;  // the next AES block, the next bit
    AesBlock block = {};
  };

  std::uint32_t next(Stream& stream) {
    if (stream.used == kBits * stream.made) {
      stream.block =
          keystream_counter(keys_.nonce(), picture_, macroblock_, KeystreamUse::encryption, stream.made++);
      keys_.keystream({&stream.block, 1});
    }
    const std::uint32_t bit = stream.used++ % kBits;
    return stream.block.words[bit / 32] >> bit % 32 & 1;
  }

  const StreamKeys& keys_;
  EncryptionParts parts_;
  std::uint32_t picture_ = 0, macroblock_ = 0;
  Stream signs_, suffixes_;
};

}  // namespace cu264::protect
