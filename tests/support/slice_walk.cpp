#include "tests/support/slice_walk.h"

#include <algorithm>
#include <cstdlib>

#include "core/bits.h"
#include "core/cavlc_parse.h"

namespace cu264::test {
namespace {

// The largest level that level_prefix 15 can code in every state (H.264 9.2.2.1, A.2.1), and the limit of
// macroblock bits of A.3.1.
constexpr int kMaxAbsLevel = 2063;
constexpr std::size_t kMaxMacroblockBits = 3200;
constexpr int kMbTypePcm = 25;

void require(bool condition, const std::string& what) {
  if (!condition) throw StreamError(what);
}

// coded_block_pattern of codeNum, Intra_4x4 with chroma (H.264 table 9-4)
int intra_coded_block_pattern(std::uint32_t codeNum) {
  static constexpr int table[48] = {47, 31, 15, 0,  23, 27, 29, 30, 7,  11, 13, 14, 39, 43, 45, 46,
                                    16, 3,  5,  10, 12, 19, 21, 26, 28, 35, 37, 42, 44, 1,  2,  4,
                                    8,  17, 18, 20, 24, 6,  9,  22, 25, 32, 33, 34, 36, 40, 38, 41};
  require(codeNum < 48, "coded_block_pattern is out of range");
  return table[codeNum];
}

// The mean of the available neighbours (H.264 9.2.1); a neighbour that is not available is -1.
int mean_nC(int nA, int nB) {
  if (nA >= 0 && nB >= 0) return (nA + nB + 1) >> 1;
  return nA >= 0 ? nA : nB >= 0 ? nB : 0;
}

std::string described(int address, const WalkedMacroblock& mb) {
  return "macroblock " + std::to_string(address) + " (mb_type " + std::to_string(mb.mb_type) + "): ";
}

}  // namespace

SliceWalk::SliceWalk(int mb_width, int mb_height)
    : mb_width_(mb_width), mb_height_(mb_height), seen_(static_cast<std::size_t>(mb_width) * mb_height) {}

int SliceWalk::walk(BitCursor& bits, int first_mb, int slice, int slice_qp, bool transform_8x8_mode,
                    WalkedPicture& picture, const MacroblockVisitor& visit) {
  if (first_mb == 0) std::fill(seen_.begin(), seen_.end(), Neighbour{});
  qp_ = slice_qp, transform_8x8_mode_ = transform_8x8_mode;
  int address = first_mb;
  for (; bits.more_data(); ++address) {
    require(address < mb_width_ * mb_height_, "more macroblocks than the picture has");
    require(seen_[address].slice < 0, "macroblock " + std::to_string(address) + " is coded twice");
    WalkedMacroblock mb;
    mb.address = address, mb.slice = slice;
    seen_[address].slice = slice;
    try {
      macroblock(bits, mb);
      require(mb.header_bits + mb.residual_bits <= kMaxMacroblockBits, "more than 3200 bits");
    } catch (const StreamError& error) {
      throw StreamError(described(address, mb) + error.what());
    }
    picture.add(mb);
    if (visit) visit(mb);
  }
  bits.expect_end();
  require(address > first_mb, "a slice without macroblocks");
  return address;
}

// H.264 7.3.5
void SliceWalk::macroblock(BitCursor& bits, WalkedMacroblock& mb) {
  Neighbour& self = seen_[mb.address];
  const std::size_t begin = bits.position();
  const std::uint32_t mb_type = bits.ue();
  require(mb_type <= kMbTypePcm, "mb_type is out of range");
  mb.mb_type = static_cast<int>(mb_type);
  self.modes.fill(core::kIntra4x4Dc);
  if (mb_type == kMbTypePcm) {
    mb.kind = core::MacroblockKind::pcm;
    mb.header_bits = bits.position() - begin;
    pcm(bits, mb);
    return;
  }
  if (mb_type == 0) {
    const bool large = transform_8x8_mode_ && bits.flag();  // transform_size_8x8_flag
    mb.kind = large ? core::MacroblockKind::intra8x8 : core::MacroblockKind::intra4x4;
    modes(bits, mb);
  } else {  // H.264 table 7-11
    mb.kind = core::MacroblockKind::intra16x16;
    const int index = mb.mb_type - 1;
    mb.intra16x16_pred_mode = index % 4;
    mb.coded_block_pattern = index / 4 % 3 << 4 | (index >= 12 ? 15 : 0);
    mb.intra4x4_pred_mode.fill(core::kIntra4x4Dc);
  }
  const std::uint32_t intra_chroma_pred_mode = bits.ue();
  require(intra_chroma_pred_mode < core::kIntraChromaModes, "intra_chroma_pred_mode is out of range");
  mb.intra_chroma_pred_mode = static_cast<int>(intra_chroma_pred_mode);
  if (mb.mb_type == 0) mb.coded_block_pattern = intra_coded_block_pattern(bits.ue());
  if (mb.coded_block_pattern > 0 || mb.kind == core::MacroblockKind::intra16x16) {
    mb.mb_qp_delta = bits.se();
    require(mb.mb_qp_delta >= -26 && mb.mb_qp_delta <= 25, "mb_qp_delta is out of range");
    qp_ = (qp_ + mb.mb_qp_delta + 52) % 52;
  }
  mb.qp = qp_;
  mb.header_bits = bits.position() - begin;
  residual(bits, mb);
  mb.residual_bits = bits.position() - begin - mb.header_bits;
}

// H.264 7.3.5.1, 8.3.1.1, 8.3.2.1. An 8x8 block asks the 4x4 blocks beside its first row and column.
void SliceWalk::modes(BitCursor& bits, WalkedMacroblock& mb) {
  Neighbour& self = seen_[mb.address];
  const Neighbour* const left = neighbour(mb, 1, 0);
  const Neighbour* const above = neighbour(mb, 0, 1);
  // The mode of a block by raster position, or -1 if its macroblock is not available. Kinds other than
  // Intra_4x4 hold DC.
  const auto mode_left = [&](int x, int y) {
    return x > 0 ? self.modes[4 * y + x - 1] : left ? left->modes[4 * y + 3] : -1;
  };
  const auto mode_above = [&](int x, int y) {
    return y > 0 ? self.modes[4 * y + x - 4] : above ? above->modes[12 + x] : -1;
  };
  const int side = mb.kind == core::MacroblockKind::intra8x8 ? 2 : 1;  // in 4x4 blocks
  for (int blkIdx = 0; blkIdx < 16; blkIdx += side * side) {
    const int x = (blkIdx & 1) + (blkIdx & 4) / 2;
    const int y = (blkIdx & 2) / 2 + (blkIdx & 8) / 4;
    const int a = mode_left(x, y), b = mode_above(x, y);
    const int predicted = a < 0 || b < 0 ? static_cast<int>(core::kIntra4x4Dc) : std::min(a, b);
    int mode = predicted;
    if (!bits.flag()) {
      const int rem_intra4x4_pred_mode = static_cast<int>(bits.u(3));
      mode = rem_intra4x4_pred_mode + (rem_intra4x4_pred_mode >= predicted ? 1 : 0);
    }
    for (int i = 0; i < side * side; ++i) {
      mb.intra4x4_pred_mode[blkIdx + i] = mode;
      self.modes[4 * (y + i / 2) + x + i % 2] = static_cast<std::uint8_t>(mode);
    }
  }
}

void SliceWalk::pcm(BitCursor& bits, WalkedMacroblock& mb) {
  Neighbour& self = seen_[mb.address];
  const std::size_t begin = bits.position();
  while (bits.position() % 8 != 0) require(!bits.flag(), "pcm_alignment_zero_bit is 1");
  bits.seek(bits.position() + 8 * core::MacroblockLayout::kSamples);
  mb.residual_bits = bits.position() - begin;
  mb.qp = 0;  // for the loop filter (H.264 8.7.2.2); qp_ stays as it is
  self.luma.fill(16);
  for (auto& chroma : self.chroma) chroma.fill(16);
}

// H.264 7.3.5.3
void SliceWalk::residual(BitCursor& bits, WalkedMacroblock& mb) {
  Neighbour& self = seen_[mb.address];
  const bool intra16x16 = mb.kind == core::MacroblockKind::intra16x16;
  if (intra16x16) block(bits, mb, core::kSlotLumaDc, 16, luma_nC(mb, 0, 0));
  for (int blkIdx = 0; blkIdx < 16; ++blkIdx) {
    if (!(mb.coded_block_pattern >> blkIdx / 4 & 1)) continue;
    const int x = (blkIdx & 1) + (blkIdx & 4) / 2;
    const int y = (blkIdx & 2) / 2 + (blkIdx & 8) / 4;
    const int slot = core::kSlotLuma + blkIdx;
    block(bits, mb, slot, intra16x16 ? 15 : 16, luma_nC(mb, x, y));
    self.luma[4 * y + x] = static_cast<std::uint8_t>(mb.total_coeff[slot]);
  }
  const int chroma = mb.coded_block_pattern >> 4;
  for (int c = 0; c < 2 && chroma > 0; ++c) block(bits, mb, core::kSlotChromaDc + c, 4, -1);
  for (int c = 0; c < 2 && chroma == 2; ++c) {
    for (int blkIdx = 0; blkIdx < 4; ++blkIdx) {
      const int slot = core::kSlotChromaAc + 4 * c + blkIdx;
      block(bits, mb, slot, 15, chroma_nC(mb, c, blkIdx % 2, blkIdx / 2));
      self.chroma[c][blkIdx] = static_cast<std::uint8_t>(mb.total_coeff[slot]);
    }
  }
}

int SliceWalk::luma_nC(const WalkedMacroblock& mb, int x, int y) const {
  const Neighbour& self = seen_[mb.address];
  const Neighbour* const left = neighbour(mb, 1, 0);
  const Neighbour* const above = neighbour(mb, 0, 1);
  const int nA = x > 0 ? self.luma[4 * y + x - 1] : left ? left->luma[4 * y + 3] : -1;
  const int nB = y > 0 ? self.luma[4 * y + x - 4] : above ? above->luma[12 + x] : -1;
  return mean_nC(nA, nB);
}

int SliceWalk::chroma_nC(const WalkedMacroblock& mb, int component, int x, int y) const {
  const Neighbour& self = seen_[mb.address];
  const Neighbour* const left = neighbour(mb, 1, 0);
  const Neighbour* const above = neighbour(mb, 0, 1);
  const int nA = x > 0 ? self.chroma[component][2 * y] : left ? left->chroma[component][2 * y + 1] : -1;
  const int nB = y > 0 ? self.chroma[component][x] : above ? above->chroma[component][2 + x] : -1;
  return mean_nC(nA, nB);
}

const SliceWalk::Neighbour* SliceWalk::neighbour(const WalkedMacroblock& mb, int dx, int dy) const {
  const int x = mb.address % mb_width_ - dx, y = mb.address / mb_width_ - dy;
  if (x < 0 || y < 0) return nullptr;
  const Neighbour& other = seen_[static_cast<std::size_t>(y) * mb_width_ + x];
  return other.slice == mb.slice ? &other : nullptr;
}

void SliceWalk::block(BitCursor& bits, WalkedMacroblock& mb, int slot, int max_num_coeff, int nC) {
  const std::size_t byte = bits.position() / 8;
  core::BitReader reader(bits.rbsp().data() + byte, bits.rbsp().size() - byte);
  reader.skip(static_cast<int>(bits.position() % 8));
  const int total_coeff = core::cavlc_parse_block(reader, mb.levels[slot], max_num_coeff, nC);
  require(total_coeff >= 0, "slot " + std::to_string(slot) + " (nC " + std::to_string(nC) + ") is not CAVLC");
  bits.seek(byte * 8 + reader.bit_position());
  mb.total_coeff[slot] = total_coeff;
  for (const int level : mb.levels[slot]) {
    require(std::abs(level) <= kMaxAbsLevel,
            "slot " + std::to_string(slot) + " has level " + std::to_string(level));
  }
}

}  // namespace cu264::test
