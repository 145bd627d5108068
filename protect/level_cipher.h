// Selective encryption of a macroblock before it is coded: the values that code to the same bits as
// encrypting the code words does (protect/block_cipher.h). For encoders on the host and the device; `key`
// comes from keystream_block with kKeystreamEncryption and the block's slot, or kKeystreamLumaModes,
// kKeystreamOtherModes.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/hd.h"
#include "core/mb_syntax.h"
#include "protect/aes.h"
#include "protect/cipher.h"

namespace cu264::protect {

// A block's levels as the bitstream has them, the highest frequency first.
struct CodedLevels {
  std::int16_t level[16];
  ZerosAndRuns zeros;
};

CU264_HD CodedLevels coded_levels(const std::int16_t* levels, const core::CavlcSymbols& symbols,
                                  int max_num_coeff) {
  CodedLevels coded;
  int position = core::highest_bit(symbols.nonzero), left = position + 1 - symbols.total_coeff, count = 0;
  coded.zeros.total_coeff = symbols.total_coeff, coded.zeros.max_num_coeff = max_num_coeff;
  coded.zeros.total_zeros = left;
  coded.level[count++] = levels[position];
  for (std::uint32_t rest = symbols.nonzero ^ (1u << position); rest != 0; ++count) {
    const int next = core::highest_bit(rest);
    rest ^= 1u << next;
    if (left > 0) {
      coded.zeros.run_before[coded.zeros.coded_runs++] = static_cast<std::uint8_t>(position - next - 1);
      left -= position - next - 1;
    }
    coded.level[count] = levels[next];
    position = next;
  }
  return coded;
}

// Another sign is another last bit of the level's suffix.
CU264_HD void encrypt_signs(CodedLevels& coded, const core::CavlcSymbols& symbols, std::uint32_t key) {
  int suffix_length = core::first_suffix_length(symbols);
  bool cannot_be_one = symbols.trailing_ones < 3;
  for (int i = 0; i < symbols.total_coeff; ++i) {
    const int level = coded.level[i];
    bool has_bit = true;
    if (i >= symbols.trailing_ones) {
      has_bit = level_sign_has_bit(core::level_code(level, cannot_be_one), suffix_length);
      suffix_length = core::next_suffix_length(suffix_length, level < 0 ? -level : level);
      cannot_be_one = false;
    }
    if (has_bit && (key >> i & 1) != 0) coded.level[i] = static_cast<std::int16_t>(-level);
  }
}

// A block's levels in zigzag order.
CU264_HD void encrypt_levels(std::int16_t* levels, int max_num_coeff, const AesBlock& key, bool signs,
                             bool codewords) {
  const core::CavlcSymbols symbols = core::cavlc_symbols(levels, max_num_coeff);
  if (symbols.total_coeff == 0) return;
  CodedLevels coded = coded_levels(levels, symbols, max_num_coeff);
  if (signs) encrypt_signs(coded, symbols, key.words[0]);
  if (codewords) encrypt_zeros(coded.zeros, key.words[1], key.words[2], key.words[3], false);
  for (int k = 0; k < max_num_coeff; ++k) levels[k] = 0;
  int position = symbols.total_coeff + coded.zeros.total_zeros - 1;
  for (int i = 0; i < symbols.total_coeff; ++i) {
    levels[position] = coded.level[i];
    position -= 1 + (i < coded.zeros.coded_runs ? coded.zeros.run_before[i] : 0);
  }
}

CU264_HD std::uint32_t mode_key(const AesBlock& key, int index) {
  return key.words[index / 4] >> (8 * (index % 4)) & 255;
}

// Prediction modes. What is coded of an Intra_4x4 mode depends on those of its neighbours, which are
// encrypted as well: first all macroblocks' modes become what is coded of them, from the last to the first;
// then modes again, from the first to the last.
inline constexpr std::uint8_t kPredictedMode = 255;

CU264_HD void encrypt_mode_codes(core::MacroblockRecord& mb, const core::MacroblockRecord* left,
                                 const core::MacroblockRecord* above, const AesBlock& key) {
  if (mb.kind != core::MacroblockKind::intra4x4) return;
  for (int block = 15; block >= 0; --block) {
    const int predicted = core::predicted_intra4x4_mode(mb, left, above, block);
    const int mode = mb.intra4x4_pred_mode[block];
    if (mode == predicted) {
      mb.intra4x4_pred_mode[block] = kPredictedMode;
      continue;
    }
    const int rem = encrypt_rem_mode(mode < predicted ? mode : mode - 1, (block & 5) != 0 || left != nullptr,
                                     (block & 10) != 0 || above != nullptr, mode_key(key, block), false);
    mb.intra4x4_pred_mode[block] = static_cast<std::uint8_t>(rem);
  }
}

CU264_HD void decode_mode_codes(core::MacroblockRecord& mb, const core::MacroblockRecord* left,
                                const core::MacroblockRecord* above) {
  if (mb.kind != core::MacroblockKind::intra4x4) return;
  for (int block = 0; block < 16; ++block) {
    const int predicted = core::predicted_intra4x4_mode(mb, left, above, block);
    const int code = mb.intra4x4_pred_mode[block];
    const int mode = code == kPredictedMode ? predicted : code < predicted ? code : code + 1;
    mb.intra4x4_pred_mode[block] = static_cast<std::uint8_t>(mode);
  }
}

// Of Intra_16x16 and of chroma.
CU264_HD void encrypt_other_modes(core::MacroblockRecord& mb, bool left, bool above, const AesBlock& key) {
  if (mb.kind == core::MacroblockKind::pcm) return;
  if (mb.kind == core::MacroblockKind::intra16x16) {
    const int type = encrypt_mb_type(core::mb_type(mb), left, above, left && above, mode_key(key, 0), false);
    mb.intra16x16_pred_mode = static_cast<std::uint8_t>((type - 1) & 3);
  }
  mb.intra_chroma_pred_mode = static_cast<std::uint8_t>(
      encrypt_chroma_mode(mb.intra_chroma_pred_mode, left, above, mode_key(key, 1)));
}

}  // namespace cu264::protect
