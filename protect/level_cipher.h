// Selective encryption of a macroblock before it is coded. The changed values code to the same bits that
// encrypting the code words gives (protect/block_cipher.h). Encoders use it on the host and the device.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/hd.h"
#include "core/mb_syntax.h"
#include "protect/cipher.h"
#include "protect/key_layout.h"
#include "protect/place_cipher.h"

namespace cu264::protect {

// Bit i says whether level number i, counted from the highest frequency down, changes its sign. Another sign
// is another last bit of the level's suffix; only the first level after the trailing ones may have no suffix.
template <class Levels>
CU264_HD std::uint32_t sign_flips(const Levels& levels, const core::CavlcSymbols& symbols,
                                  std::uint32_t key) {
  std::uint32_t can = (1u << symbols.total_coeff) - 1;
  if (symbols.levels != 0) {
    const int first = levels[core::highest_bit(symbols.levels)];
    const int code = core::level_code(first, symbols.trailing_ones < 3);
    if (!level_sign_has_bit(code, core::first_suffix_length(symbols))) can ^= 1u << symbols.trailing_ones;
  }
  return can & key;
}

// The changes that encryption makes to a block.
struct BlockChange {
  std::uint32_t flips;   // sign_flips
  std::uint32_t places;  // the new places of the levels, bit k for position k

  CU264_HD_MEMBER bool any(std::uint32_t nonzero) const { return flips != 0 || places != nonzero; }
};

// `levels` are in zigzag order. The block must not be empty.
template <class Levels>
CU264_HD BlockChange block_change(const Levels& levels, const core::CavlcSymbols& symbols, int max_num_coeff,
                                  const BlockKey& key, bool signs, bool codewords) {
  const std::uint32_t nonzero = symbols.nonzero;
  return {signs ? sign_flips(levels, symbols, key.signs) : 0,
          codewords ? encrypt_places(nonzero, max_num_coeff, key.places, false) : nonzero};
}

// Passes the changed levels to put(place, level).
template <class Levels, class Put>
CU264_HD void change_levels(const Levels& levels, std::uint32_t nonzero, BlockChange change, const Put& put) {
  for (std::uint32_t from = nonzero; from != 0; change.flips >>= 1) {
    const int place = core::highest_bit(from), new_place = core::highest_bit(change.places);
    const int level = levels[place];
    from ^= 1u << place, change.places ^= 1u << new_place;
    put(new_place, (change.flips & 1) != 0 ? -level : level);
  }
}

// Encrypts a macroblock's levels in place. keystream(key, count) gives its AES blocks 0 to count - 1.
template <class Keystream>
CU264_HD void encrypt_levels(const core::MacroblockRecord& mb, const std::uint8_t* total_coeff,
                             std::int16_t* levels, bool signs, bool codewords, const Keystream& keystream) {
  const std::uint32_t nonzero = core::coded_slots(mb) & mb.nonzero_blocks;
  KeyLayout layout;
  for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
    if ((nonzero >> slot & 1) != 0) layout.add(slot, total_coeff[slot]);
  }
  AesBlock key[kMaxKeyBlocks];
  keystream(key, layout.aes_blocks());
  const auto word = [&key](int i) { return key[i / 4].words[i % 4]; };
  for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
    if ((nonzero >> slot & 1) == 0) continue;
    std::int16_t* const block = levels + slot * core::kLevelsPerBlock;
    const int max_num_coeff = core::slot_max_num_coeff(mb, slot);
    const core::CavlcSymbols symbols = core::cavlc_symbols(block, max_num_coeff);
    const BlockChange change =
        block_change(block, symbols, max_num_coeff,
                     block_key(word, layout.units_before(slot), symbols.total_coeff), signs, codewords);
    if (!change.any(symbols.nonzero)) continue;
    std::int16_t moved[core::kLevelsPerBlock] = {};
    change_levels(block, symbols.nonzero, change,
                  [&](int place, int level) { moved[place] = static_cast<std::int16_t>(level); });
    for (int k = 0; k < core::kLevelsPerBlock; ++k) block[k] = moved[k];
  }
}

// The code of a prediction mode of Intra_4x4 or Intra_8x8 depends on the modes of its neighbours, which are
// encrypted as well. So first the modes of all macroblocks are replaced by their codes, from the last
// macroblock to the first; then the codes become modes again, from the first to the last. A coder that takes
// codes in place of modes (BatchView) needs neither the second step nor the order.
CU264_HD int encrypted_mode_code(const core::MacroblockRecord& mb, const core::MacroblockRecord* left,
                                 const core::MacroblockRecord* above, int block, std::uint32_t key) {
  const int predicted = core::predicted_intra4x4_mode(mb, left, above, block);
  const int mode = mb.intra4x4_pred_mode[block];
  if (mode == predicted) return core::kPredictedMode;
  return encrypt_rem_mode(mode < predicted ? mode : mode - 1, (block & 5) != 0 || left != nullptr,
                          (block & 10) != 0 || above != nullptr, key, false);
}

CU264_HD void encrypt_mode_codes(core::MacroblockRecord& mb, const core::MacroblockRecord* left,
                                 const core::MacroblockRecord* above, const AesBlock& key) {
  if (!core::is_i_nxn(mb.kind)) return;
  const int blocks = core::blocks_of_a_mode(mb.kind);
  for (int block = 16 - blocks; block >= 0; block -= blocks) {  // no block is predicted from a later one
    const int code = encrypted_mode_code(mb, left, above, block, mode_key(key, block / blocks));
    for (int i = 0; i < blocks; ++i) mb.intra4x4_pred_mode[block + i] = static_cast<std::uint8_t>(code);
  }
}

CU264_HD void decode_mode_codes(core::MacroblockRecord& mb, const core::MacroblockRecord* left,
                                const core::MacroblockRecord* above) {
  if (!core::is_i_nxn(mb.kind)) return;
  const int blocks = core::blocks_of_a_mode(mb.kind);
  for (int block = 0; block < 16; block += blocks) {
    const int predicted = core::predicted_intra4x4_mode(mb, left, above, block);
    const int code = mb.intra4x4_pred_mode[block];
    const int mode = code == core::kPredictedMode ? predicted : code < predicted ? code : code + 1;
    for (int i = 0; i < blocks; ++i) mb.intra4x4_pred_mode[block + i] = static_cast<std::uint8_t>(mode);
  }
}

// Encrypts the modes of Intra_16x16 and of chroma.
CU264_HD void encrypt_other_modes(core::MacroblockRecord& mb, bool left, bool above, const AesBlock& key) {
  if (mb.kind == core::MacroblockKind::pcm) return;
  if (mb.kind == core::MacroblockKind::intra16x16) {
    const int type = encrypt_mb_type(core::mb_type(mb), left, above, left && above, mode_key(key, 0), false);
    mb.intra16x16_pred_mode = static_cast<std::uint8_t>((type - 1) & 3);
  }
  mb.intra_chroma_pred_mode = static_cast<std::uint8_t>(
      encrypt_chroma_mode(mb.intra_chroma_pred_mode, left, above, chroma_mode_key(key)));
}

}  // namespace cu264::protect
