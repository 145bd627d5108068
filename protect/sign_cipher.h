// The keystream of the signs of CABAC slices: sign n of a macroblock, in the order of the stream, takes bit n
// of the macroblock's AES blocks 0, 1 and so on; bit b is bit b mod 32 of word b div 32.
#pragma once

#include <cstdint>

#include "protect/cabac_slice.h"
#include "protect/keys.h"

namespace cu264::protect {

class SignCipher : public SignFlips {
 public:
  // `keys` must outlive this object.
  explicit SignCipher(const StreamKeys& keys) : keys_(keys) {}

  void begin_slice(std::uint32_t picture) { picture_ = picture; }
  void begin_macroblock(int address) override {
    macroblock_ = static_cast<std::uint32_t>(address);
    used_ = made_ = 0;
  }
  std::uint64_t flips(int count) override {
    const std::uint32_t first = used_;
    used_ += static_cast<std::uint32_t>(count);
    for (; 128 * made_ < used_; ++made_) {
      blocks_[made_] =
          keystream_counter(keys_.nonce(), picture_, macroblock_, KeystreamUse::encryption, made_);
      keys_.keystream({&blocks_[made_], 1});
    }
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) {
      const std::uint32_t at = first + i;
      bits |= static_cast<std::uint64_t>(blocks_[at / 128].words[at % 128 / 32] >> at % 32 & 1) << i;
    }
    return bits;
  }

 private:
  static constexpr int kMaxBlocks = 3;  // a macroblock has at most 384 levels

  const StreamKeys& keys_;
  std::uint32_t picture_ = 0, macroblock_ = 0;
  std::uint32_t used_ = 0, made_ = 0;  // bits, AES blocks
  AesBlock blocks_[kMaxBlocks] = {};
};

}  // namespace cu264::protect
