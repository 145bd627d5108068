// AES-256 (FIPS 197) on plain values, for kernels. The host's streams use libcrypto; tests check that both
// agree.
//
// The S-box is looked up in memory. On a processor that is shared with an attacker, the timing of these
// look-ups may reveal something about the key; libcrypto's does not.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "cu264/protect.h"

namespace cu264::protect {

inline constexpr int kAesRounds = 14;

// The expanded key has 15 round keys of four words, most significant byte first.
struct AesKey {
  std::uint32_t words[4 * (kAesRounds + 1)];
};

struct AesBlock {
  std::uint32_t words[4];
};

CU264_HD std::uint32_t aes_sub_byte(std::uint32_t byte) {
  // clang-format off
  static constexpr std::uint8_t table[256] = {
      0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76,
      0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0,
      0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15,
      0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75,
      0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84,
      0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf,
      0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8,
      0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2,
      0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73,
      0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb,
      0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79,
      0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08,
      0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a,
      0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e,
      0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf,
      0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16,
  };
  // clang-format on
  return table[byte];
}

CU264_HD std::uint32_t aes_sub_word(std::uint32_t word) {
  return aes_sub_byte(word >> 24) << 24 | aes_sub_byte(word >> 16 & 255) << 16 |
         aes_sub_byte(word >> 8 & 255) << 8 | aes_sub_byte(word & 255);
}

CU264_HD std::uint32_t aes_rotate(std::uint32_t word, int bits) {
  return word << bits | word >> (32 - bits);
}

// FIPS 197, 5.2
CU264_HD AesKey aes_expand_key(const std::uint8_t* key) {
  AesKey expanded;
  for (int i = 0; i < 8; ++i) {
    expanded.words[i] = static_cast<std::uint32_t>(key[4 * i]) << 24 |
                        static_cast<std::uint32_t>(key[4 * i + 1]) << 16 |
                        static_cast<std::uint32_t>(key[4 * i + 2]) << 8 | key[4 * i + 3];
  }
  std::uint32_t round_constant = 0x01000000;
  for (int i = 8; i < 4 * (kAesRounds + 1); ++i) {
    std::uint32_t word = expanded.words[i - 1];
    if (i % 8 == 0) {
      word = aes_sub_word(aes_rotate(word, 8)) ^ round_constant;
      round_constant <<= 1;
    } else if (i % 8 == 4) {
      word = aes_sub_word(word);
    }
    expanded.words[i] = expanded.words[i - 8] ^ word;
  }
  return expanded;
}

// Computes one column of MixColumns, with all four products at once.
CU264_HD std::uint32_t aes_mix_column(std::uint32_t column) {
  const std::uint32_t high = column & 0x80808080u;
  const std::uint32_t doubled = ((column & 0x7f7f7f7fu) << 1) ^ ((high >> 7) * 0x1b);
  const std::uint32_t tripled_next = aes_rotate(doubled ^ column, 8);
  return doubled ^ tripled_next ^ aes_rotate(column, 16) ^ aes_rotate(column, 24);
}

// Applies SubBytes and ShiftRows to the column that begins with `a`.
CU264_HD std::uint32_t aes_shifted(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return aes_sub_byte(a >> 24) << 24 | aes_sub_byte(b >> 16 & 255) << 16 | aes_sub_byte(c >> 8 & 255) << 8 |
         aes_sub_byte(d & 255);
}

// FIPS 197, 5.1
CU264_HD AesBlock aes_encrypt(const AesKey& key, AesBlock block) {
  std::uint32_t a = block.words[0] ^ key.words[0], b = block.words[1] ^ key.words[1];
  std::uint32_t c = block.words[2] ^ key.words[2], d = block.words[3] ^ key.words[3];
  for (int round = 1; round <= kAesRounds; ++round) {
    const std::uint32_t* const words = key.words + 4 * round;
    std::uint32_t e = aes_shifted(a, b, c, d), f = aes_shifted(b, c, d, a);
    std::uint32_t g = aes_shifted(c, d, a, b), h = aes_shifted(d, a, b, c);
    if (round < kAesRounds) {
      e = aes_mix_column(e), f = aes_mix_column(f), g = aes_mix_column(g), h = aes_mix_column(h);
    }
    a = e ^ words[0], b = f ^ words[1], c = g ^ words[2], d = h ^ words[3];
  }
  return {{a, b, c, d}};
}

// The block of the encryption keystream that is used for prediction modes. The blocks for levels count from 0
// (protect/key_layout.h).
inline constexpr std::uint32_t kKeystreamModes = 31;

// The counter of CTR mode consists of nonce, picture, macroblock, use and block. Every block of every
// picture has its own 128 bits, which can be computed in any order. `block` is below 32, `macroblock` below
// 2^24.
CU264_HD AesBlock keystream_counter(std::uint64_t nonce, std::uint32_t picture, std::uint32_t macroblock,
                                    KeystreamUse use, std::uint32_t block) {
  return {{static_cast<std::uint32_t>(nonce >> 32), static_cast<std::uint32_t>(nonce), picture,
           macroblock << 8 | static_cast<std::uint32_t>(use) << 5 | block}};
}

CU264_HD AesBlock keystream_block(const AesKey& key, std::uint64_t nonce, std::uint32_t picture,
                                  std::uint32_t macroblock, KeystreamUse use, std::uint32_t block) {
  return aes_encrypt(key, keystream_counter(nonce, picture, macroblock, use, block));
}

}  // namespace cu264::protect
