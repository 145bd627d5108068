#include "protect/block_cipher.h"

#include "common/bitstream/rbsp.h"
#include "core/block.h"
#include "core/cavlc_runs.h"
#include "core/cavlc_tables.h"
#include "protect/cipher.h"
#include "protect/place_cipher.h"

namespace cu264::protect {
namespace {

core::CodeWord zeros_code(const BlockSyntax& block, int total_zeros) {
  return block.max_num_coeff == 4 ? core::chroma_dc_total_zeros_code(block.total_coeff, total_zeros)
                                  : core::total_zeros_code(block.total_coeff, total_zeros);
}

// Returns where the levels are, with bit k for coding position k.
std::uint32_t nonzero_of(const BlockSyntax& block) {
  int place = block.total_coeff + block.total_zeros - 1;
  std::uint32_t nonzero = 1u << place;
  for (int i = 0; i + 1 < block.total_coeff; ++i) {
    place -= 1 + (i < block.coded_runs ? block.run_before[i] : 0);
    nonzero |= 1u << place;
  }
  return nonzero;
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
  int count = 0;
  const auto counter = [&](std::uint32_t block) {
    keystream_[count++] = keystream_counter(keys_.nonce(), picture_, static_cast<std::uint32_t>(mb.address),
                                            KeystreamUse::encryption, block);
  };
  if (parts_.signs || parts_.codewords) {
    layout_ = {};
    for (int i = 0; i < mb.block_count; ++i) layout_.add(mb.blocks[i].slot, mb.blocks[i].total_coeff);
    for (int i = 0; i < layout_.aes_blocks(); ++i) counter(static_cast<std::uint32_t>(i));
  }
  mode_key_ = keystream_ + count;
  if (parts_.modes) counter(kKeystreamModes);
  if (count != 0) keys_.keystream({keystream_, static_cast<std::size_t>(count)});
}

BlockKey BlockCipher::key_of(const BlockSyntax& block) const {
  const auto word = [this](int i) { return keystream_[i / 4].words[i % 4]; };
  return block_key(word, layout_.units_before(block.slot), block.total_coeff);
}

void BlockCipher::macroblock(const MacroblockSyntax& mb) {
  if (mb.kind == IntraKind::pcm) return;
  make_keystream(mb);
  if (parts_.signs || parts_.codewords) {
    for (int i = 0; i < mb.block_count; ++i) {
      const BlockSyntax& block = mb.blocks[i];
      if (block.total_coeff == 0) continue;
      const BlockKey key = key_of(block);
      if (parts_.signs) signs(block, key.signs);
      if (parts_.codewords && block.total_coeff < block.max_num_coeff) places(block, key.places);
    }
  }
  if (!parts_.modes) return;
  if (mb.modes != 0) luma_modes(mb);
  other_modes(mb);
}

void BlockCipher::luma_modes(const MacroblockSyntax& mb) {
  const bool large = mb.kind == IntraKind::luma8x8;
  for (int block = 0; block < mb.modes; ++block) {
    if (mb.rem_mode[block] < 0 || mode_is_kept(mb.address, first_mb_, mb_width_, large, block)) continue;
    const int x = large ? block & 1 : core::luma_block_x(block),
              y = large ? block >> 1 : core::luma_block_y(block);
    const int rem = encrypt_rem_mode(mb.rem_mode[block], x > 0 || mb.left, y > 0 || mb.above,
                                     mode_key(*mode_key_, block), decrypt_);
    bitstream::set_bits(*rbsp_, mb.rem_mode_at[block], 3, static_cast<std::uint32_t>(rem));
    encrypted_bits_ += 3;
  }
}

void BlockCipher::other_modes(const MacroblockSyntax& mb) {
  if (mb.kind == IntraKind::luma16x16) {
    const int type =
        encrypt_mb_type(mb.mb_type, mb.left, mb.above, mb.above_left, mode_key(*mode_key_, 0), decrypt_);
    const int length = core::ue_length(static_cast<std::uint32_t>(type));
    bitstream::set_bits(*rbsp_, mb.mb_type_end - static_cast<std::uint64_t>(length), length,
                        static_cast<std::uint32_t>(type + 1));
    encrypted_bits_ += 2;
  }
  if (mb.chroma_mode_end != 0 && (mb.intra_chroma_pred_mode == 1 || mb.intra_chroma_pred_mode == 2)) {
    const int mode =
        encrypt_chroma_mode(mb.intra_chroma_pred_mode, mb.left, mb.above, chroma_mode_key(*mode_key_));
    bitstream::set_bits(*rbsp_, mb.chroma_mode_end - 3, 3, static_cast<std::uint32_t>(mode + 1));
    encrypted_bits_ += 1;
  }
}

// The keystream is as good as random, so bits are flipped without looking at them.
void BlockCipher::signs(const BlockSyntax& block, std::uint32_t key) {
  std::uint8_t* const bytes = rbsp_->data();
  // Adding a level's end gives the position of its last bit.
  const std::uint64_t before_end = block.begin - 1;
  const int ones = block.trailing_ones, total = block.total_coeff;
  for (int i = 0; i < ones; ++i) bitstream::flip_bit(bytes, before_end + block.levels[i].end, key >> i);
  if (ones < total) {
    // Only the code of the first level after the trailing ones may have no suffix.
    const bool has_bit = block.levels[ones].suffix_size != 0;
    bitstream::flip_bit(bytes, before_end + block.levels[ones].end, has_bit ? key >> ones : 0);
    if (!has_bit) --encrypted_bits_;
  }
  for (int i = ones + 1; i < total; ++i)
    bitstream::flip_bit(bytes, before_end + block.levels[i].end, key >> i);
  encrypted_bits_ += static_cast<std::uint64_t>(total);
}

void BlockCipher::places(const BlockSyntax& block, std::uint64_t key) {
  const std::uint32_t nonzero = encrypt_places(nonzero_of(block), block.max_num_coeff, key, decrypt_);
  const core::CodeWord zeros = zeros_code(block, core::highest_bit(nonzero) + 1 - block.total_coeff);
  const core::Runs runs = core::run_before_codes(nonzero);
  const int length = zeros.length + runs.length;
  if (length != block.length - block.zeros_at) return;  // this cannot happen
  bitstream::set_bits(*rbsp_, block.begin + block.zeros_at, length,
                      static_cast<std::uint64_t>(zeros.bits) << runs.length | runs.bits);
  encrypted_bits_ += static_cast<std::uint64_t>(length);
}

}  // namespace cu264::protect
