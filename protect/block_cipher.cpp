#include "protect/block_cipher.h"

#include <algorithm>

#include "core/block.h"
#include "core/cavlc_tables.h"
#include "protect/cipher.h"

namespace cu264::protect {
namespace {

core::CodeWord zeros_code(const BlockSyntax& block, int total_zeros) {
  return block.max_num_coeff == 4 ? core::chroma_dc_total_zeros_code(block.total_coeff, total_zeros)
                                  : core::total_zeros_code(block.total_coeff, total_zeros);
}

std::uint32_t key_byte(const AesBlock& key, int index) {
  return key.words[index / 4] >> (8 * (index % 4)) & 255;
}

}  // namespace

void BlockCipher::begin_slice(const Slice& slice, Bytes& rbsp) {
  rbsp_ = &rbsp;
  encrypted_bits_ = 0;
  picture_ = slice.picture;
  first_mb_ = slice.header.first_mb;
  mb_width_ = slice.sets.sps.mb_width;
}

void BlockCipher::make_keystream(const MacroblockSyntax& mb) {
  const auto counter = [&](std::uint32_t block) {
    keystream_[key_count_++] = keystream_counter(
        keys_.nonce(), picture_, static_cast<std::uint32_t>(mb.address), kKeystreamEncryption, block);
  };
  key_count_ = 0;
  if (parts_.signs || parts_.codewords) {
    for (int i = 0; i < mb.block_count; ++i) {
      if (mb.blocks[i].total_coeff != 0) counter(mb.blocks[i].slot);
    }
  }
  if (parts_.modes) {
    if (mb.modes != 0) counter(kKeystreamLumaModes);
    counter(kKeystreamOtherModes);
  }
  if (key_count_ != 0) keys_.keystream({keystream_, static_cast<std::size_t>(key_count_)});
}

void BlockCipher::macroblock(const MacroblockSyntax& mb) {
  if (mb.kind == IntraKind::pcm) return;
  make_keystream(mb);
  const AesBlock* key = keystream_;
  if (parts_.signs || parts_.codewords) {
    for (int i = 0; i < mb.block_count; ++i) {
      const BlockSyntax& block = mb.blocks[i];
      if (block.total_coeff == 0) continue;
      if (parts_.signs) signs(block, key->words[0]);
      if (parts_.codewords && block.total_coeff < block.max_num_coeff) zeros(block, *key);
      ++key;
    }
  }
  if (!parts_.modes) return;
  if (mb.modes != 0) luma_modes(mb, *key++);
  other_modes(mb, *key);
}

void BlockCipher::luma_modes(const MacroblockSyntax& mb, const AesBlock& key) {
  const bool large = mb.kind == IntraKind::luma8x8;
  for (int block = 0; block < mb.modes; ++block) {
    if (mb.rem_mode[block] < 0 || mode_is_kept(mb.address, first_mb_, mb_width_, large, block)) continue;
    const int x = large ? block & 1 : core::luma_block_x(block),
              y = large ? block >> 1 : core::luma_block_y(block);
    const int rem = encrypt_rem_mode(mb.rem_mode[block], x > 0 || mb.left, y > 0 || mb.above,
                                     key_byte(key, block), decrypt_);
    set_bits(*rbsp_, mb.rem_mode_at[block], 3, static_cast<std::uint32_t>(rem));
    encrypted_bits_ += 3;
  }
}

void BlockCipher::other_modes(const MacroblockSyntax& mb, const AesBlock& key) {
  if (mb.kind == IntraKind::luma16x16) {
    const int type =
        encrypt_mb_type(mb.mb_type, mb.left, mb.above, mb.above_left, key_byte(key, 0), decrypt_);
    const int length = core::ue_length(static_cast<std::uint32_t>(type));
    set_bits(*rbsp_, mb.mb_type_end - static_cast<std::uint64_t>(length), length,
             static_cast<std::uint32_t>(type + 1));
    encrypted_bits_ += 2;
  }
  if (mb.chroma_mode_end != 0 && (mb.intra_chroma_pred_mode == 1 || mb.intra_chroma_pred_mode == 2)) {
    const int mode = encrypt_chroma_mode(mb.intra_chroma_pred_mode, mb.left, mb.above, key_byte(key, 1));
    set_bits(*rbsp_, mb.chroma_mode_end - 3, 3, static_cast<std::uint32_t>(mode + 1));
    encrypted_bits_ += 1;
  }
}

// The keystream is as good as chance: bits are flipped without asking.
void BlockCipher::signs(const BlockSyntax& block, std::uint32_t key) {
  std::uint8_t* const bytes = rbsp_->data();
  const std::uint64_t before_end = block.begin - 1;  // of a level, by its end
  const int ones = block.trailing_ones, total = block.total_coeff;
  for (int i = 0; i < ones; ++i) flip_bit(bytes, before_end + block.levels[i].end, key >> i);
  if (ones < total) {
    // Only the first level's code may have no suffix.
    const bool has_bit = block.levels[ones].suffix_size != 0;
    flip_bit(bytes, before_end + block.levels[ones].end, has_bit ? key >> ones : 0);
    if (!has_bit) --encrypted_bits_;
  }
  for (int i = ones + 1; i < total; ++i) flip_bit(bytes, before_end + block.levels[i].end, key >> i);
  encrypted_bits_ += static_cast<std::uint64_t>(total);
}

void BlockCipher::zeros(const BlockSyntax& block, const AesBlock& key) {
  ZerosAndRuns values;
  values.total_coeff = block.total_coeff, values.max_num_coeff = block.max_num_coeff;
  values.total_zeros = block.total_zeros, values.coded_runs = block.coded_runs;
  std::copy_n(block.run_before, block.coded_runs, values.run_before);
  encrypt_zeros(values, key.words[1], key.words[2], key.words[3], decrypt_);

  const core::CodeWord zeros = zeros_code(block, values.total_zeros);
  std::uint64_t bits = zeros.bits;
  int left = values.total_zeros, length = zeros.length;
  for (int i = 0; i < values.coded_runs; ++i) {
    const core::CodeWord run = core::run_before_code(left, values.run_before[i]);
    bits = bits << run.length | run.bits, length += run.length;
    left -= values.run_before[i];
  }
  if (length != block.length - block.zeros_at) return;  // cannot be
  set_bits(*rbsp_, block.begin + block.zeros_at, length, bits);
  encrypted_bits_ += static_cast<std::uint64_t>(length);
}

}  // namespace cu264::protect
