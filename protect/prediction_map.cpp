#include "protect/prediction_map.h"

#include <algorithm>

#include "core/block.h"

namespace cu264::protect {
namespace {

// Modes of Intra_4x4 and Intra_8x8 (tables 8-2, 8-3) that read samples at the left, above, at the corner and
// above right, each as a set of bits.
constexpr unsigned kLeftModes = 0b101110110, kAboveModes = 0b011111101;
constexpr unsigned kCornerModes = 0b001110000, kAboveRightModes = 0b010001000;

bool in(unsigned set, int mode) {
  return (set >> mode & 1) != 0;
}

}  // namespace

void PredictionMap::begin_slice(int mb_width, int macroblocks, int first_mb) {
  mb_width_ = mb_width, first_mb_ = first_mb;
  entries_.resize(static_cast<std::size_t>(macroblocks));
}

void PredictionMap::add(const MacroblockSyntax& mb) {
  Entry& entry = entries_[static_cast<std::size_t>(mb.address)];
  entry = {};
  entry.kind = mb.kind;
  std::fill(std::begin(entry.mode), std::end(entry.mode), static_cast<std::int8_t>(core::kIntra4x4Dc));
  switch (mb.kind) {
    case IntraKind::luma4x4:
      return add_small(mb);
    case IntraKind::luma8x8:
      return add_large(mb);
    case IntraKind::luma16x16:
      return add_whole(mb);
    case IntraKind::pcm:
      return;
  }
}

// Returns the mode that 8.3.1.1 and 8.3.2.1 give; x and y count 4x4 blocks of the picture.
int PredictionMap::mode_of(const MacroblockSyntax& mb, int x, int y, int rem) const {
  const bool left = x % 4 > 0 || mb.left, above = y % 4 > 0 || mb.above;
  int predicted = core::kIntra4x4Dc;
  if (left && above) {
    const auto at = [this](int bx, int by) {
      const Entry& entry = entries_[static_cast<std::size_t>(by / 4) * static_cast<std::size_t>(mb_width_) +
                                    static_cast<std::size_t>(bx / 4)];
      return static_cast<int>(entry.mode[core::luma_block_index(bx % 4, by % 4)]);
    };
    predicted = std::min(at(x - 1, y), at(x, y - 1));
  }
  return rem < 0 ? predicted : rem < predicted ? rem : rem + 1;
}

void PredictionMap::use(int x, int y) {
  if (x < 0 || y < 0 || x >= 4 * mb_width_) return;
  const int address = (y / 4) * mb_width_ + x / 4;
  if (address < first_mb_) return;
  entries_[static_cast<std::size_t>(address)].used |=
      static_cast<std::uint16_t>(1 << core::luma_block_index(x % 4, y % 4));
}

void PredictionMap::add_small(const MacroblockSyntax& mb) {
  Entry& entry = entries_[static_cast<std::size_t>(mb.address)];
  for (int block = 0; block < 16; ++block) {
    const int bx = core::luma_block_x(block), by = core::luma_block_y(block);
    const int x = 4 * mb.x + bx, y = 4 * mb.y + by;
    const int mode = mode_of(mb, x, y, mb.rem_mode[block]);
    entry.mode[block] = static_cast<std::int8_t>(mode);
    if (in(kLeftModes, mode)) use(x - 1, y);
    if (in(kAboveModes, mode)) use(x, y - 1);
    if (in(kCornerModes, mode)) use(x - 1, y - 1);
    // Inside the macroblock, the block above right may come later, and its samples are not read then.
    const bool above_right = by == 0 || (bx < 3 && core::luma_block_index(bx + 1, by - 1) < block);
    if (in(kAboveRightModes, mode) && above_right) use(x + 1, y - 1);
  }
}

// The reference samples are filtered (8.3.2.2.1), so whatever reads one side also reads the neighbours of its
// ends.
void PredictionMap::add_large(const MacroblockSyntax& mb) {
  Entry& entry = entries_[static_cast<std::size_t>(mb.address)];
  for (int block = 0; block < 4; ++block) {
    const int x = 4 * mb.x + 2 * (block & 1), y = 4 * mb.y + (block & 2);
    const int mode = mode_of(mb, x, y, mb.rem_mode[block]);
    std::fill_n(entry.mode + 4 * block, 4, static_cast<std::int8_t>(mode));
    use(x - 1, y - 1);
    if (in(kLeftModes, mode)) use(x - 1, y), use(x - 1, y + 1);
    if (!in(kAboveModes, mode)) continue;
    use(x, y - 1), use(x + 1, y - 1);
    if (block != 3) use(x + 2, y - 1), use(x + 3, y - 1);
  }
}

void PredictionMap::add_whole(const MacroblockSyntax& mb) {
  const int mode = (mb.mb_type - 1) & 3, x = 4 * mb.x, y = 4 * mb.y;
  for (int i = 0; i < 4; ++i) {
    if (mode != core::kIntra16x16Horizontal) use(x + i, y - 1);
    if (mode != core::kIntra16x16Vertical) use(x - 1, y + i);
  }
  if (mode == core::kIntra16x16Plane) use(x - 1, y - 1);
}

bool PredictionMap::is_free(int address, int luma4x4BlkIdx) const {
  const Entry& entry = entries_[static_cast<std::size_t>(address)];
  if (entry.kind == IntraKind::luma8x8) return (entry.used >> (luma4x4BlkIdx & 12) & 15) == 0;
  return (entry.used >> luma4x4BlkIdx & 1) == 0;
}

}  // namespace cu264::protect
