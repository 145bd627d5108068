// Selective encryption of signs and prediction modes; place_cipher.h does that of the places of levels. Every
// function keeps the length of every code. It is undone by itself, or with `decrypt` set.
//
// All functions work on plain values, for stream tools and kernels alike; key_layout.h says where the key
// bits come from.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/bits.h"
#include "core/hd.h"
#include "protect/aes.h"

namespace cu264::protect {

// A level's sign is the last bit of its level_suffix, so only a level without one keeps its sign: at
// suffixLength 0 the parity of level_prefix is the sign for levelCode up to 13, and another sign would have a
// code of another length.
CU264_HD bool level_sign_has_bit(int level_code, int suffix_length) {
  return suffix_length > 0 || level_code >= 14;
}

// A macroblock's modes have 16 bytes of keystream (kKeystreamModes). A luma block takes the byte with its
// number, mb_type the first one.
CU264_HD std::uint32_t mode_key(const AesBlock& key, int index) {
  return key.words[index / 4] >> (8 * (index % 4)) & 255;
}

// Takes one bit that block 15 leaves unused: that block has all neighbours and needs three bits.
CU264_HD std::uint32_t chroma_mode_key(const AesBlock& key) {
  return key.words[3] >> 31;
}

// A slice that begins inside a row has one macroblock whose left and upper neighbours are available and whose
// upper left one is not. Its first block and the two that this block is predicted from keep their modes,
// because modes that need the corner would be illegal there.
CU264_HD bool mode_is_kept(int address, int first_mb, int mb_width, bool large_blocks, int block) {
  if (first_mb % mb_width == 0) return false;
  if (address == first_mb && block == (large_blocks ? 2 : 10)) return true;
  if (address == first_mb + mb_width - 1 && block == (large_blocks ? 1 : 5)) return true;
  return address == first_mb + mb_width && block == 0;
}

// Encrypts rem_intra4x4_pred_mode or rem_intra8x8_pred_mode of a block with these neighbours. `key` is a byte
// of keystream. Without a neighbour the predicted mode is DC (8.3.1.1), and only some modes are legal; with
// both neighbours, all are.
CU264_HD int encrypt_rem_mode(int rem, bool left, bool above, std::uint32_t key, bool decrypt) {
  if (left && above) return rem ^ static_cast<int>(key & 7);
  // These are horizontal and horizontal up.
  if (left) return rem == 1 || rem == 7 ? rem ^ ((key & 1) != 0 ? 6 : 0) : rem;
  // These are vertical, diagonal down left and vertical left: rem 0, 2 and 6.
  if (!above || (rem != 0 && rem != 2 && rem != 6)) return rem;
  const int index = rem == 0 ? 0 : rem == 2 ? 1 : 2;
  const int step = static_cast<int>(key % 3);
  const int moved = (index + (decrypt ? 3 - step : step)) % 3;
  return moved == 0 ? 0 : moved == 1 ? 2 : 6;
}

// Encrypts mb_type of an Intra_16x16 macroblock: the prediction mode moves among those that the neighbours
// allow and whose mb_type has a code of the same length. `key` is a byte of keystream.
CU264_HD int encrypt_mb_type(int mb_type, bool left, bool above, bool above_left, std::uint32_t key,
                             bool decrypt) {
  const int mode = (mb_type - 1) & 3, base = mb_type - mode;
  const int length = core::ue_length(static_cast<std::uint32_t>(mb_type));
  // The bits stand for vertical, horizontal, DC and plane (table 8-4).
  std::uint32_t allowed = (above ? 1u : 0u) | (left ? 2u : 0u) | 4u | (left && above && above_left ? 8u : 0u);
  for (int other = 0; other < 4; ++other) {
    if (core::ue_length(static_cast<std::uint32_t>(base + other)) != length) allowed &= ~(1u << other);
  }
  if ((allowed >> mode & 1) == 0) return mb_type;
  const int count = core::count_ones(allowed), step = static_cast<int>(key) % count;
  int index = core::count_ones(allowed & ((1u << mode) - 1));
  for (index = (index + (decrypt ? count - step : step)) % count; index > 0; --index) allowed &= allowed - 1;
  return base + core::highest_bit(allowed & ~(allowed - 1));
}

// Encrypts intra_chroma_pred_mode. Horizontal and vertical have codes of the same length; both need their
// neighbour.
CU264_HD int encrypt_chroma_mode(int mode, bool left, bool above, std::uint32_t key) {
  return left && above && (mode == 1 || mode == 2) && (key & 1) != 0 ? 3 - mode : mode;
}

}  // namespace cu264::protect
