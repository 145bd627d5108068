// A picture whose records, levels and counts agree with one another and are otherwise random.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/block.h"
#include "core/coded_picture.h"
#include "core/quant.h"

namespace cu264::test {

using core::CodedPictureView;
using core::MacroblockKind;
using core::MacroblockRecord;

struct MadeUpPicture {
  CodedPictureView view;
  std::vector<MacroblockRecord> macroblocks;
  std::vector<std::int16_t> levels;
  std::vector<std::uint8_t> total_coeff;
  std::vector<std::uint8_t> source[3];
};

inline void fill_block(std::mt19937& random, std::int16_t* levels, int count, unsigned density) {
  for (int k = 0; k < count; ++k) {
    if (random() % 16 >= density) continue;
    const int magnitude =
        random() % 30 == 0 ? core::kMaxLevel : 1 + static_cast<int>(random() % (1 + random() % 9));
    levels[k] = static_cast<std::int16_t>(random() % 2 != 0 ? magnitude : -magnitude);
  }
}

// The slots of each kind of macroblock (7.3.5.3), coded or not.
inline int slot_size(MacroblockKind kind, int slot) {
  if (kind == MacroblockKind::pcm) return 0;
  if (slot == 0) return kind == MacroblockKind::intra16x16 ? 16 : 0;
  if (slot < 17) return kind == MacroblockKind::intra16x16 ? 15 : 16;
  return slot < 19 ? 4 : 15;
}

inline void make_macroblock(std::mt19937& random, MacroblockRecord& mb, std::int16_t* levels,
                            std::uint8_t* counts, unsigned density) {
  mb.kind = static_cast<MacroblockKind>(random() % 9 == 0 ? 2 : random() % 2);
  std::fill(std::begin(mb.intra4x4_pred_mode), std::end(mb.intra4x4_pred_mode),
            std::uint8_t{core::kIntra4x4Dc});
  if (mb.kind == MacroblockKind::pcm) {
    for (int slot = 1; slot < 27; ++slot) counts[slot] = slot < 17 || slot >= 19 ? 16 : 0;
    return;
  }
  mb.intra_chroma_pred_mode = static_cast<std::uint8_t>(random() % 4);
  if (mb.kind == MacroblockKind::intra16x16) {
    mb.intra16x16_pred_mode = static_cast<std::uint8_t>(random() % 4);
  } else {
    for (std::uint8_t& mode : mb.intra4x4_pred_mode) mode = static_cast<std::uint8_t>(random() % 9);
  }
  const bool luma_ac = random() % 3 != 0, chroma_ac = random() % 2 != 0, chroma_dc = random() % 2 != 0;
  int luma = 0, chroma = 0;
  for (int slot = 0; slot < 27; ++slot) {
    const bool wanted = slot == 0 || (slot < 17 ? luma_ac && (slot - 1) / 4 != static_cast<int>(random() % 9)
                                      : slot < 19 ? chroma_dc
                                                  : chroma_ac);
    if (!wanted) continue;
    std::int16_t* const block = levels + 16 * slot;
    fill_block(random, block, slot_size(mb.kind, slot), density);
    counts[slot] = static_cast<std::uint8_t>(16 - std::count(block, block + 16, 0));
    if (counts[slot] == 0) continue;
    if (slot >= 1 && slot < 17) luma |= 1 << (slot - 1) / 4;
    if (slot >= 17) chroma = std::max(chroma, slot < 19 ? 1 : 2);
  }
  if (mb.kind == MacroblockKind::intra16x16 && luma != 0) luma = 15;
  mb.coded_block_pattern = static_cast<std::uint8_t>(luma | chroma << 4);
  if (mb.kind == MacroblockKind::intra16x16 || mb.coded_block_pattern != 0) {
    mb.mb_qp_delta = static_cast<std::int8_t>(static_cast<int>(random() % 52) - 26);
  }
}

inline MadeUpPicture make_picture(std::mt19937& random, int mb_width, int mb_height, int slices) {
  MadeUpPicture p;
  const std::size_t mbs = static_cast<std::size_t>(mb_width) * mb_height;
  p.macroblocks.resize(mbs);
  p.levels.resize(mbs * core::kLevelsPerMacroblock);
  p.total_coeff.resize(mbs * core::kTotalCoeffStride);
  const unsigned density = 1 + random() % 16;
  for (std::size_t i = 0; i < mbs; ++i) {
    make_macroblock(random, p.macroblocks[i], &p.levels[i * core::kLevelsPerMacroblock],
                    &p.total_coeff[i * core::kTotalCoeffStride], density);
  }
  p.view.mb_width = mb_width, p.view.mb_height = mb_height, p.view.slices = slices;
  p.view.macroblocks = p.macroblocks.data();
  p.view.levels = p.levels.data();
  p.view.total_coeff = p.total_coeff.data();
  for (int c = 0; c < 3; ++c) {
    const int size = c == 0 ? 16 : 8;
    p.view.source_pitch[c] = size * mb_width + 5;  // there is padding between rows
    p.source[c].resize(static_cast<std::size_t>(p.view.source_pitch[c]) * size * mb_height);
    for (std::uint8_t& sample : p.source[c]) sample = static_cast<std::uint8_t>(random());
    p.view.source[c] = p.source[c].data();
  }
  return p;
}

}  // namespace cu264::test
