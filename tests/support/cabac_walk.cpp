#include "tests/support/cabac_walk.h"

#include <algorithm>
#include <cstdlib>

#include "core/cabac_block.h"

namespace cu264::test {
namespace {

constexpr int kMbTypePcm = 25;

void require(bool condition, const std::string& what) {
  if (!condition) throw StreamError(what);
}

// coeff_abs_level_minus1 after its first bin, which was 1 (9.3.2.3): a unary prefix up to 14, then Exp-Golomb
// of order 0.
int rest_of_level(BinDecoder& bins, int ctxIdx) {
  int value = 1;
  while (value < 14 && bins.decision(ctxIdx) == 1) ++value;
  if (value < 14) return value;
  int k = 0;
  for (; bins.bypass() == 1; ++k) {
    require(k < 16, "coeff_abs_level_minus1 is too long");
    value += 1 << k;
  }
  for (; k > 0; --k) value += bins.bypass() << (k - 1);
  return value;
}

// coeff_abs_level_minus1 + 1 (9.3.3.1.3), after so many levels of 1 and greater ones.
int level_magnitude(BinDecoder& bins, int ctxIdx, int most_greater, int& ones, int& greater) {
  if (bins.decision(ctxIdx + (greater > 0 ? 0 : std::min(4, 1 + ones))) == 0) {
    ++ones;
    return 1;
  }
  return 1 + rest_of_level(bins, ctxIdx + 5 + std::min(most_greater, greater++));
}

}  // namespace

CabacWalk::CabacWalk(int mb_width, int mb_height)
    : mb_width_(mb_width), mb_height_(mb_height), seen_(static_cast<std::size_t>(mb_width) * mb_height) {}

int CabacWalk::walk(BitCursor& bits, int first_mb, int slice, int slice_qp, bool transform_8x8_mode,
                    WalkedPicture& picture, const MacroblockVisitor& visit) {
  if (first_mb == 0) std::fill(seen_.begin(), seen_.end(), Seen{});
  while (bits.position() % 8 != 0) require(bits.flag(), "cabac_alignment_one_bit is 0");
  qp_ = slice_qp, qp_changed_ = false, transform_8x8_mode_ = transform_8x8_mode;
  const std::size_t begin = bits.position();
  BinDecoder bins(bits.rbsp(), begin, slice_qp);
  int address = first_mb;
  for (bool end = false; !end; ++address) {
    require(address < mb_width_ * mb_height_, "more macroblocks than the picture has");
    WalkedMacroblock mb;
    mb.address = address, mb.slice = slice;
    Seen& self = seen_[static_cast<std::size_t>(address)];
    require(self.slice < 0, "macroblock " + std::to_string(address) + " is coded twice");
    self.slice = slice;
    try {
      macroblock(bins, mb);
    } catch (const StreamError& error) {
      throw StreamError("macroblock " + std::to_string(address) + " (mb_type " + std::to_string(mb.mb_type) +
                        "): " + error.what());
    }
    picture.add(mb);
    if (visit) visit(mb);
    end = bins.terminate() == 1;  // end_of_slice_flag
  }
  picture.bins += bins.bins();
  picture.contexts |= bins.contexts();
  bits.seek(bins.position() - 1);  // the last bit is rbsp_stop_one_bit
  picture.slice_data_bits += bits.position() - begin;
  bits.expect_end();
  return address;
}

// H.264 7.3.5
void CabacWalk::macroblock(BinDecoder& bins, WalkedMacroblock& mb) {
  Seen& self = seen_[static_cast<std::size_t>(mb.address)];
  const Seen* const a = neighbour(mb, 1, 0);
  const Seen* const b = neighbour(mb, 0, 1);
  const std::size_t begin = bins.position();
  mb.mb_type = mb_type(bins, a, b);
  self.modes.fill(core::kIntra4x4Dc);
  if (mb.mb_type == kMbTypePcm) {
    mb.kind = core::MacroblockKind::pcm;
    mb.header_bits = bins.position() - begin;
    bins.skip_pcm(core::MacroblockLayout::kSamples);
    bins.restart();
    mb.residual_bits = bins.position() - begin - mb.header_bits;
    self.is_pcm = true;
    qp_changed_ = false;
    return;
  }
  self.is_nxn = mb.mb_type == 0;
  if (self.is_nxn) {
    if (transform_8x8_mode_) {  // 9.3.3.1.1.10
      const auto large = [](const Seen* n) { return n && n->transform_size_8x8_flag; };
      self.transform_size_8x8_flag = bins.decision(399 + large(a) + large(b)) == 1;
    }
    mb.kind = self.transform_size_8x8_flag ? core::MacroblockKind::intra8x8 : core::MacroblockKind::intra4x4;
    modes(bins, mb, a, b);
  } else {  // H.264 table 7-11
    mb.kind = core::MacroblockKind::intra16x16;
    const int index = mb.mb_type - 1;
    mb.intra16x16_pred_mode = index % 4;
    self.chroma_pattern = index / 4 % 3, self.luma_pattern = index >= 12 ? 15 : 0;
    mb.intra4x4_pred_mode.fill(core::kIntra4x4Dc);
  }
  // 9.3.3.1.1.8
  const auto chroma_inc = [](const Seen* n) { return n && !n->is_pcm && n->intra_chroma_pred_mode != 0; };
  int mode = bins.decision(64 + chroma_inc(a) + chroma_inc(b));
  while (mode > 0 && mode < 3 && bins.decision(64 + 3) == 1) ++mode;
  mb.intra_chroma_pred_mode = self.intra_chroma_pred_mode = mode;
  if (self.is_nxn) patterns(bins, self, a, b);
  mb.coded_block_pattern = self.luma_pattern | self.chroma_pattern << 4;
  if (mb.coded_block_pattern > 0 || !self.is_nxn) {
    mb.mb_qp_delta = mb_qp_delta(bins);
    require(mb.mb_qp_delta >= -26 && mb.mb_qp_delta <= 25, "mb_qp_delta is out of range");
    qp_ = (qp_ + mb.mb_qp_delta + 52) % 52;
  }
  qp_changed_ = mb.mb_qp_delta != 0;
  mb.qp = qp_;
  mb.header_bits = bins.position() - begin;
  residual(bins, mb, a, b);
  mb.residual_bits = bins.position() - begin - mb.header_bits;
}

// 9.3.3.1.1.3 and table 9-36
int CabacWalk::mb_type(BinDecoder& bins, const Seen* a, const Seen* b) const {
  if (bins.decision(3 + (a && !a->is_nxn) + (b && !b->is_nxn)) == 0) return 0;
  if (bins.terminate() == 1) return kMbTypePcm;
  int type = 1 + 12 * bins.decision(3 + 3);
  int next = 3 + 6;
  if (bins.decision(3 + 4) == 1) type += 4 + 4 * bins.decision(3 + 5);
  type += 2 * bins.decision(next++);
  return type + bins.decision(next);
}

// H.264 7.3.5.1, 8.3.1.1, 8.3.2.1. An 8x8 block asks the 4x4 blocks beside its first row and column.
void CabacWalk::modes(BinDecoder& bins, WalkedMacroblock& mb, const Seen* a, const Seen* b) {
  Seen& self = seen_[static_cast<std::size_t>(mb.address)];
  const int side = self.transform_size_8x8_flag ? 2 : 1;  // in 4x4 blocks
  for (int blkIdx = 0; blkIdx < 16; blkIdx += side * side) {
    const int x = (blkIdx & 1) + (blkIdx & 4) / 2, y = (blkIdx & 2) / 2 + (blkIdx & 8) / 4;
    const auto at = [](int i, int j) { return static_cast<std::size_t>(4 * j + i); };
    const int left = x > 0 ? self.modes[at(x - 1, y)] : a ? a->modes[at(3, y)] : -1;
    const int above = y > 0 ? self.modes[at(x, y - 1)] : b ? b->modes[at(x, 3)] : -1;
    const int predicted = left < 0 || above < 0 ? int{core::kIntra4x4Dc} : std::min(left, above);
    int mode = predicted;
    if (bins.decision(68) == 0) {
      int rem = bins.decision(69);
      rem += 2 * bins.decision(69);
      rem += 4 * bins.decision(69);
      mode = rem + (rem >= predicted ? 1 : 0);
    }
    for (int i = 0; i < side * side; ++i) {
      mb.intra4x4_pred_mode[static_cast<std::size_t>(blkIdx + i)] = self.modes[at(x + i % 2, y + i / 2)] =
          mode;
    }
  }
}

// coded_block_pattern (9.3.3.1.1.4)
void CabacWalk::patterns(BinDecoder& bins, Seen& self, const Seen* a, const Seen* b) const {
  const auto empty = [](const Seen* n, int quarter) {
    return n && !n->is_pcm && (n->luma_pattern >> quarter & 1) == 0 ? 1 : 0;
  };
  for (int quarter = 0; quarter < 4; ++quarter) {
    const int inc_a = quarter % 2 == 1 ? empty(&self, quarter - 1) : empty(a, quarter + 1);
    const int inc_b = quarter / 2 == 1 ? empty(&self, quarter - 2) : empty(b, quarter + 2);
    self.luma_pattern |= bins.decision(73 + inc_a + 2 * inc_b) << quarter;
  }
  const auto chroma = [](const Seen* n, int least) {
    return n && (n->is_pcm || n->chroma_pattern >= least) ? 1 : 0;
  };
  if (bins.decision(77 + chroma(a, 1) + 2 * chroma(b, 1)) == 1)
    self.chroma_pattern = 1 + bins.decision(77 + 4 + chroma(a, 2) + 2 * chroma(b, 2));
}

// 9.3.2.7, 9.3.3.1.1.5
int CabacWalk::mb_qp_delta(BinDecoder& bins) const {
  if (bins.decision(60 + (qp_changed_ ? 1 : 0)) == 0) return 0;
  int value = 1;
  for (int ctxIdx = 60 + 2; bins.decision(ctxIdx) == 1; ctxIdx = 60 + 3) {
    require(++value <= 52, "mb_qp_delta is too long");
  }
  return value % 2 == 1 ? (value + 1) / 2 : -value / 2;
}

// H.264 7.3.5.3. A coded_block_flag counts as 1 where the macroblock is not available or I_PCM, and as 0
// where the block is not coded (9.3.3.1.1.9).
void CabacWalk::residual(BinDecoder& bins, WalkedMacroblock& mb, const Seen* a, const Seen* b) {
  Seen& self = seen_[static_cast<std::size_t>(mb.address)];
  const auto flag = [](const Seen* n, bool coded) { return !n || n->is_pcm || coded ? 1 : 0; };
  const bool whole = !self.is_nxn;
  if (whole) {
    self.luma_dc = block(bins, mb, core::kSlotLumaDc, 0, flag(a, a && a->luma_dc), flag(b, b && b->luma_dc));
  }
  for (int blkIdx = 0; blkIdx < 16; ++blkIdx) {
    if ((self.luma_pattern >> blkIdx / 4 & 1) == 0) continue;
    const int x = (blkIdx & 1) + (blkIdx & 4) / 2, y = (blkIdx & 2) / 2 + (blkIdx & 8) / 4;
    const auto at = [](int i, int j) { return static_cast<std::size_t>(4 * j + i); };
    if (self.transform_size_8x8_flag) {
      if (blkIdx % 4 == 0) block8x8(bins, mb, core::kSlotLuma + blkIdx);
      self.luma[at(x, y)] = true;
      continue;
    }
    const int flag_a = x > 0 ? int{self.luma[at(x - 1, y)]} : flag(a, a && a->luma[at(3, y)]);
    const int flag_b = y > 0 ? int{self.luma[at(x, y - 1)]} : flag(b, b && b->luma[at(x, 3)]);
    self.luma[at(x, y)] = block(bins, mb, core::kSlotLuma + blkIdx, whole ? 1 : 2, flag_a, flag_b);
  }
  for (int c = 0; c < 2 && self.chroma_pattern > 0; ++c) {
    self.chroma_dc[c] = block(bins, mb, core::kSlotChromaDc + c, 3, flag(a, a && a->chroma_dc[c]),
                              flag(b, b && b->chroma_dc[c]));
  }
  for (int c = 0; c < 2 && self.chroma_pattern == 2; ++c) {
    for (std::size_t blkIdx = 0; blkIdx < 4; ++blkIdx) {
      const bool right = blkIdx % 2 == 1, lower = blkIdx / 2 == 1;
      const int flag_a = right ? int{self.chroma[c][blkIdx - 1]} : flag(a, a && a->chroma[c][blkIdx + 1]);
      const int flag_b = lower ? int{self.chroma[c][blkIdx - 2]} : flag(b, b && b->chroma[c][blkIdx + 2]);
      self.chroma[c][blkIdx] =
          block(bins, mb, core::kSlotChromaAc + 4 * c + static_cast<int>(blkIdx), 4, flag_a, flag_b);
    }
  }
}

// residual_block_cabac (7.3.5.3.3). Returns coded_block_flag.
bool CabacWalk::block(BinDecoder& bins, WalkedMacroblock& mb, int slot, int ctxBlockCat, int flag_a,
                      int flag_b) const {
  static constexpr int kMaxNumCoeff[] = {16, 15, 16, 4, 15};
  static constexpr int kPositionOffset[] = {0, 15, 29, 44, 47}, kLevelOffset[] = {0, 10, 20, 30, 39};
  if (bins.decision(85 + 4 * ctxBlockCat + flag_a + 2 * flag_b) == 0) return false;
  const int last = kMaxNumCoeff[ctxBlockCat] - 1;
  std::vector<int> positions;
  bool more = true;
  for (int i = 0; i < last && more; ++i) {
    const int inc = kPositionOffset[ctxBlockCat] + (ctxBlockCat == 3 ? std::min(i, 2) : i);
    if (bins.decision(105 + inc) == 0) continue;
    positions.push_back(i);
    more = bins.decision(166 + inc) == 0;
  }
  if (more) positions.push_back(last);  // what no flag has ended goes up to the last position
  int ones = 0, greater = 0;
  const int ctxIdx = 227 + kLevelOffset[ctxBlockCat];
  for (auto position = positions.rbegin(); position != positions.rend(); ++position) {
    const int magnitude = level_magnitude(bins, ctxIdx, ctxBlockCat == 3 ? 3 : 4, ones, greater);
    mb.levels[slot][*position] = static_cast<std::int16_t>(bins.bypass() == 1 ? -magnitude : magnitude);
  }
  mb.total_coeff[static_cast<std::size_t>(slot)] = static_cast<int>(positions.size());
  return true;
}

// A block of 64 levels without coded_block_flag, ctxBlockCat 5. Its levels go to the slots of its four
// interleaved blocks, as those of CAVLC do.
void CabacWalk::block8x8(BinDecoder& bins, WalkedMacroblock& mb, int slot) const {
  std::vector<int> positions;
  bool more = true;
  for (int i = 0; i < 63 && more; ++i) {
    if (bins.decision(402 + core::significant_inc_8x8(i)) == 0) continue;
    positions.push_back(i);
    more = bins.decision(417 + core::last_inc_8x8(i)) == 0;
  }
  if (more) positions.push_back(63);
  int ones = 0, greater = 0;
  for (auto position = positions.rbegin(); position != positions.rend(); ++position) {
    const int magnitude = level_magnitude(bins, 426, 4, ones, greater);
    const int to = slot + *position % 4;
    mb.levels[to][*position / 4] = static_cast<std::int16_t>(bins.bypass() == 1 ? -magnitude : magnitude);
    ++mb.total_coeff[static_cast<std::size_t>(to)];
  }
}

const CabacWalk::Seen* CabacWalk::neighbour(const WalkedMacroblock& mb, int dx, int dy) const {
  const int x = mb.address % mb_width_ - dx, y = mb.address / mb_width_ - dy;
  if (x < 0 || y < 0) return nullptr;
  const Seen& other = seen_[static_cast<std::size_t>(y) * mb_width_ + x];
  return other.slice == mb.slice ? &other : nullptr;
}

}  // namespace cu264::test
